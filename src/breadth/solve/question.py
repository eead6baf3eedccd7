"""What pricing by direction is about: a set and a relaxation, and which rows outside would improve either."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from breadth.arrays import Array, Ids, Mask, Vector
from breadth.feasible import may_exchange
from breadth.problem import Problem, exchange_gain, floor
from breadth.solve.effort import GAIN
from breadth.solve.found import Found
from breadth.solve.partial import Scored


@dataclass(frozen=True, eq=False)
class Question:
    """Does a row improve the set by a swap, or raise the bound?

    ids           those of the set
    members       its rows, (k, d) float64
    floors        what a replacement of each member must reach, see `breadth.problem`; ∞ if it must stay
    w_set         w(v) of the set: the inner product of a row with it is the row's marginal value
    lowest        no row with a smaller marginal value can gain by a swap
    w_dual        w(u) of the relaxation
    threshold     what the inner product of a row with w(u) must exceed to raise the bound
    """

    problem: Problem
    ids: Ids
    members: Vector
    floors: Vector
    w_set: Vector
    lowest: float
    w_dual: Vector
    threshold: float
    max_squared_norm: float

    @classmethod
    def about(cls, found: Found, max_squared_norm: float) -> Question:
        """The question for a set that was found on a block."""
        problem, block = found.problem, found.block
        members = found.rows
        weights = np.flatnonzero(found.result.x)
        u = found.result.x[weights] @ block.pool.exact(block.where[weights])
        w_set = problem.direction(members.sum(axis=0))
        own = problem.own_similarities(members)
        merits = members @ w_set
        if (free := problem.constraints.forgive(found.ids, found.ids)) is not None:
            merits += problem.coupling * np.where(free, problem.similarities(members, members), 0.0).sum(axis=1)
        floors = floor(merits, own, problem.coupling)
        floors[np.isin(found.chosen, block.locked)] = np.inf
        threshold = found.result.threshold - 0.5 * problem.coupling * max_squared_norm
        return cls(
            problem,
            found.ids,
            members,
            floors,
            w_set,
            problem.lowest_marginal(floors, own, max_squared_norm),
            problem.direction(u),
            threshold,
            max_squared_norm,
        )

    @property
    def least_gain(self) -> float:
        """What a swap must gain to count."""
        return 2.0 * GAIN * (1.0 + self.problem.k)

    def find_gains(self, ids: Ids, rows: Array) -> Vector:
        """What each row, none of them in the set, gains by the best swap that is allowed, in float64."""
        wide = np.asarray(rows, dtype=np.float64)
        merits, best = wide @ self.w_set, np.full(len(rows), -np.inf)
        near = np.flatnonzero(merits > self.lowest)  # no other row gains
        cosines = self.problem.cosines(wide[near], self.members)
        gains = exchange_gain(merits[near, None], cosines, self.floors, self.problem.coupling)
        if self.problem.constraints.limits_sets:
            gains[~self._may_replace(ids[near], cosines)] = -np.inf
        best[near] = gains.max(axis=1, initial=-np.inf)
        return best

    def _may_replace(self, ids: Ids, cosines: Vector) -> Mask:
        """(rows, members): which rows may take the place of which member."""
        constraints, size = self.problem.constraints, len(self.ids)
        together = np.concatenate((self.ids, ids))
        clash = None
        if constraints.limits_pairs:
            clash = np.zeros((size, len(together)), dtype=bool)
            clash[:, size:] = constraints.clash(Scored(ids, self.ids, cosines)).T
        rules = constraints.number(together, self.problem.k)
        return np.asarray(may_exchange(rules, np.arange(size), clash, len(together))[:, size:].T)

    def find_slopes(self, rows: Array) -> Vector:
        """The slope of each row in the relaxation, in float64."""
        wide = np.asarray(rows, dtype=np.float64)
        return wide @ self.w_dual + 0.5 * self.problem.coupling * self.problem.own_similarities(wide)

    @property
    def directions(self) -> Vector:
        """w(v) and w(u)."""
        return np.vstack((self.w_set, self.w_dual))

    @property
    def thresholds(self) -> Vector:
        """What a row must exceed for each of them."""
        return np.array([self.lowest, self.threshold])
