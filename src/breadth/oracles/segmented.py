"""An exact oracle over several compact segments, or some rows of them, as one collection."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from breadth.arrays import Array, Ids, Vector
from breadth.checks import check_relevance
from breadth.oracles.compact import CompactOracle
from breadth.oracles.protocol import Reached


class SegmentedOracle:
    """The rows of all parts, one part after the other.

    Ids count these rows from 0. `numbers` holds, for each row, the number by which the owner of the segments knows it.
    """

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
        """Return an oracle over the same rows with these relevance scores as one more coordinate."""
        checked = check_relevance(scores, self.size)
        pairs = zip(self._parts, np.split(checked, self._starts[1:-1]), strict=True)
        return SegmentedOracle([part.with_scores(own) for part, own in pairs], self.numbers)

    def top(self, directions: Array, m: int) -> tuple[Ids, Vector]:
        """Return the m best rows for each direction: the best among the best of every part."""
        found = [part.top(directions, min(m, part.size)) for part in self._parts]
        ids = np.concatenate([ids + start for (ids, _), start in zip(found, self._starts[:-1], strict=True)], axis=1)
        scores = np.concatenate([scores for _, scores in found], axis=1)
        order = np.argsort(-scores, axis=1, kind="stable")[:, :m]
        return np.take_along_axis(ids, order, axis=1), np.take_along_axis(scores, order, axis=1)

    def above(self, directions: Array, thresholds: Vector, most: Ids, within: Ids | None = None) -> list[Reached]:
        """Return what all parts find together; the ceiling is the highest of theirs. See `ReachingOracle`."""
        answers: list[list[Reached]] = []
        for part, start, stop in zip(self._parts, self._starts[:-1], self._starts[1:], strict=True):
            inside = None if within is None else within[(within >= start) & (within < stop)] - start
            found = part.above(directions, thresholds, most, inside)
            answers.append([Reached(one.ids + start, one.at_most, one.ceiling) for one in found])
        return [
            Reached(
                np.concatenate([one.ids for one in column]),
                np.concatenate([one.at_most for one in column]),
                max(one.ceiling for one in column),
            )
            for column in zip(*answers, strict=True)
        ]

    def rows(self, ids: Ids) -> Array:
        """Return the rows with these ids in full precision, in the order of the ids."""
        if len(ids) and not 0 <= np.min(ids) <= np.max(ids) < self.size:
            raise IndexError(f"row ids must lie between 0 and {self.size - 1}, got {np.min(ids)} to {np.max(ids)}")
        segment = np.searchsorted(self._starts, ids, side="right") - 1
        out: Array | None = None
        for number, part in enumerate(self._parts):
            places = np.flatnonzero(segment == number)
            if len(places) or out is None:
                rows = part.rows(np.asarray(ids)[places] - self._starts[number])
                if out is None:
                    out = np.empty((len(ids), rows.shape[1]), dtype=rows.dtype)
                out[places] = rows
        assert out is not None
        return out

    def exact_scores(self, direction: Array) -> Array:
        """Return the full-precision scores of all rows for one direction. This reads every row."""
        return np.concatenate([part.exact_scores(direction) for part in self._parts])

    def mean(self) -> Vector:
        """Return the mean row."""
        total: Vector = np.sum([part.mean() * part.size for part in self._parts], axis=0)
        return total / self.size
