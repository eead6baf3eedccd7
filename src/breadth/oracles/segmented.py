"""An exact oracle over several compact segments, or some rows of them, as one collection."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from breadth.arrays import Array, Ids, Vector
from breadth.checks import check_relevance
from breadth.oracles.compact import CompactOracle
from breadth.oracles.joining import Numbering, join_above, join_means, join_rows, join_top
from breadth.oracles.protocol import Reached


class SegmentedOracle:
    """The rows of all parts, one part after the other.

    Ids count these rows from 0. `numbers` holds, for each row, the number by which the owner of the segments knows it.
    """

    exact = True

    def __init__(self, parts: list[CompactOracle], numbers: Ids) -> None:
        self._parts = [part for part in parts if part.size]
        self.numbers = numbers
        self._numbering = Numbering.of([part.size for part in self._parts])
        self.length_error = max((part.length_error for part in self._parts), default=0.0)

    @property
    def size(self) -> int:
        return self._numbering.size

    @property
    def dim(self) -> int:
        return self._parts[0].dim

    def with_scores(self, scores: npt.ArrayLike) -> SegmentedOracle:
        """Return an oracle over the same rows with these relevance scores as one more coordinate."""
        checked = check_relevance(scores, self.size)
        pairs = zip(self._parts, np.split(checked, self._numbering.starts[1:-1]), strict=True)
        return SegmentedOracle([part.with_scores(own) for part, own in pairs], self.numbers)

    def top(self, directions: Array, m: int) -> tuple[Ids, Vector]:
        """Return the m best rows for each direction: the best among the best of every part."""
        found = [part.top(directions, min(m, part.size)) for part in self._parts]
        return join_top(found, self._numbering, m)

    def above(self, directions: Array, thresholds: Vector, most: Ids, within: Ids | None = None) -> list[Reached]:
        """Return what all parts find together; the ceiling is the highest of theirs. See `ReachingOracle`."""
        answers = [
            part.above(directions, thresholds, most, self._numbering.inside(number, within))
            for number, part in enumerate(self._parts)
        ]
        return join_above(answers, self._numbering)

    def rows(self, ids: Ids) -> Array:
        """Return the rows with these ids in full precision, in the order of the ids."""
        return join_rows(
            ids, self._numbering, self.dim, lambda asked: [self._parts[part].rows(own) for part, own in asked]
        )

    def exact_scores(self, direction: Array) -> Array:
        """Return the full-precision scores of all rows for one direction. This reads every row."""
        return np.concatenate([part.exact_scores(direction) for part in self._parts])

    def mean(self) -> Vector:
        """Return the mean row."""
        return join_means([part.mean() for part in self._parts], self._numbering)
