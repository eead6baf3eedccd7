"""The bench: rows held in memory for one query, the best set found on them, and the best dual vector.

`settle` improves both until no held row improves either. What the collection is asked about them is in `pricing/`.
"""

from __future__ import annotations

import numpy as np

from breadth import kernels
from breadth.arrays import Array, Ids, Positions, Vector
from breadth.certified.block import Block, Target
from breadth.certified.effort import EFFORT, Effort
from breadth.certified.held import Held
from breadth.clock import NO_LIMIT, Clock
from breadth.problem import Problem, exchange_gain, floor
from breadth.products import multiply, multiply_exactly

_RESOLUTION = 1e-7
"""A gap (reported scale) that counts as closed."""
_MEMBERS_AT_ONCE = 8
_ROUNDING = 1e-6
"""What float32 arithmetic changes in a similarity."""


class Bench:
    """What is known in memory: held rows, a block of them, a set (`chosen`, positions in the block) and a dual vector.

    The dual vector is u = E'x for the x of the concave relaxation on the block.
    """

    def __init__(
        self,
        problem: Problem,
        ids: Ids,
        rows: Array,
        max_squared_norm: float,
        clock: Clock = NO_LIMIT,
        effort: Effort = EFFORT,
    ) -> None:
        self.problem, self.max_squared_norm, self.clock, self.effort = problem, max_squared_norm, clock, effort
        self.held = Held(problem, ids, rows)
        self.block = Block(problem)
        self._positions: Positions = np.empty(0, dtype=np.int64)
        self._outside = np.ones(len(ids), dtype=bool)
        self.x: Vector = np.empty(0)
        self.swaps = 0
        self._best_scores: Vector | None = None
        self._begin()

    def _begin(self) -> None:
        """The most relevant rows form the block; greedy finds the first set."""
        count = max(self.effort.block, 2 * self.problem.k)
        whole = len(self.held) <= 2 * count
        self.enter(np.arange(len(self.held)) if whole else self.held.best(self.problem.query, count))
        self.chosen: Positions = self.block.greedy(int(np.argmax(self.block.linear)))
        self.swaps += self.block.swap(self.chosen, self.clock)
        self.value = self.block.value(self.chosen)
        self.x[self.chosen] = 1.0
        self.relaxed = self.value
        self._note_dual_vector()

    @property
    def chosen_ids(self) -> Ids:
        return self.held.ids[self._positions[self.chosen]]

    @property
    def chosen_rows(self) -> Vector:
        return self.block.rows[self.chosen]

    @property
    def open_gap(self) -> float:
        """What the relaxation on the block leaves open above the set, as a share of `Problem.spread`."""
        return (self.relaxed - self.value) / self.problem.spread

    def is_closed(self) -> bool:
        """Whether the relaxation proves that no other set of held rows is better."""
        return self.relaxed - self.value <= _RESOLUTION * self.problem.scale

    def is_loose(self) -> bool:
        """Whether so much is left open, at a low θ, that a longer search pays."""
        return self.open_gap > self.effort.loose and self.problem.theta < self.effort.loose_theta

    def holds_block_only(self) -> bool:
        """Whether all held rows are in the block."""
        return len(self.block) == len(self.held)

    def enter(self, where: Positions) -> None:
        """Take held rows into the block."""
        if len(where) == 0:
            return
        self._outside[where] = False
        self._positions = np.concatenate((self._positions, where))
        self.x = np.concatenate((self.x, np.zeros(len(where))))
        self.block.add(self.held.rows if len(where) == len(self.held) else self.held.rows[where])

    def enter_best(self, count: int) -> None:
        """Take the held rows that score best for w(u) into the block, so that it has about `count` rows."""
        if not self.holds_block_only():
            best = self.held.best(self.w_dual, min(count, len(self.held)))
            self.enter(best[self._outside[best]])

    def take(self, ids: Ids, rows: Array) -> int:
        """Hold further rows in memory; how many of them were new."""
        count = self.held.take(ids, rows)
        self._best_scores = None if count else self._best_scores
        self._outside = np.concatenate((self._outside, np.ones(count, dtype=bool)))
        return count

    def improve(self, start: Positions) -> bool:
        """Swap from a set of positions in the block; keep what is found if it is better than the best set."""
        self.swaps += self.block.swap(start, self.clock)
        value = self.block.value(start)
        if value <= self.value:
            return False
        self.chosen, self.value = start, value
        return True

    def improve_from_firsts(self, firsts: Positions, shares: Vector) -> None:
        """Greedy on the block from first rows, with all or a share of the relevance, then swaps; keep the best set."""
        chosen = self.chosen.copy()
        self.swaps += self.block.try_starts(chosen, firsts, shares)
        value = self.block.value(chosen)
        if value > self.value:
            self.chosen, self.value = chosen, value

    def improve_from(self, sets: Positions) -> None:
        """Swap from the most promising of several sets (starts, k) of held rows."""
        values = np.array([self.problem.value(self.held.exact_rows(where)) for where in sets])
        for place in np.argsort(-values, kind="stable")[: self.effort.promising]:
            where = sets[place]
            self.enter(where[self._outside[where]])
            order = np.argsort(self._positions)
            self.improve(order[np.searchsorted(self._positions, where, sorter=order)])

    def relax(self, share: float) -> None:
        """Improve the dual vector on the block, to a share of the open gap."""
        least = 10.0 * _RESOLUTION * self.problem.scale
        target = Target(self.value, share, least, self.effort.relax_steps)
        self.relaxed = self.block.relax(self.x, target, self.clock)
        self._note_dual_vector()

    def _note_dual_vector(self) -> None:
        """u = E'x and w(u), once for every change of x."""
        self.u: Vector = kernels.current().combine(self.x, self.block.rows)
        self.w_dual = self.problem.direction(self.u)
        self._best_scores = None

    def dual_scores(self) -> Vector:
        """Scores for w(u) in float64, those of the best allowed set of held rows among them."""
        if self._best_scores is None:
            best = self.held.best(self.w_dual, self.problem.k)
            self._best_scores = self.held.exact_scores(best, self.w_dual)
        return self._best_scores

    def enter_for_bound(self, watched: Positions | None) -> tuple[bool, Positions | None]:
        """Take held rows into the block that move the bound: those that score above the best set for w(u).

        All held rows are looked at, or only `watched`. Returns whether any entered, and which to watch from now on.
        """
        scores = multiply_exactly(self.block.rows, self.w_dual)
        threshold = self.problem.allowed.threshold(scores) + self.block.least_rise
        if self.holds_block_only():
            self._best_scores = scores
            return False, None
        most = self.effort.entering + self.problem.k // 2
        if watched is None:
            rough = self.held.scores(self.w_dual)
            where, _ = self.held.above(self.w_dual, threshold, self._outside, most, rough)
            if len(where) == 0:  # the best held rows are all in the block
                self._best_scores = scores
                return False, None
            watched = self._choose_watched(rough)
        else:
            watched = watched[self._outside[watched]]
            outside = self.held.exact_scores(watched, self.w_dual)
            order = np.argsort(-outside, kind="stable")
            where = watched[order[outside[order] > threshold][:most]]
            if len(where) == 0:
                return False, None
        self.enter(where)
        return True, watched

    def _choose_watched(self, scores: Array) -> Positions:
        """The rows outside the block that score best for w(u)."""
        rough = np.where(self._outside, scores, -np.inf)
        count = min(self.effort.watched + 8 * self.problem.k, len(rough))
        return np.sort(np.argpartition(-rough, count - 1)[:count])

    def enter_for_swaps(self) -> bool:
        """Take held rows into the block that gain by a swap with a member; whether there were any."""
        if self.holds_block_only():
            return False
        where = self.find_replacements(self.effort.entering + self.problem.k // 2)
        self.enter(where)
        return len(where) > 0

    def find_replacements(self, most: int) -> Positions:
        """Held rows outside the block that gain by a swap with a member: those that gain most.

        A row with marginal value m can only gain by replacing members whose floor is below m + coupling·‖e_i‖‖e_j‖: for
        every member these are the first rows in the order of marginal values.
        """
        problem, members = self.problem, self.chosen_rows
        w = problem.direction(members.sum(axis=0))
        own = problem.own_similarities(members)
        floors = floor(multiply_exactly(members, w), own, problem.coupling)
        slack = self.held.slack(w) + _ROUNDING * problem.coupling
        least = self.block.least_gain - slack
        reach = floors - problem.coupling * np.sqrt(own * self.max_squared_norm)
        rough = np.where(self._outside, self.held.scores(w), -np.inf)
        candidates = np.flatnonzero(rough - reach.min() > least)
        if len(candidates) == 0:
            return candidates
        candidates = candidates[np.argsort(-rough[candidates], kind="stable")]
        marginals = rough[candidates].astype(np.float64)
        gains = self._rate_candidates(candidates, marginals, floors, reach + least)
        gaining = np.flatnonzero(gains > least)
        if len(gaining) > 4 * most:
            gaining = gaining[np.argpartition(-gains[gaining], 4 * most - 1)[: 4 * most]]
        return self._confirm(np.sort(candidates[gaining]), w, floors)[:most]

    def _rate_candidates(self, candidates: Positions, marginals: Vector, floors: Vector, thresholds: Vector) -> Vector:
        """About the most that each candidate gains; candidates come with falling marginal values."""
        members = self.problem.similar(self.chosen_rows)
        if 2 * len(candidates) > len(self.held):  # all rows as they lie take less time than a copy of most of them
            similarity = multiply(self.held.all_flat_rows, members)[candidates].astype(np.float64)
            return np.asarray(exchange_gain(marginals[:, None], similarity, floors, self.problem.coupling).max(axis=1))
        rows = self.held.flat_rows(candidates)
        order = np.argsort(-thresholds, kind="stable")
        counts = np.searchsorted(-marginals, -thresholds[order])  # rising
        gains = np.full(len(candidates), -np.inf)
        for start in range(0, len(order), _MEMBERS_AT_ONCE):
            some = order[start : start + _MEMBERS_AT_ONCE]
            count = int(counts[start + len(some) - 1])
            if count and not self.clock.is_over():
                similarity = multiply(rows[:count], members[some]).astype(np.float64)
                gain = exchange_gain(marginals[:count, None], similarity, floors[some], self.problem.coupling)
                np.maximum(gains[:count], gain.max(axis=1), out=gains[:count])
        return gains

    def _confirm(self, candidates: Positions, w: Vector, floors: Vector) -> Positions:
        """The candidates that really gain, those that gain most first: in float64."""
        if len(candidates) == 0:
            return candidates
        rows, similar = self.held.exact_rows(candidates), self.problem.similar
        similarity = np.einsum("ij,kj->ik", similar(rows), similar(self.chosen_rows))
        marginals = multiply_exactly(rows, w)
        gains = exchange_gain(marginals[:, None], similarity, floors, self.problem.coupling).max(axis=1)
        order = np.argsort(-gains, kind="stable")
        return np.asarray(candidates[order[gains[order] > self.block.least_gain]])
