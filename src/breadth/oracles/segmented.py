"""One collection made of several compact segments, or of some rows of them: still exact."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from breadth.arrays import Array, Ids, Vector
from breadth.checks import check_relevance
from breadth.oracles.compact import CompactOracle
from breadth.oracles.protocol import Reached


class SegmentedOracle:
    """The rows of all parts, one part after the other; `numbers` says what a row is called outside."""

    exact = True

    def __init__(self, parts: list[CompactOracle], numbers: Ids) -> None:
        self._parts = [part for part in parts if part.size]
        self.numbers = numbers
        self._starts = np.concatenate(([0], np.cumsum([part.size for part in self._parts]))).astype(np.int64)
        self.length_error = max((part.length_error for part in self._parts), default=0.0)

    @property
    def size(self) -> int:
        return int(self._starts[-1])

    @property
    def dim(self) -> int:
        return self._parts[0].dim

    def with_scores(self, scores: npt.ArrayLike) -> SegmentedOracle:
        """The same rows with relevance from outside."""
        checked = check_relevance(scores, self.size)
        pairs = zip(self._parts, np.split(checked, self._starts[1:-1]), strict=True)
        return SegmentedOracle([part.with_scores(own) for part, own in pairs], self.numbers)

    def top(self, directions: Array, m: int) -> tuple[Ids, Vector]:
        """The m best of the best of every part."""
        found = [part.top(directions, min(m, part.size)) for part in self._parts]
        ids = np.concatenate([ids + start for (ids, _), start in zip(found, self._starts[:-1], strict=True)], axis=1)
        scores = np.concatenate([scores for _, scores in found], axis=1)
        order = np.argsort(-scores, axis=1, kind="stable")[:, :m]
        return np.take_along_axis(ids, order, axis=1), np.take_along_axis(scores, order, axis=1)

    def above(self, directions: Array, thresholds: Vector, most: Ids, within: Ids | None = None) -> list[Reached]:
        """What every part finds; none of the rows left out is above the highest of their ceilings."""
        answers: list[list[Reached]] = []
        for part, start, stop in zip(self._parts, self._starts[:-1], self._starts[1:], strict=True):
            inside = None if within is None else within[(within >= start) & (within < stop)] - start
            if inside is not None and len(inside) == 0:
                continue
            found = part.above(directions, thresholds, most, inside)
            answers.append([Reached(one.ids + start, one.at_most, one.ceiling) for one in found])
        if not answers:
            nothing = np.empty(0, dtype=np.int64)
            return [Reached(nothing, np.empty(0), float(t)) for t in thresholds]
        return [
            Reached(
                np.concatenate([one.ids for one in column]),
                np.concatenate([one.at_most for one in column]),
                max(one.ceiling for one in column),
            )
            for column in zip(*answers, strict=True)
        ]

    def rows(self, ids: Ids) -> Array:
        """Full-precision rows, in the order of the ids."""
        if len(ids) and not 0 <= np.min(ids) <= np.max(ids) < self.size:
            raise IndexError(f"row ids must lie between 0 and {self.size - 1}")
        which = np.searchsorted(self._starts, ids, side="right") - 1
        out: Array | None = None
        for number, part in enumerate(self._parts):
            places = np.flatnonzero(which == number)
            if len(places) or out is None:
                rows = part.rows(np.asarray(ids)[places] - self._starts[number])
                if out is None:
                    out = np.empty((len(ids), rows.shape[1]), dtype=rows.dtype)
                out[places] = rows
        assert out is not None
        return out

    def exact_scores(self, direction: Array) -> Array:
        """Scores of all rows for one direction."""
        return np.concatenate([part.exact_scores(direction) for part in self._parts])

    def mean(self) -> Vector:
        """The mean row."""
        total: Vector = np.sum([part.mean() * part.size for part in self._parts], axis=0)
        return total / self.size
