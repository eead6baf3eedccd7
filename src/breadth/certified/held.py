"""Rows held in memory: which of them score above a threshold, which score best.

A pass over all of them takes float32 scores. Rows that these leave undecided are scored again in float64, so that no
decision depends on how a sum was rounded.
"""

from __future__ import annotations

import numpy as np

from breadth import kernels
from breadth.arrays import Array, Ids, Mask, Positions, Vector
from breadth.oracles.sweep import sweep
from breadth.problem import Problem
from breadth.ranking import best

_ROUNDING = 1e-6
"""What float32 arithmetic changes in a score, relative to the length of the direction."""


class Held:
    """Some rows of a collection with their ids."""

    def __init__(self, problem: Problem, ids: Ids, rows: Array) -> None:
        self._problem = problem
        self.ids, self.rows = ids, np.ascontiguousarray(rows)
        self._flat = _flatten(problem, self.rows)
        self._room = self.rows  # the array that `rows` is the beginning of
        self._ones = np.ones(len(rows), dtype=np.float32)

    def __len__(self) -> int:
        return len(self.ids)

    def take(self, ids: Ids, rows: Array) -> int:
        """Hold further rows as well; how many of them were new."""
        if np.any(ids[1:] <= ids[:-1]):
            ids, first = np.unique(ids, return_index=True)
            rows = rows[first]
        new = find_outside(np.sort(self.ids), ids)
        count = len(new)
        if count:
            fresh = rows if count == len(ids) else rows[new]  # thousands of rows are not copied without need
            alike = self._flat is self.rows
            self.ids = np.concatenate((self.ids, ids[new]))
            self._append(fresh)
            self._flat = self.rows if alike else np.concatenate((self._flat, _flatten(self._problem, fresh)))
            self._ones = np.ones(len(self.ids), dtype=np.float32)
        return count

    def _append(self, fresh: Array) -> None:
        """Add rows behind the others, in room that is left for more: to copy all rows each time takes longer."""
        old, new = len(self.rows), len(self.rows) + len(fresh)
        if new > len(self._room):
            room: Array = np.empty((new + new // 2, self.rows.shape[1]), dtype=np.result_type(self.rows, fresh))
            room[:old] = self.rows
            self._room = room
        self._room[old:new] = fresh
        self.rows = self._room[:new]

    def find(self, ids: Ids) -> Positions:
        """Where these ids, all of them held, stand."""
        order = np.argsort(self.ids)
        return order[np.searchsorted(self.ids, ids, sorter=order)]

    @property
    def all_flat_rows(self) -> Array:
        """The coordinates of all rows that enter similarities, in float32."""
        return self._flat

    def flat_rows(self, where: Positions) -> Array:
        """The coordinates of some rows that enter similarities, in float32."""
        return self._flat[where]

    def exact_rows(self, where: Positions) -> Vector:
        """Some rows, in float64."""
        return np.ascontiguousarray(self.rows[where], dtype=np.float64)

    def exact_scores(self, where: Positions, w: Vector) -> Vector:
        """Inner products of some rows with w, in float64."""
        return kernels.current().inner_at(self.rows, where, w)

    def scores(self, w: Vector) -> Array:
        """Inner products of all rows with w, to float32 precision."""
        out = np.empty((1, len(self)), dtype=np.float32)
        direction = np.ascontiguousarray(self._problem.similar(w)[None], dtype=np.float32)

        def visit(start: int, stop: int) -> None:
            part = slice(start, stop)
            kernels.current().scan(self._flat[part], self._ones[part], direction, out[:, part])

        sweep(len(self), len(self), visit)
        if self._problem.similarity_dim is None:
            return np.asarray(out[0])
        return np.asarray(out[0] + w[-1] * np.asarray(self.rows[:, -1], dtype=np.float64))

    def above(
        self,
        w: Vector,
        threshold: float,
        among: Mask | None = None,
        most: int | None = None,
        rough: Array | None = None,
    ) -> tuple[Positions, Vector]:
        """The rows that score above the threshold for w, best first, with their scores.

        `among` marks the rows to look at. `most`: no more than so many of the best. `rough`: what `scores` gave for w.
        """
        rough = self.scores(w) if rough is None else rough
        near = rough > threshold - self.slack(w)
        if among is not None:
            near &= among
        where = np.flatnonzero(near)
        if most is not None and len(where) > 2 * most:
            where = where[np.argpartition(-rough[where], 2 * most - 1)[: 2 * most]]
        scores = self.exact_scores(where, w)
        order = np.lexsort((where, -scores))
        order = order[scores[order] > threshold][:most]
        return where[order], scores[order]

    def best(self, w: Vector, count: int) -> Positions:
        """The rows that score best for w, best first; of equal scores the one that was held earlier."""
        if count >= len(self):
            where = np.arange(len(self))
        else:
            rough = self.scores(w)
            cut = np.partition(rough, len(rough) - count)[len(rough) - count]
            where = np.flatnonzero(rough >= cut - 2.0 * self.slack(w))
        return where[best(self.exact_scores(where, w), min(count, len(where)))]

    def slack(self, w: Vector) -> float:
        """What a score of `scores` may be off by."""
        return _ROUNDING * float(np.linalg.norm(self._problem.similar(w)))


def find_outside(held: Ids, ids: Ids) -> Positions:
    """Places of the ids that are not among the held ones, which are sorted."""
    places = np.minimum(np.searchsorted(held, ids), len(held) - 1)
    return np.flatnonzero(held[places] != ids)


def _flatten(problem: Problem, rows: Array) -> Array:
    """The coordinates that enter similarities, as the kernels want them."""
    return np.ascontiguousarray(problem.similar(rows), dtype=np.float32)
