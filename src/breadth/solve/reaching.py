"""Which rows of a collection score above a threshold for a direction: from an earlier search if that suffices."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from breadth.arrays import Array, Ids, Mask, Vector
from breadth.oracles.protocol import Facts, Reached
from breadth.problem import Problem
from breadth.ranking import best
from breadth.requests import Above, Asking, Top
from breadth.solve.effort import Effort
from breadth.solve.question import Question

_REMEMBERED, _MARGIN = 16, 0.4
"""One row in so many is remembered at the most, and how far below the threshold rows are, as a multiple of 2(1-θ)√k: a
swap moves w by at most twice 2(1-θ)."""


@dataclass(frozen=True, eq=False)
class Region:
    """Rows that a search brought: every other row has an inner product of at most `ceiling` with the direction.

    For a row of length at most r with e·a = h, a of unit length and w = αa + w⊥, e·w ≤ αh + ‖w⊥‖√(r² - h²), which grows
    with h up to h = rα/‖w‖: so rows outside the region are bounded for other directions too.
    """

    direction: Vector
    ids: Ids
    at_most: Array
    ceiling: float
    squared_norm: float

    def bound(self, w: Vector, height: Vector) -> Vector:
        """The largest inner product with w of a row that has at most this one with the direction."""
        length, radius = float(np.linalg.norm(self.direction)), np.sqrt(self.squared_norm)
        along = float(w @ self.direction) / length
        across = np.sqrt(max(float(w @ w) - along * along, 0.0))
        whole = np.hypot(along, across)
        highest = radius * along / whole if whole > 0.0 else 0.0
        h = np.clip(np.minimum(height / length, highest), -radius, radius)
        return np.asarray(along * h + across * np.sqrt(np.maximum(self.squared_norm - h * h, 0.0)) + 1e-6 * whole)

    def covers(self, w: Vector, threshold: float) -> bool:
        """Whether no row outside scores above the threshold for w."""
        return float(self.bound(w, np.array([self.ceiling]))[0]) <= threshold

    def near(self, w: Vector, threshold: float) -> Mask:
        """Which of the rows may."""
        return np.asarray(self.bound(w, self.at_most.astype(np.float64)) > threshold)


class Reaching:
    """Searches for one query. The rows of the last ones are remembered, with bounds for other directions."""

    def __init__(self, problem: Problem, facts: Facts, effort: Effort) -> None:
        self._facts, self._effort = facts, effort
        self._remembers = problem.similarity_dim is None
        self._regions: list[Region] = []

    def remember(self, direction: Vector, found: Reached) -> None:
        """Keep what a search brought for other directions."""
        if self._remembers:
            norm = self._facts.max_squared_norm
            self._regions.append(Region(direction, found.ids, found.at_most, found.ceiling, norm))

    def reach_both(self, question: Question) -> Asking[tuple[Reached, Reached]]:
        """The rows above the thresholds of set and bound: from an earlier pass if that suffices, else by a new one."""
        directions, thresholds, facts = question.directions, question.thresholds, self._facts
        if not facts.reaches:
            wanted = min(facts.most_rows, max(self._effort.priced, 4 * question.problem.k))
            found = yield from Top(directions, wanted)
            every = found.ids.shape[1] == facts.size
            for_set, for_bound = (
                Reached(ids, scores, -np.inf if every else float(scores[-1]))
                for ids, scores in zip(found.ids, found.scores, strict=True)
            )
            return for_set, for_bound
        known = [self._find_region(w, float(threshold)) for w, threshold in zip(directions, thresholds, strict=True)]
        if all(region is not None for region in known):
            near = [
                region.ids[region.near(w, float(threshold))]
                for region, w, threshold in zip(known, directions, thresholds, strict=True)
                if region is not None
            ]
            within = np.union1d(*near)
            for_set, for_bound = yield from Above(directions, thresholds, np.full(2, facts.size), within)
            return for_set, for_bound
        margin = _MARGIN * question.problem.coupling * np.sqrt(question.problem.k)
        most = np.full(2, max(self._effort.fetched, facts.size // _REMEMBERED))
        for_set, for_bound = yield from Above(directions, thresholds - margin, most)
        self._regions = self._regions[:1]
        for direction, reached in zip(directions, (for_set, for_bound), strict=True):
            self.remember(direction, reached)
        return for_set, for_bound

    def _find_region(self, w: Vector, threshold: float) -> Region | None:
        """An earlier search that brought every row above the threshold."""
        return next((region for region in self._regions if region.covers(w, threshold)), None)

    def reach_by_member(self, question: Question, within: Ids | None) -> Asking[tuple[Ids, bool]]:
        """Too many rows are above the lowest member: those that come near any one member's floor.

        Also whether these are all.
        """
        free = np.flatnonzero(question.floors < np.inf)
        if len(free) == 0:
            return np.empty(0, dtype=np.int64), True
        directions = question.problem.replacement_directions(question.members)[free]
        floors = question.floors[free] + question.least_gain
        if self._facts.reaches:
            near = yield from Above(directions, floors, np.full(len(free), self._effort.fetched), within)
            complete = all(n.ceiling <= floor for n, floor in zip(near, floors, strict=True))
            return np.unique(np.concatenate([n.ids for n in near])), complete
        found = yield from Top(directions, min(self._facts.most_rows, question.problem.k + 4))
        return np.unique(found.ids[found.scores > floors[:, None]]), True

    def reach_above(self, w: Vector, threshold: float, most: int) -> Asking[Ids | None]:
        """All rows above a threshold; None if they are more than `most`, or not to be found."""
        facts = self._facts
        if not facts.reaches:
            found = yield from Top(w[None], min(most, facts.most_rows))
            complete = found.ids.shape[1] == facts.size or found.scores[0, -1] <= threshold
            return np.asarray(found.ids[0][found.scores[0] > threshold]) if complete else None
        region = self._find_region(w, threshold)
        within = None if region is None else np.sort(region.ids[region.near(w, threshold)])
        (reached,) = yield from Above(w[None], np.array([threshold]), np.array([4 * most]), within)
        return reached.ids if reached.ceiling <= threshold and len(reached.ids) <= 4 * most else None


def lead(found: Reached, threshold: float, most: int) -> tuple[Ids, float]:
    """The rows above a threshold, no more than so many of the best; and a score that no other row exceeds."""
    above = np.flatnonzero(found.at_most > threshold)
    ceiling = max(found.ceiling, threshold) if threshold > -np.inf else found.ceiling
    if len(above) > most:
        order = best(found.at_most[above], most + 1)
        ceiling = max(ceiling, float(found.at_most[above[order[-1]]]))
        above = above[order[:most]]
    return found.ids[above], ceiling
