"""Pricing with searches by threshold: one pass finds every row that could gain by a swap or move the bound.

The pass also names the rows around these. A direction close to the last one is then answered from them: by
Cauchy-Schwarz no other row can have come up.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from breadth.arrays import Ids, Vector
from breadth.certified.effort import Effort
from breadth.certified.pricing.examine import examine
from breadth.certified.pricing.question import Priced, Question
from breadth.oracles.protocol import Facts, Reached
from breadth.problem import Problem
from breadth.ranking import best
from breadth.requests import Above, Asking, Top

_FEW = 1024
"""Where far more rows than `Effort.fetched` would have to be looked at: so many that lead."""
_EXPLORATIONS = 2
"""So many times leading rows are brought in before every member's replacements are searched for."""
_RELEVANT = 64
"""One row in so many is remembered from the first search."""
_REMEMBERED, _MARGIN = 16, 0.4
"""One row in so many is remembered at the most; and how far below the threshold rows are, as a multiple of 2(1-θ)√k: a
swap moves w by at most twice 2(1-θ)."""
_ROUNDING = 1e-6
"""Rounding of scores, relative to the length of the direction."""


class ReachPricing:
    """One pass over the collection, or none where the rows of an earlier pass suffice."""

    name, begins_exactly = "reached", False

    def __init__(self, problem: Problem, facts: Facts, effort: Effort) -> None:
        self._problem, self._facts, self._effort = problem, facts, effort
        self._relevant: _MostRelevant | None = None
        self._around: _Neighbourhood | None = None
        self._explored = 0

    def begin(self, count: int) -> Asking[Ids]:
        """About the `count` most relevant ids; for a low θ ids from all over the collection, without a search."""
        if self._effort.begins_far(self._problem.theta, self._problem.k):
            return np.arange(count) * (self._facts.size // count)
        most = np.array([max(4 * count, self._facts.size // _RELEVANT)])
        (found,) = yield from Above(self._problem.query[None], np.array([-np.inf]), most)
        self._relevant = _MostRelevant(self._problem, found, self._facts.max_squared_norm)
        if len(found.ids) < count:
            return np.asarray((yield from Top(self._problem.query[None], count)).ids[0])
        return np.sort(_lead(found, -np.inf, count)[0])

    def ask(self, question: Question) -> Asking[Priced]:
        """Look at every row above the lowest member for the set, and above the threshold for the bound."""
        for_set, for_bound = yield from self._reach(question)
        settles = for_set.ceiling <= question.lowest
        explores = not settles and self._explored < _EXPLORATIONS
        moving, ceiling = _lead(for_bound, question.threshold, 8 * _FEW if explores else self._effort.fetched)
        if explores:
            self._explored += 1
            leading = np.union1d(_lead(for_set, -np.inf, _FEW)[0], moving[:_FEW])
            found = yield from examine(question, leading, moving, keep_all=True)
        else:
            candidates = question.leave_out_held(for_set.above(question.lowest))
            if not settles or len(candidates) > self._effort.fetched:
                candidates, settles = yield from self._reach_by_member(question, candidates if settles else None)
            found = yield from examine(question, candidates, moving)
        scores = np.concatenate((found.scores, np.full(self._problem.k, ceiling)))
        return replace(found, scores=scores, swap_optimal=settles and found.swap_optimal)

    def above(self, w: Vector, threshold: float, most: int) -> Asking[Ids | None]:
        """Ids of all rows with a score above the threshold and perhaps some below, None if more than `most`."""
        (found,) = yield from Above(w[None], np.array([threshold]), np.array([most]))
        return found.ids if found.ceiling <= threshold else None

    def _reach(self, question: Question) -> Asking[tuple[Reached, Reached]]:
        """The rows above the thresholds of set and bound: from an earlier pass if that suffices, else by a new one."""
        directions = np.vstack((question.w_set, question.w_dual))
        thresholds = np.array([question.lowest, question.threshold])
        size = self._facts.size
        for known in (self._around, self._relevant):
            if known is not None and known.suffice(directions, thresholds):
                near = question.leave_out_held(known.near(directions, thresholds))
                for_set, for_bound = yield from Above(directions, thresholds, np.array([size, size]), near)
                return for_set, for_bound
        margin = _MARGIN * self._problem.coupling * np.sqrt(self._problem.k)
        most = np.full(2, max(self._effort.fetched, size // _REMEMBERED))
        for_set, for_bound = yield from Above(directions, thresholds - margin, most)
        self._around = _Neighbourhood.around(directions, (for_set, for_bound), self._facts.max_squared_norm)
        return for_set, for_bound

    def _reach_by_member(self, question: Question, within: Ids | None) -> Asking[tuple[Ids, bool]]:
        """Too many rows are above the lowest member: those that come near any one member's floor.

        Also whether these are all.
        """
        floors = question.floors + question.least_gain
        most = np.full(self._problem.k, self._effort.fetched)
        directions = self._problem.replacement_directions(question.members)
        near = yield from Above(directions, floors, most, within)
        complete = all(n.ceiling <= floor for n, floor in zip(near, floors, strict=True))
        return np.unique(np.concatenate([n.ids for n in near])), complete


@dataclass(frozen=True, eq=False)
class _MostRelevant:
    """The most relevant rows: no other row has a relevance above `found.ceiling`."""

    problem: Problem
    found: Reached
    max_squared_norm: float

    def suffice(self, directions: Vector, thresholds: Vector) -> bool:
        """Whether no other row can be above these thresholds for these directions."""
        return self.found.ceiling <= self._find_least(directions, thresholds)

    def near(self, directions: Vector, thresholds: Vector) -> Ids:
        """Those of the rows that their relevance lets be above one of the thresholds."""
        least = self._find_least(directions, thresholds)
        return np.asarray(self.found.ids[self.found.at_most > np.nextafter(np.float32(least), np.float32(-np.inf))])

    def _find_least(self, directions: Vector, thresholds: Vector) -> float:
        """A row of at most this relevance scores above none of the thresholds."""
        return min(self._find_relevance(w, float(t)) for w, t in zip(directions, thresholds, strict=True))

    def _find_relevance(self, w: Vector, threshold: float) -> float:
        """The largest relevance for which no row of at most that relevance scores above a threshold.

        With w = αq + w⊥, a row of relevance c scores at most αc + ‖w⊥‖ √(‖e‖² - c²), for a unit q. At the angle φ to q,
        c = ‖e‖ cos φ, that is ‖e‖‖w‖ cos(φ - ψ) with ψ the angle of w. A relevance from outside is a coordinate of its
        own: αc + ‖w⊥‖‖e‖.
        """
        q, max_norm = self.problem.query, math.sqrt(self.max_squared_norm)
        length, whole = float(np.linalg.norm(q)), float(np.linalg.norm(w))
        alpha = float(w @ q) / length
        across = math.sqrt(max(whole * whole - alpha * alpha, 0.0))
        bar = threshold - _ROUNDING * whole
        if self.problem.similarity_dim is not None:
            return (bar - across * max_norm) / alpha * length if alpha > 0.0 else -math.inf
        reach = whole * max_norm
        if bar >= reach:
            return math.inf
        angle = math.atan2(across, alpha) + math.acos(max(bar / reach, -1.0))
        return max_norm * math.cos(angle) * length - _ROUNDING if angle < math.pi else -math.inf


@dataclass(frozen=True, eq=False)
class _Neighbourhood:
    """Rows around what a pass found: for `directions` no other row scored above `ceilings`."""

    directions: Vector
    ceilings: Vector
    ids: Ids
    max_squared_norm: float

    @classmethod
    def around(cls, directions: Vector, found: tuple[Reached, Reached], max_squared_norm: float) -> _Neighbourhood:
        ceilings = np.array([reached.ceiling for reached in found])
        ids = np.sort(np.concatenate((found[0].ids, found[1].ids)), kind="stable")  # merges two sorted runs
        return cls(directions, ceilings, ids[np.concatenate((ids[1:] != ids[:-1], [True]))], max_squared_norm)

    def near(self, directions: Vector, thresholds: Vector) -> Ids:
        """All of the rows."""
        return self.ids

    def suffice(self, directions: Vector, thresholds: Vector) -> bool:
        """Whether no other row can be above these thresholds for these directions."""
        moved = np.linalg.norm(directions - self.directions, axis=1) * np.sqrt(self.max_squared_norm)
        rounding = _ROUNDING * np.linalg.norm(directions, axis=1)
        return bool(np.all(self.ceilings + moved + rounding <= thresholds))


def _lead(reached: Reached, threshold: float, most: int) -> tuple[Ids, float]:
    """The rows above a threshold, the best `most` of them if they are more, and what no other row exceeds."""
    above = np.flatnonzero(reached.at_most > threshold)
    if len(above) <= most:
        return reached.ids[above], max(threshold, reached.ceiling)
    order = above[best(reached.at_most[above], most + 1)]
    return reached.ids[order[:-1]], float(reached.at_most[order[-1]])
