"""The answers of several parts of a collection as one. Rows are numbered through: one part after the other.

What each part finds is exact, and so is what is joined: the m best rows of all are among the m best of every part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from breadth.arrays import Array, Ids, Vector
from breadth.oracles.protocol import Reached


@dataclass(frozen=True, eq=False)
class Numbering:
    """Where the rows of each part stand among all rows. `starts` has one entry more than there are parts."""

    starts: Ids

    @classmethod
    def of(cls, sizes: Sequence[int]) -> Numbering:
        """Number parts of these sizes."""
        return cls(np.concatenate(([0], np.cumsum(sizes))).astype(np.int64))

    @property
    def size(self) -> int:
        return int(self.starts[-1])

    def check(self, ids: Ids) -> None:
        """Raise an error unless all ids are numbers of rows."""
        if len(ids) and not 0 <= np.min(ids) <= np.max(ids) < self.size:
            raise IndexError(f"row ids must lie between 0 and {self.size - 1}, got {np.min(ids)} to {np.max(ids)}")

    def split(self, ids: Ids) -> Iterator[tuple[int, Ids, Ids]]:
        """Yield, for each part that has some of these rows: its number, their places in `ids`, their own numbers."""
        parts = np.searchsorted(self.starts, ids, side="right") - 1
        for part in np.unique(parts).tolist():
            places = np.flatnonzero(parts == part)
            yield part, places, np.asarray(ids)[places] - self.starts[part]

    def inside(self, part: int, ids: Ids | None) -> Ids | None:
        """The own numbers of the rows of one part that are among these; all of them for None."""
        if ids is None:
            return None
        start, stop = self.starts[part], self.starts[part + 1]
        return np.asarray(ids[(ids >= start) & (ids < stop)] - start)


def join_top(found: Sequence[tuple[Ids, Vector]], numbering: Numbering, m: int) -> tuple[Ids, Vector]:
    """The m best rows for each direction: the best among the best of every part. Ties go to the lower number."""
    starts = numbering.starts[:-1]
    ids = np.concatenate([ids + start for (ids, _), start in zip(found, starts, strict=True)], axis=1)
    scores = np.concatenate([scores for _, scores in found], axis=1)
    order = np.argsort(-scores, axis=1, kind="stable")[:, :m]
    return np.take_along_axis(ids, order, axis=1), np.take_along_axis(scores, order, axis=1)


def join_above(answers: Sequence[Sequence[Reached]], numbering: Numbering) -> list[Reached]:
    """What all parts find together, for each direction; the ceiling is the highest of theirs."""
    shifted = [
        [Reached(one.ids + start, one.at_most, one.ceiling) for one in answer]
        for answer, start in zip(answers, numbering.starts[:-1], strict=True)
    ]
    return [
        Reached(
            np.concatenate([one.ids for one in column]),
            np.concatenate([one.at_most for one in column]),
            max(one.ceiling for one in column),
        )
        for column in zip(*shifted, strict=True)
    ]


def join_rows(
    ids: Ids, numbering: Numbering, dim: int, fetch: Callable[[list[tuple[int, Ids]]], Sequence[Array]]
) -> Array:
    """Rows in the order of the ids. `fetch` gets the parts that have some, with their own numbers of them."""
    numbering.check(ids)
    split = list(numbering.split(ids))
    answers = fetch([(part, own) for part, _, own in split])
    out = np.empty((len(ids), dim), dtype=answers[0].dtype if answers else np.float32)
    for (_, places, _), rows in zip(split, answers, strict=True):
        out[places] = rows
    return out


def join_means(means: Sequence[Vector], numbering: Numbering) -> Vector:
    """The mean of all rows, from the means of the parts."""
    sizes = np.diff(numbering.starts)
    total: Vector = np.sum([mean * size for mean, size in zip(means, sizes, strict=True)], axis=0)
    return total / numbering.size
