"""What pricing is about: a set and a dual vector, and which rows outside would improve either."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from breadth.problem import Array, Ids, Problem, Vector
from breadth.products import exactly, product
from breadth.ranking import Positions

PER_MEMBER = 4
"""Replacements kept for each member."""


@dataclass(frozen=True, eq=False)
class Question:
    """A set (`members`, (k, d) float64 rows), a dual vector `u`, and the ids held in memory already (sorted).

    A row outside moves the bound if its score for w(u) is above `threshold_u`, the k-th best in memory. It improves the
    set if swapping it in gains more than `gain`:  gain(i in, j out) = e_i·(w + 2(1-θ)e_j) - e_j·w - 2(1-θ)‖e_j‖².
    So no row that scores below the lowest member can gain. `longest` is the largest ‖e‖² there can be.
    """

    problem: Problem
    members: Vector
    u: Vector
    held: Ids
    threshold_u: float
    gain: float
    longest: float

    @cached_property
    def w_set(self) -> Vector:
        return self.problem.direction(self.members.sum(axis=0))

    @cached_property
    def w_dual(self) -> Vector:
        return self.problem.direction(self.u)

    @cached_property
    def member_scores(self) -> Vector:
        return exactly(self.members, self.w_set)

    @cached_property
    def floors(self) -> Vector:
        """What a row must reach, for each member, in the direction w + 2(1-θ)e_j: e_j·w + 2(1-θ)‖e_j‖²."""
        own = np.square(self.problem.similar(self.members)).sum(axis=1)
        floors: Vector = self.member_scores + self.coupling * own
        return floors

    @cached_property
    def lowest(self) -> float:
        """The score for w below which no row can gain: the lowest member's, less what a longer row could make up."""
        own = np.sqrt(np.square(self.problem.similar(self.members)).sum(axis=1))
        return float((self.member_scores - self.coupling * own * (np.sqrt(self.longest) - own)).min())

    @property
    def coupling(self) -> float:
        return 2.0 * (1.0 - self.problem.theta)

    def gains(self, rows: Array) -> Vector:
        """What swapping each row in would gain, for each member out: (rows, k)."""
        similar = self.problem.similar
        cross = product(similar(rows), similar(self.members))
        scores = product(rows, self.w_set)
        gains: Vector = scores[:, None] + self.coupling * cross - self.floors
        return gains

    def replacements(self, rows: Array) -> Positions:
        """Positions of the rows that gain by a swap: the best few for each member."""
        if len(rows) == 0:
            return np.empty(0, dtype=np.intp)
        gains = self.gains(rows)
        count = min(PER_MEMBER, len(rows))
        order = np.argpartition(-gains, count - 1, axis=0)[:count]
        return np.unique(order[np.take_along_axis(gains, order, axis=0) > self.gain])

    def member_directions(self) -> Vector:
        """w + 2(1-θ)e_j for each member j: the best row for it is the member's best replacement."""
        directions = np.repeat(self.w_set[None], len(self.members), axis=0)
        self.problem.similar(directions)[:] += self.coupling * self.problem.similar(self.members)
        return directions
