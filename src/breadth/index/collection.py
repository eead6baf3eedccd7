"""The documents and vectors of an index as they are on disk: what its reader and its writer share."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np

from breadth.arrays import Ids
from breadth.errors import InputError
from breadth.index.layout import Layout
from breadth.index.store import Segment, Store
from breadth.oracles.compact import CompactOracle
from breadth.oracles.segmented import SegmentedOracle


class Collection:
    """The store with its vector files. It keeps files open, and the oracle of all rows as long as nothing changes.

    `mutex` lets one thread of this process read or write at a time; `Lock` does the same for writing processes.
    """

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.store = Store(layout.store)
        self.mutex = threading.RLock()
        self._files: dict[str, CompactOracle] = {}
        self._whole: tuple[int, SegmentedOracle] | None = None

    def oracle(self, where: str | None = None) -> SegmentedOracle:
        """Open the rows of all documents, or of those for which the condition holds, as one oracle."""
        version = self.store.version()
        if where is None and self._whole is not None and self._whole[0] == version:
            return self._whole[1]
        segments, numbers = self.store.segments(), self.store.numbers(where)
        if len(numbers) == 0:
            what = "is empty" if where is None else f"has no document where {where}"
            raise InputError(f"the index {self.layout.folder} {what}")
        self._close_all_but({segment.file for segment in segments})
        oracle = self.join(segments, numbers)
        if where is None:
            self._whole = (version, oracle)
        return oracle

    def join(self, segments: Sequence[Segment], numbers: Ids) -> SegmentedOracle:
        """Open the rows of these segments that have one of these numbers (in increasing order) as one oracle."""
        return SegmentedOracle([self._part(segment, numbers) for segment in segments], numbers)

    def forget(self) -> None:
        """Read everything anew the next time: something has changed."""
        self._whole = None

    def release(self, file: str) -> None:
        """Let go of a vector file."""
        self._files.pop(file, None)

    def close(self) -> None:
        """Let go of all files."""
        self.store.close()
        self._files.clear()
        self.forget()

    def _part(self, segment: Segment, numbers: Ids) -> CompactOracle:
        if segment.file not in self._files:
            self._files[segment.file] = CompactOracle.open(self.layout.segments / segment.file)
        whole = self._files[segment.file]
        low, high = np.searchsorted(numbers, [segment.start, segment.start + segment.rows])
        if high - low == segment.rows:
            return whole
        return whole.restricted(numbers[low:high] - segment.start)

    def _close_all_but(self, named: set[str]) -> None:
        for file in [file for file in self._files if file not in named]:
            self.release(file)
