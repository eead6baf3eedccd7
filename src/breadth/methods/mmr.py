"""Maximal marginal relevance (Carbonell and Goldstein, 1998)."""

from __future__ import annotations

from typing import Any

import numpy as np

from breadth.arrays import Array, Vector
from breadth.clock import NO_LIMIT, Clock
from breadth.methods.sequential import pick_by_rule
from breadth.oracles.protocol import Facts
from breadth.problem import Problem
from breadth.requests import Asking, Scores
from breadth.selection import Selection


def mmr(problem: Problem, facts: Facts, *, clock: Clock = NO_LIMIT) -> Asking[Selection]:
    """Add the row that maximises θ c_i - (1-θ) max_{j∈S} e_i·e_j; the first is the most relevant one."""
    relevance = (yield from Scores(problem.query[None]))[0]
    rule = _NearestNeighbour(relevance, problem.theta)
    return (yield from pick_by_rule(problem, "mmr", relevance, rule, clock))


class _NearestNeighbour:
    """θ c_i - (1-θ) · the largest similarity to a pick, which is kept up to date."""

    def __init__(self, relevance: Array, theta: float) -> None:
        self._weight = relevance.dtype.type(1.0 - theta)
        self._weighted = relevance.dtype.type(theta) * relevance
        self._nearest = np.full_like(relevance, -np.inf)
        self._merits = np.empty_like(relevance)
        self.stats: dict[str, Any] = {}

    def rate(self) -> Array:
        np.multiply(self._nearest, self._weight, out=self._merits)
        np.subtract(self._weighted, self._merits, out=self._merits)
        return self._merits

    def needs_similarities(self, pick: int) -> bool:
        return True

    def learn(self, pick: int, row: Vector, similarities: Array | None) -> None:
        np.maximum(self._nearest, similarities, out=self._nearest)  # type: ignore[arg-type]
