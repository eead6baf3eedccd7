"""What a compact oracle that was built in memory holds."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from breadth.arrays import Array, Ids, Vector
from breadth.oracles.compact.codes import NO_ROWS, CodedRows, RowSummary

Floats = npt.NDArray[np.float32]


class CompactArrays(Protocol):
    """Everything that a compact oracle holds, in memory or in a file.

    codes, scales, errors   the codes of the rows, see `CodedRows`; call `load` before you read some of them
    summary                 the sum of all rows, and how far they are from unit length
    """

    @property
    def codes(self) -> npt.NDArray[np.int8]: ...
    @property
    def scales(self) -> Floats: ...
    @property
    def errors(self) -> Floats: ...
    @property
    def summary(self) -> RowSummary: ...

    def load(self, part: slice | Ids) -> None:
        """Make sure that the codes of these rows are in memory, and undamaged."""

    def stored_rows(self, ids: Ids) -> Array:
        """Return rows in the precision in which they are kept."""


class MemoryArrays:
    """Codes in memory, beside the rows that they were made from."""

    def __init__(self, rows: Array) -> None:
        n, d = rows.shape
        self.codes = np.empty((n, d), dtype=np.int8)
        self.scales, self.errors = np.empty((2, n), dtype=np.float32)
        self.summary = NO_ROWS
        self._rows = rows

    def fill(self, start: int, coded: CodedRows, summary: RowSummary) -> None:
        """Take in the codes and the summary of rows start, start + 1, …"""
        part = slice(start, start + len(coded.codes))
        self.codes[part], self.scales[part], self.errors[part] = coded.codes, coded.scales, coded.errors
        self.summary = self.summary.merge(summary)

    def load(self, part: slice | Ids) -> None:
        """Do nothing: the codes are here."""

    def stored_rows(self, ids: Ids) -> Array:
        """Return rows as they were given."""
        return np.asarray(self._rows[ids])


def codes_of(arrays: CompactArrays, part: slice | Ids) -> CodedRows:
    """Return the codes of some rows."""
    arrays.load(part)
    return CodedRows(arrays.codes[part], arrays.scales[part], arrays.errors[part])


def fetch(arrays: CompactArrays, ids: Ids) -> Floats:
    """Return rows as float32."""
    if len(ids) and not 0 <= ids.min() <= ids.max() < len(arrays.codes):
        raise IndexError(f"row ids must lie between 0 and {len(arrays.codes) - 1}, got {ids.min()} to {ids.max()}")
    return np.asarray(arrays.stored_rows(ids), dtype=np.float32)


def mean_of(arrays: CompactArrays) -> Vector:
    """Return the mean row."""
    mean: Vector = arrays.summary.total / len(arrays.codes)
    return mean
