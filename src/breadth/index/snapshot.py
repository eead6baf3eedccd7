"""The vectors of one committed state of an index. A snapshot never changes; the next state has its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from breadth.arrays import Ids
from breadth.index.store import PendingRows, Segment, State, View
from breadth.oracles.compact import CompactOracle
from breadth.oracles.segmented import SegmentedOracle

OpenFile = Callable[[Segment], CompactOracle]


@dataclass(frozen=True, eq=False)
class Part:
    """Some rows: all that a file or the pending rows hold, and which of them are still there."""

    numbers: Ids
    whole: CompactOracle
    live: Ids | None
    """The places of the rows that are still there; None if all are."""

    @property
    def live_numbers(self) -> Ids:
        """The numbers of the rows that are still there."""
        return self.numbers if self.live is None else self.numbers[self.live]

    def oracle(self) -> CompactOracle:
        """The rows that are still there."""
        return self.whole if self.live is None else self.whole.restricted(self.live)

    def restricted(self, numbers: Ids) -> CompactOracle:
        """The rows with these numbers, which increase; numbers of other parts are left out."""
        low, high = np.searchsorted(numbers, [self.numbers[0], self.numbers[-1] + 1])
        wanted = numbers[low:high]
        if len(wanted) == len(self.numbers):
            return self.whole
        return self.whole.restricted(np.searchsorted(self.numbers, wanted))


@dataclass(frozen=True, eq=False)
class Snapshot:
    """Every row of one state. `segments`, `pending`, `gone` and `place` are what the next snapshot is made from."""

    state: State
    dim: int
    segments: tuple[tuple[Segment, CompactOracle], ...]
    pending: PendingRows
    gone: Ids
    place: int
    parts: tuple[Part, ...] = field(init=False)
    oracle: SegmentedOracle = field(init=False)

    def __post_init__(self) -> None:
        parts = [_make_part(segment.numbers, whole, self.gone) for segment, whole in self.segments]
        if len(self.pending.numbers):
            kept = np.flatnonzero(~np.isin(self.pending.numbers, self.gone))
            if len(kept):
                whole = CompactOracle.build(self.pending.vectors[kept])
                parts.append(Part(self.pending.numbers[kept], whole, None))
        some = tuple(part for part in parts if part.live is None or len(part.live))
        numbers = np.concatenate([np.empty(0, dtype=np.int64), *(part.live_numbers for part in some)])
        object.__setattr__(self, "parts", some)
        object.__setattr__(self, "oracle", SegmentedOracle([part.oracle() for part in some], numbers))

    def restricted(self, numbers: Ids) -> SegmentedOracle:
        """The rows with these numbers, which must be there and increase."""
        if len(numbers) == self.oracle.size:
            return self.oracle
        return SegmentedOracle([part.restricted(numbers) for part in self.parts], numbers)


def take_snapshot(view: View, state: State, dim: int, open_file: OpenFile) -> Snapshot:
    """Read everything."""
    gone, place = view.deleted()
    segments = tuple((segment, open_file(segment)) for segment in view.segments())
    return Snapshot(state, dim, segments, view.pending(dim), np.sort(gone), place)


def advance(before: Snapshot, view: View, state: State) -> Snapshot:
    """Read what has changed since a snapshot of the same epoch."""
    gone, place = view.deleted(before.place)
    old = before.pending
    new = view.pending(before.dim, int(old.numbers[-1]) if len(old.numbers) else -1)
    pending = PendingRows(np.append(old.numbers, new.numbers), np.vstack((old.vectors, new.vectors)))
    return Snapshot(state, before.dim, before.segments, pending, np.union1d(before.gone, gone), place)


def _make_part(numbers: Ids, whole: CompactOracle, gone: Ids) -> Part:
    low, high = np.searchsorted(gone, [numbers[0], numbers[-1] + 1])
    if low == high:
        return Part(numbers, whole, None)
    live = np.ones(len(numbers), dtype=bool)
    live[np.searchsorted(numbers, gone[low:high])] = False
    return Part(numbers, whole, np.flatnonzero(live))
