"""The mathematics of one query: objective, relaxation, gradient, curvature and dual bound.

    F(S) = θ(k-1) Σ_{i∈S} c_i - (1-θ) Σ_{i≠j∈S} e_i·e_j          |S| = k
    f(x) = θ(k-1) c'x + (1-θ) (λ‖x‖² - ‖v‖²)                     v = E'x,  x ∈ [0,1]^n,  1'x = k

Everything here is a pure function of small arrays; nothing knows where the rows come from.

Relevance may come from a query vector or from outside (a reranker). Both are the same problem: the rows then
carry the outside score as one more coordinate and the "query" is that coordinate's axis. Only the first
`similarity_dim` coordinates enter similarities.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.floating[Any]]
Vector = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Problem:
    """One diversity-aware query: what is relevant (`query`), how many (`k`) and the trade-off (`theta`).

    `penalty` is the paper's λ. `query` lives in the space of the oracle's rows (float64).
    """

    query: Vector
    k: int
    theta: float
    penalty: float = 2.0
    similarity_dim: int | None = None

    @classmethod
    def from_scores(cls, dim: int, k: int, theta: float, penalty: float = 2.0) -> Problem:
        """The problem over rows (e_i, s_i) of `dim` + 1 coordinates, the last one being the relevance."""
        axis = np.zeros(dim + 1)
        axis[dim] = 1.0
        return cls(axis, k, theta, penalty, similarity_dim=dim)

    @property
    def relevance_weight(self) -> float:
        """θ(k-1): what one unit of relevance is worth in F. For k = 1 it is θ, so that F still ranks rows."""
        return self.theta * max(self.k - 1, 1)

    @property
    def scale(self) -> int:
        """k(k-1), which F is divided by when it is reported (1 for k = 1)."""
        return max(self.k * (self.k - 1), 1)

    def similar(self, vectors: Array) -> Array:
        """The coordinates that enter similarities."""
        return vectors if self.similarity_dim is None else vectors[..., : self.similarity_dim]

    def direction(self, v: Array) -> Vector:
        """w(v) = θ(k-1) q - 2(1-θ) v: the search vector whose inner products are the gradient without λ."""
        w = self.relevance_weight * self.query
        inside = self.similar(w)
        inside -= 2.0 * (1.0 - self.theta) * self.similar(v)
        return w

    def likeness(self, row: Array) -> Vector:
        """The direction whose inner products are similarities to a row."""
        direction = np.zeros(len(self.query))
        self.similar(direction)[:] = self.similar(row)
        return direction

    def squared_length(self, v: Array) -> float:
        """‖v‖² over the coordinates that enter similarities."""
        part = self.similar(v)
        return float(part @ part)

    def value(self, rows: Array) -> float:
        """F(S) of the set whose rows are given. Pairs i ≠ j: ‖v‖² - Σ‖e_i‖², exact for rows of any length."""
        rows = np.asarray(rows, dtype=np.float64)
        v = rows.sum(axis=0)
        own = float(np.square(self.similar(rows)).sum())
        pairs = self.squared_length(v) - own
        return self.relevance_weight * float(v @ self.query) - (1.0 - self.theta) * pairs

    def reported(self, value: float) -> float:
        """F on the reported scale θ·relevance + (1-θ)(ILAD - 1), with ILAD = 0 for a single row."""
        return value / self.scale - (1.0 - self.theta if self.k == 1 else 0.0)

    def objective(self, rows: Array) -> float:
        """F(S) on the reported scale."""
        return self.reported(self.value(rows))

    def relaxed(self, v: Array, squared_x: float) -> float:
        """f(x) from v = E'x and ‖x‖²."""
        linear = self.relevance_weight * float(v @ self.query)
        return linear + (1.0 - self.theta) * (self.penalty * squared_x - self.squared_length(v))

    def gradient(self, inner: Vector, x: Array) -> Vector:
        """∇_i f = e_i·w(v) + 2(1-θ)λ x_i, from the inner products e_i·w(v)."""
        return inner + 2.0 * (1.0 - self.theta) * self.penalty * x

    def frank_wolfe_gap(self, vertex_gradient: float, v: Array, squared_x: float) -> float:
        """Δ = ⟨∇f(x), s - x⟩ where `vertex_gradient` = Σ_{i∈s} ∇_i f(x)."""
        along_x = self.relevance_weight * float(v @ self.query)
        along_x += 2.0 * (1.0 - self.theta) * (self.penalty * squared_x - self.squared_length(v))
        return vertex_gradient - along_x

    def curvature(self, squared_step: float, image_step: Array) -> float:
        """C = 2(1-θ)(λ‖d‖² - ‖E'd‖²) along a direction d, from ‖d‖² and E'd."""
        return 2.0 * (1.0 - self.theta) * (self.penalty * squared_step - self.squared_length(image_step))

    def dual_bound(self, u: Array, top_scores: Array, max_squared_norm: float = 1.0) -> float:
        """D(u) ≥ F(S) for every S, from the k largest e_i·w(u) of the whole collection.

        D(u) = (1-θ)(k·max‖e‖² + ‖u‖²) + Σ_{top-k} e_i·w(u). It holds for any u, because -‖v‖² ≤ ‖u‖² - 2u·v;
        `max_squared_norm` keeps it valid for rows that are only nearly of unit length.
        """
        if len(top_scores) != self.k:
            raise ValueError(f"dual_bound needs the k = {self.k} best scores, got {len(top_scores)}")
        constant = (1.0 - self.theta) * (self.k * max_squared_norm + self.squared_length(u))
        return constant + float(np.sum(top_scores, dtype=np.float64))
