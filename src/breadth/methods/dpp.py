"""Greedy MAP inference for a determinantal point process (Chen, Zhang and Zhou, 2018)."""

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

_NO_VOLUME = 1e-6
"""A residual d² below this is float32 rounding: the row lies in the span of the chosen ones. Where rows are only
nearly of unit length, a copy keeps a residual of that size."""


def dpp(problem: Problem, facts: Facts, *, clock: Clock = NO_LIMIT) -> Asking[Selection]:
    """Add the row that maximises θ c_i + (1-θ) log d_i², with d_i² the squared distance of e_i to span(S).

    d² is kept up to date by one step of a Cholesky factorisation of E E': O(knd + k²n) time, O(kn) memory.
    Once every remaining row lies in the span (k beyond the rank of the data) the logarithm is -∞ for all of
    them; the rest is then picked by relevance, and `stats["beyond_rank"]` says how many were.
    """
    relevance = (yield from Scores(problem.query[None]))[0]
    rule = _Volume(problem, relevance, max(_NO_VOLUME, 4.0 * facts.length_error))
    return (yield from pick_by_rule(problem, "dpp", relevance, rule, clock))


class _Volume:
    """θ c_i + (1-θ) log d_i². `residual` is d², `factor` the rows of the Cholesky factor."""

    def __init__(self, problem: Problem, relevance: Array, least: float) -> None:
        self._problem, self._relevance, self._least = problem, relevance.copy(), least
        self._theta = relevance.dtype.type(problem.theta)
        self._residual = np.ones_like(relevance)
        self._factor = np.empty((problem.k - 1, len(relevance)), dtype=relevance.dtype)
        self._merits = np.empty_like(relevance)
        self._picks = 0
        self.stats: dict[str, Any] = {}

    def rate(self) -> Array:
        if self._theta == 1:
            self._merits[:] = self._relevance
            return self._merits
        with np.errstate(divide="ignore", invalid="ignore"):
            np.log(self._residual, out=self._merits)
        self._merits[~(self._residual > self._least)] = -np.inf
        self._merits *= 1 - self._theta
        if self._theta > 0:
            self._merits += self._theta * self._relevance
        self._merits[self._relevance == -np.inf] = -np.inf
        if self._merits.max() == -np.inf:
            self.stats["beyond_rank"] = self.stats.get("beyond_rank", 0) + 1
            self._merits[:] = self._relevance
        return self._merits

    def needs_similarities(self, pick: int) -> bool:
        return bool(self._residual[pick] > self._least)

    def learn(self, pick: int, row: Vector, similarities: Array | None) -> None:
        update = self._factor[self._picks]
        if similarities is None:  # it adds no volume, so no distance changes
            update[:] = 0
        else:
            update[:] = similarities
            update -= self._factor[: self._picks, pick] @ self._factor[: self._picks]
            update /= np.sqrt(self._residual[pick])
            np.multiply(update, update, out=self._merits)
            self._residual -= self._merits
        self._relevance[pick] = -np.inf
        self._picks += 1
