"""The bound: the lowest D(u) so far, valid for the whole collection."""

from __future__ import annotations

import numpy as np

from breadth.arrays import Vector
from breadth.certified.bench import Bench


class Bound:
    """An upper bound on F of every allowed set, on the scale of F; infinite until something is known."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self.value = np.inf

    @property
    def gap(self) -> float:
        """Bound less F of the best set, on the reported scale."""
        return (self.value - self._bench.value) / self._bench.problem.scale

    def lower(self, scores: Vector) -> None:
        """Use the bench's dual vector. `scores` hold the best scores for w(u) of the whole collection."""
        bench = self._bench
        best_sum = bench.problem.allowed.best_sum(scores)
        self.value = min(self.value, bench.problem.dual_bound(bench.u, best_sum, bench.max_squared_norm))

    def lower_by_relevance(self, relevance: Vector) -> None:
        """Use u = 0: relevance alone bounds the optimum. `relevance` holds that of the most relevant rows of all."""
        problem = self._bench.problem
        best_sum = problem.allowed.best_sum(problem.linear(relevance))
        nothing = np.zeros(len(problem.query))
        self.value = min(self.value, problem.dual_bound(nothing, best_sum, self._bench.max_squared_norm))
