"""What a compact oracle holds, in memory or mapped from a file, and how a file is opened."""

from __future__ import annotations

import mmap
import os
import weakref
import zlib
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from breadth import kernels
from breadth.arrays import Array, Ids, Vector
from breadth.errors import InputError
from breadth.oracles import sweep
from breadth.oracles.compact.codes import NO_ROWS, CodedRows, RowSummary
from breadth.oracles.compact.layout import Layout, read_layout

_CHECK_BYTES = 1 << 24
_ROWS_AT_ONCE = 512


@dataclass
class CompactArrays:
    """Everything that a compact oracle holds.

    codes, scales, errors   the codes of the rows; see `CodedRows`
    rows                    the rows in full precision
    summary                 the sum of all rows, and how far they are from unit length
    file, rows_at           the open file, if there is one, and where the rows begin in it
    """

    codes: npt.NDArray[np.int8]
    scales: npt.NDArray[np.float32]
    errors: npt.NDArray[np.float32]
    rows: Array
    summary: RowSummary
    file: int | None = None
    rows_at: int = 0

    @classmethod
    def empty(cls, rows: Array) -> CompactArrays:
        """Make room for the codes of these rows. The rows themselves are not copied."""
        n, d = rows.shape
        floats = np.empty((2, n), dtype=np.float32)
        return cls(np.empty((n, d), dtype=np.int8), floats[0], floats[1], rows, NO_ROWS)

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the rows but not the file, whose number means nothing in another process."""
        return {**self.__dict__, "file": None}

    @property
    def mean(self) -> Vector:
        """The mean row."""
        mean: Vector = self.summary.total / len(self.codes)
        return mean

    def fill(self, start: int, coded: CodedRows, summary: RowSummary) -> None:
        """Take in the codes and the summary of rows start, start + 1, …"""
        part = slice(start, start + len(coded.codes))
        self.codes[part], self.scales[part], self.errors[part] = coded.codes, coded.scales, coded.errors
        self.summary = self.summary.merge(summary)

    def codes_of(self, part: slice | Ids) -> CodedRows:
        """Return the codes of some rows."""
        return CodedRows(self.codes[part], self.scales[part], self.errors[part])

    def fetch(self, ids: Ids) -> npt.NDArray[np.float32]:
        """Return rows in full precision.

        Rows of a file are read, not mapped: mapped pages would count as memory of this process.
        """
        if len(ids) and not 0 <= ids.min() <= ids.max() < len(self.codes):
            raise IndexError(f"row ids must lie between 0 and {len(self.codes) - 1}, got {ids.min()} to {ids.max()}")
        out = np.empty((len(ids), self.codes.shape[1]), dtype=np.float32)
        if self.file is None or not hasattr(os, "preadv"):
            out[:] = self.rows[ids]
            return out
        stored = out if self.rows.dtype == np.float32 else np.empty(out.shape, dtype=self.rows.dtype)
        if not _read(self.file, ids, self.rows_at, stored):
            raise InputError("the file of this compact oracle has become shorter since it was opened; build it again")
        if stored is not out:
            out[:] = stored
        return out


def _read(file: int, ids: Ids, base: int, out: npt.NDArray[Any]) -> bool:
    """Read rows of a file that begin at `base` into `out`; return whether all of them were there."""
    complete = True

    def visit(start: int, stop: int) -> None:
        nonlocal complete
        if not kernels.current().read_rows(file, ids[start:stop], base, out[start:stop]):
            complete = False

    sweep.sweep(len(ids), _ROWS_AT_ONCE, visit, least=_ROWS_AT_ONCE)
    return complete


def open_arrays(path: str | PathLike[str], verify: bool) -> CompactArrays:
    """Map the sections of a file into memory. `verify` also compares the checksums of all of them."""
    source = Path(path)
    layout = read_layout(source)
    file = os.open(source, os.O_RDONLY)
    try:
        arrays = _map_sections(file, source, layout, verify)
    except BaseException:
        os.close(file)
        raise
    weakref.finalize(arrays, os.close, file)
    return arrays


def _map_sections(file: int, source: Path, layout: Layout, verify: bool) -> CompactArrays:
    mapped = mmap.mmap(file, 0, access=mmap.ACCESS_READ)
    arrays: dict[str, Any] = {}
    for name, (dtype, shape) in layout.shapes().items():
        section = layout.sections[name]
        arrays[name] = np.frombuffer(mapped, dtype, int(np.prod(shape)), section.offset).reshape(shape)
        if (verify or name == "total") and _checksum(arrays[name]) != section.crc:
            raise InputError(
                f"{source}: the section {name!r} does not match its checksum, so the file is damaged; build it again"
            )
    summary = RowSummary(arrays.pop("total"), layout.length_error)
    return CompactArrays(**arrays, summary=summary, file=file, rows_at=layout.sections["rows"].offset)


def _checksum(array: npt.NDArray[Any]) -> int:
    crc = 0
    step = max(1, _CHECK_BYTES // max(1, array[:1].nbytes))
    for start in range(0, len(array), step):
        crc = zlib.crc32(np.ascontiguousarray(array[start : start + step]).tobytes(), crc)
    return crc
