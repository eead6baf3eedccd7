"""The paper's tight relaxation of the objective, with its penalty λ.

    f(x) = θ(k-1) c'x + (1-θ) (λ‖x‖² - ‖v‖²)          v = E'x,   x ∈ [0,1]^n,   1'x = k

It is tight for λ ≥ 2: its maximum is reached at a set, where f = F + (1-θ)(λ-1)k (for unit rows).
"""

from __future__ import annotations

from dataclasses import dataclass

from breadth.arrays import Array, Vector
from breadth.problem import Problem


@dataclass(frozen=True, eq=False)
class Relaxation:
    """f of one query. Everything is a function of v = E'x, ‖x‖² and inner products, so no row is needed."""

    problem: Problem
    penalty: float = 2.0

    def value(self, v: Array, squared_x: float) -> float:
        """f(x)."""
        linear = self.problem.relevance_weight * float(v @ self.problem.query)
        return linear + 0.5 * self.problem.coupling * self._quadratic(v, squared_x)

    def gradient(self, inner: Vector, x: Array) -> Vector:
        """∇_i f = e_i·w(v) + 2(1-θ)λ x_i, from the inner products e_i·w(v)."""
        return inner + self.problem.coupling * self.penalty * x

    def gap(self, vertex_gradient: float, v: Array, squared_x: float) -> float:
        """Δ = ⟨∇f(x), s - x⟩, where `vertex_gradient` = Σ_{i∈s} ∇_i f(x)."""
        along_x = self.problem.relevance_weight * float(v @ self.problem.query)
        return vertex_gradient - along_x - self.problem.coupling * self._quadratic(v, squared_x)

    def curvature(self, squared_step: float, image_step: Array) -> float:
        """C = 2(1-θ)(λ‖d‖² - ‖E'd‖²) along a direction d, from ‖d‖² and E'd."""
        return self.problem.coupling * self._quadratic(image_step, squared_step)

    def offset(self) -> float:
        """(1-θ)(λ-1)k: what f exceeds F by on a set of unit rows."""
        return (self.penalty - 1.0) * self.problem.spread

    def _quadratic(self, v: Array, squared_x: float) -> float:
        """λ‖x‖² - ‖v‖²."""
        return self.penalty * squared_x - self.problem.squared_length(v)
