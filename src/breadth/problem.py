"""One query: what is wanted, and every formula of the objective. No other module writes these formulas down.

    F(S) = θ(k-1) Σ_{i∈S} c_i - (1-θ) Σ_{i≠j∈S} s_ij          |S| = k,   c_i = e_i·q,   s_ij = e_i·e_j

With linear_i = θ(k-1) c_i and coupling = 2(1-θ):

    F(S)                     = Σ linear_i - coupling/2 · Σ_{i≠j} s_ij
    marginal value of row i  = linear_i - coupling · Σ_{j∈S} s_ij
    exchange i in, j out     = marginal_i + coupling · s_ij - floor_j      floor_j = marginal_j + coupling · s_jj

The marginal value is a search: with v = Σ_{j∈S} e_j and w(v) = θ(k-1) q - 2(1-θ) v it is the inner product e_i·w(v).

Relevance may come from a query vector or from outside, from a reranker for example. Both are the same problem: the rows
then carry the outside score as one more coordinate, and the query is the axis of that coordinate. Only the first
`similarity_dim` coordinates enter similarities.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from breadth.arrays import Array, Vector
from breadth.feasible import AnyRows

Number = TypeVar("Number", float, Vector)


# The three formulas below work on numbers and, element by element, on arrays. `breadth.kernels.numba` compiles them.


def marginal(linear: Number, similarity: Number, coupling: float) -> Number:
    """The marginal value of a row: `similarity` is the sum of its similarities to the members of the set."""
    return linear - coupling * similarity


def floor(marginal: Number, own: Number, coupling: float) -> Number:
    """What a row that replaces a member must reach: the member's marginal value without the member itself in the set.

    `own` is the member's similarity to itself.
    """
    return marginal + coupling * own


def exchange_gain(marginal: Number, similarity: Number, floor: Number, coupling: float) -> Number:
    """What F gains when a row replaces a member that it has this similarity to."""
    return marginal + coupling * similarity - floor


@dataclass(frozen=True, eq=False)
class Problem:
    """One query: what is relevant (`query`), how many rows (`k`) and the weight of relevance (`theta`).

    `query` lives in the space of the oracle's rows (float64).
    """

    query: Vector
    k: int
    theta: float
    similarity_dim: int | None = None

    @classmethod
    def from_scores(cls, dim: int, k: int, theta: float) -> Problem:
        """The problem over rows (e_i, s_i) of `dim` + 1 coordinates, the last one being the relevance."""
        axis = np.zeros(dim + 1)
        axis[dim] = 1.0
        return cls(axis, k, theta, similarity_dim=dim)

    @property
    def allowed(self) -> AnyRows:
        """The family of sets to choose from."""
        return AnyRows(self.k)

    @property
    def relevance_weight(self) -> float:
        """θ(k-1): what one unit of relevance is worth in F. For k = 1 it is θ, so that F still ranks rows."""
        return self.theta * max(self.k - 1, 1)

    @property
    def coupling(self) -> float:
        """2(1-θ): what one unit of similarity between two members costs in F."""
        return 2.0 * (1.0 - self.theta)

    @property
    def scale(self) -> int:
        """k(k-1): F is divided by it when it is reported (1 for k = 1)."""
        return max(self.k * (self.k - 1), 1)

    @property
    def spread(self) -> float:
        """(1-θ)k: what F can seem to gain at the most when weight is spread over many rows instead of k.

        On the reported scale that is (1-θ)/(k-1). Open gaps are measured in this unit.
        """
        return 0.5 * self.coupling * self.k

    def similar(self, vectors: Array) -> Array:
        """The coordinates that enter similarities."""
        return vectors if self.similarity_dim is None else vectors[..., : self.similarity_dim]

    def linear(self, relevance: Vector) -> Vector:
        """θ(k-1) c_i."""
        return self.relevance_weight * relevance

    def direction(self, v: Array, relevance_share: float = 1.0) -> Vector:
        """w(v) = θ(k-1) q - 2(1-θ) v: the search vector whose inner products are marginal values.

        `relevance_share` scales the first part: ½ is max-sum dispersion, 0 looks at distances alone.
        """
        w = relevance_share * self.relevance_weight * self.query
        inside = self.similar(w)
        inside -= self.coupling * self.similar(v)
        return w

    def replacement_directions(self, members: Vector) -> Vector:
        """For each member j the vector w(v) + 2(1-θ) e_j: its best row outside is the member's best replacement."""
        directions = np.repeat(self.direction(members.sum(axis=0))[None], len(members), axis=0)
        self.similar(directions)[:] += self.coupling * self.similar(members)
        return directions

    def similarity_direction(self, row: Array) -> Vector:
        """The direction whose inner products are similarities to a row."""
        direction = np.zeros(len(self.query))
        self.similar(direction)[:] = self.similar(row)
        return direction

    def squared_length(self, v: Array) -> float:
        """‖v‖² over the coordinates that enter similarities."""
        part = self.similar(v)
        return float(part @ part)

    def own_similarities(self, rows: Array) -> Vector:
        """s_ii of every row."""
        similar = self.similar(rows)
        return np.asarray(np.einsum("ij,ij->i", similar, similar), dtype=np.float64)

    def value(self, rows: Array) -> float:
        """F of the set whose rows are given, exact for rows of any length: Σ_{i≠j} s_ij = ‖v‖² - Σ s_ii."""
        rows = np.asarray(rows, dtype=np.float64)
        v = rows.sum(axis=0)
        pairs = self.squared_length(v) - float(self.own_similarities(rows).sum())
        return self.relevance_weight * float(v @ self.query) - 0.5 * self.coupling * pairs

    def report(self, value: float) -> float:
        """F on the reported scale θ·relevance + (1-θ)(ILAD - 1), with ILAD = 0 for a single row."""
        return value / self.scale - (1.0 - self.theta if self.k == 1 else 0.0)

    def objective(self, rows: Array) -> float:
        """F of a set on the reported scale."""
        return self.report(self.value(rows))

    def lowest_marginal(self, floors: Vector, own: Vector, max_squared_norm: float) -> float:
        """No row with a smaller marginal value can gain by replacing any member.

        s_ij ≤ ‖e_i‖‖e_j‖, and `max_squared_norm` is the largest ‖e‖² there can be.
        """
        return float((floors - self.coupling * np.sqrt(own * max_squared_norm)).min())

    def dual_bound(self, u: Array, best_sum: float, max_squared_norm: float = 1.0) -> float:
        """D(u) ≥ F(S) for every allowed S. It holds for any u, because -‖v‖² ≤ ‖u‖² - 2u·v:

            D(u) = (1-θ)(k·max_squared_norm + ‖u‖²) + best_sum

        `best_sum` is the largest Σ e_i·w(u) of an allowed set, over the whole collection. `max_squared_norm`, the
        largest ‖e‖² there can be, keeps the bound valid for rows that are only nearly of unit length.
        """
        return 0.5 * self.coupling * (self.k * max_squared_norm + self.squared_length(u)) + best_sum
