"""One query: what is wanted, and every formula of the objective. No other module writes these formulas down.

    F(S) = θ(k-1) Σ_{i∈S} c_i - (1-θ) Σ_{i≠j∈S} s_ij          |S| = k,   c_i = e_i·q,   s_ij = (e_i·e_j)^p

p is the `sharpness`. With p = 1, the paper's objective, every resemblance costs; with p = 16, say, almost only copies
do: 0.6^16 is 0.0003, 0.98^16 is 0.7. For an even p no s_ij is negative, and the matrix of the s_ij stays positive
semidefinite (it is a Schur power of the cosines). With linear_i = θ(k-1) c_i and coupling = 2(1-θ):

    F(S)                     = Σ linear_i - coupling/2 · Σ_{i≠j} s_ij
    marginal value of row i  = linear_i - coupling · Σ_{j∈S} s_ij
    exchange i in, j out     = marginal_i + coupling · s_ij - floor_j      floor_j = marginal_j + coupling · s_jj

For p = 1 the marginal value is a search: with v = Σ_{j∈S} e_j and w(v) = θ(k-1) q - 2(1-θ) v it is the inner product
e_i·w(v). For an even p it is at most linear_i: relevance alone bounds what a row can be worth.

Relevance may come from a query vector or from outside, from a reranker for example. Both are the same problem: the rows
then carry the outside score as one more coordinate, and the query is the axis of that coordinate. Only the first
`similarity_dim` coordinates enter similarities.

Where the constraints (`breadth.constraints`) leave fewer than k rows, the set has m < k rows, and k in all formulas
is m.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from breadth.arrays import Array, Ids, Matrix, Vector
from breadth.constraints import NO_CONSTRAINTS, Constraints
from breadth.feasible import AnyRows

Number = TypeVar("Number", float, Vector)
Cosines = TypeVar("Cosines", float, Vector, Matrix, Array)


# The four formulas below work on numbers and, element by element, on arrays.


def sharpen(cosines: Cosines, sharpness: int) -> Cosines:
    """w^p, by repeated squaring: products of equal numbers are equal everywhere, unlike what `pow` returns."""
    square = cosines
    while sharpness % 2 == 0:
        square = square * square
        sharpness //= 2
    result = square
    while sharpness > 1:
        sharpness //= 2
        square = square * square
        if sharpness % 2:
            result = result * square
    return result


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
    """One query: what is relevant (`query`), how many rows (`k`), the weight of relevance (`theta`), how sharply a
    resemblance is told from a copy (`sharpness`), and which sets are allowed (`constraints`).

    `query` lives in the space of the oracle's rows (float64).
    """

    query: Vector
    k: int
    theta: float
    similarity_dim: int | None = None
    sharpness: int = 1
    constraints: Constraints = NO_CONSTRAINTS

    @classmethod
    def from_scores(cls, dim: int, k: int, theta: float) -> Problem:
        """The problem over rows (e_i, s_i) of `dim` + 1 coordinates, the last one being the relevance."""
        axis = np.zeros(dim + 1)
        axis[dim] = 1.0
        return cls(axis, k, theta, similarity_dim=dim)

    @property
    def allowed(self) -> AnyRows:
        """The family of sets to choose from where nothing but their size is prescribed."""
        return AnyRows(self.k)

    @property
    def is_plain(self) -> bool:
        """Whether it is the paper's problem: mean cosine, every set of k rows allowed."""
        return self.sharpness == 1 and self.constraints.is_free

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

    @property
    def merges_texts(self) -> bool:
        """Whether rows that another row says are left out before a set is looked for."""
        return self.sharpness > 1 and self.constraints.merges_texts

    def squared_length(self, v: Array) -> float:
        """‖v‖² over the coordinates that enter similarities."""
        part = self.similar(v)
        return float(part @ part)

    def cosines(self, rows: Array, others: Array) -> Vector:
        """e_i·e_j of every row with every other one, in float64."""
        left, right = self.similar(rows), self.similar(others)
        return np.asarray(left.astype(np.float64, copy=False) @ right.astype(np.float64, copy=False).T)

    def similarities(self, rows: Array, others: Array) -> Vector:
        """s_ij of every row with every other one, in float64."""
        return sharpen(self.cosines(rows, others), self.sharpness)

    def own_similarities(self, rows: Array) -> Vector:
        """s_ii of every row."""
        similar = self.similar(rows)
        squared = np.asarray(np.einsum("ij,ij->i", similar, similar), dtype=np.float64)
        return sharpen(squared, self.sharpness)

    def pair_sum(self, rows: Array, ids: Ids | None = None) -> float:
        """Σ_{i≠j} s_ij over the rows of a set; for p = 1 it is ‖v‖² - Σ s_ii.

        `ids` are those of the rows, where the constraints name pairs that cost nothing.
        """
        free = None if ids is None else self.constraints.forgive(ids, ids)
        if self.sharpness == 1 and free is None:
            return self.squared_length(rows.sum(axis=0)) - float(self.own_similarities(rows).sum())
        cosines = self.cosines(rows, rows)
        similarities = sharpen(cosines, self.sharpness)
        if free is not None:
            similarities[free] = 0.0
        if self.sharpness > 1:
            similarities[cosines > self.constraints.compared] = 0.0
        np.fill_diagonal(similarities, 0.0)
        return float(similarities.sum())

    def value(self, rows: Array, ids: Ids | None = None) -> float:
        """F of the set whose rows are given, exact for rows of any length."""
        rows = np.asarray(rows, dtype=np.float64)
        return self.weigh_sums(float(rows.sum(axis=0) @ self.query), self.pair_sum(rows, ids))

    def weigh_sums(self, relevance: Number, pairs: Number) -> Number:
        """F of a set from its Σ c_i and its Σ_{i≠j} s_ij, which do not depend on θ."""
        return self.relevance_weight * relevance - 0.5 * self.coupling * pairs

    def redundancy(self, rows: Array, ids: Ids | None = None) -> float:
        """The mean of s_ij over all pairs of a set. A single row has none: 0, but 1 - ILAD = 1 for p = 1."""
        if len(rows) > 1:
            return self.pair_sum(rows, ids) / (len(rows) * (len(rows) - 1))
        return 1.0 if self.sharpness == 1 else 0.0

    def report(self, value: float) -> float:
        """F on the reported scale θ·relevance - (1-θ)·redundancy."""
        single = self.k == 1 and self.sharpness == 1
        return value / self.scale - (1.0 - self.theta if single else 0.0)

    def objective(self, rows: Array, ids: Ids | None = None) -> float:
        """F of a set on the reported scale."""
        return self.report(self.value(rows, ids))

    def weigh(self, relevance: float, redundancy: float) -> float:
        """The same from the mean relevance and the redundancy of the set."""
        return self.theta * relevance - (1.0 - self.theta) * redundancy

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
