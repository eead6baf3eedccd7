"""What pricing is about: a set and a dual vector, and which rows outside memory would improve either."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from breadth.arrays import Array, Ids, Positions, Vector
from breadth.certified.bench import Bench
from breadth.certified.held import find_outside
from breadth.problem import Problem, exchange_gain, floor
from breadth.products import multiply, multiply_exactly

PER_MEMBER = 4
"""Replacements kept for each member."""


@dataclass(frozen=True, eq=False)
class Question:
    """Does a row that is not held improve the set by a swap, or move the bound?

    held          ids in memory, sorted
    members       rows of the set, (k, d) float64
    w_set         w(v) of the set: the inner product of a row with it is the row's marginal value
    floors        what a replacement of each member must reach, see `breadth.problem`
    lowest        no row with a smaller marginal value can gain by a swap
    least_gain    what a swap must gain to count
    w_dual        w(u) of the dual vector
    threshold     what the score of a row for w(u) must exceed to move the bound
    max_squared_norm       the largest ‖e‖² there can be
    """

    problem: Problem
    held: Ids
    members: Vector
    w_set: Vector
    floors: Vector
    lowest: float
    least_gain: float
    w_dual: Vector
    threshold: float
    max_squared_norm: float

    @classmethod
    def about(cls, bench: Bench, dual_scores: Vector) -> Question:
        """The question for a bench as it is now; `dual_scores` are its best scores for w(u)."""
        problem = bench.problem
        least_gain, threshold = bench.block.least_gain, problem.allowed.threshold(dual_scores)
        return cls.make(
            problem, bench.held.ids, bench.chosen_rows, least_gain, bench.w_dual, threshold, bench.max_squared_norm
        )

    @classmethod
    def make(
        cls,
        problem: Problem,
        held: Ids,
        members: Vector,
        least_gain: float,
        w_dual: Vector,
        threshold: float,
        max_squared_norm: float,
    ) -> Question:
        """The question about a set and a dual vector; `least_gain` is that of swaps on rows in memory."""
        w_set = problem.direction(members.sum(axis=0))
        own = problem.own_similarities(members)
        floors = floor(multiply_exactly(members, w_set), own, problem.coupling)
        return cls(
            problem=problem,
            held=np.sort(held),
            members=members,
            w_set=w_set,
            floors=floors,
            lowest=problem.lowest_marginal(floors, own, max_squared_norm),
            least_gain=2.0 * least_gain,
            w_dual=w_dual,
            threshold=threshold,
            max_squared_norm=max_squared_norm,
        )

    def find_replacements(self, rows: Array) -> Positions:
        """Positions of the rows that gain by a swap: the best few for each member."""
        if len(rows) == 0:
            return np.empty(0, dtype=np.int64)
        similar = self.problem.similar
        cross = multiply(similar(rows), similar(self.members)).astype(np.float64)
        marginals = multiply(rows, self.w_set).astype(np.float64)
        gains = exchange_gain(marginals[:, None], cross, self.floors, self.problem.coupling)
        count = min(PER_MEMBER, len(rows))
        order = np.argpartition(-gains, count - 1, axis=0)[:count]
        return np.unique(order[np.take_along_axis(gains, order, axis=0) > self.least_gain])

    def leave_out_held(self, ids: Ids) -> Ids:
        """The ids that are not in memory."""
        outside: Ids = ids[find_outside(self.held, ids)]
        return outside


@dataclass(frozen=True, eq=False)
class Priced:
    """The answer: `ids` and `rows` are worth having in memory.

    `swap_optimal`: no row outside memory gains by a swap. `scores`: together with the scores in memory they bound the
    largest sum of scores for w(u) of an allowed set, over the whole collection.
    """

    ids: Ids
    rows: Array
    scores: Vector
    swap_optimal: bool
