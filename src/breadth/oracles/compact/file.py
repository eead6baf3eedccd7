"""The file behind `CompactOracle`: a checked header, then the rows, codes, scales, residual lengths and the mean row.

bytes 0-7       magic
bytes 8-15      length of the header (little endian)
then            header: JSON with version, counts, dtype, and offset, size and CRC-32 of every section
then            CRC-32 of the header
sections        each at a multiple of 4096 bytes
"""

from __future__ import annotations

import json
import mmap
import os
import shutil
import tempfile
import uuid
import weakref
import zlib
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from breadth import kernels
from breadth.arrays import Array, Ids, Vector
from breadth.errors import InputError
from breadth.oracles import sweep

_MAGIC = b"BREADTH1"
_VERSION = 1
_ALIGN = 4096
_CHUNK = 1 << 24
_ROWS_AT_ONCE = 512


@dataclass(frozen=True, eq=False)
class Coded:
    """Codes, scales and residual lengths of some rows; the sum of these rows and how far ‖e‖² is from 1 among them."""

    arrays: tuple[npt.NDArray[np.int8], npt.NDArray[np.float32], npt.NDArray[np.float32]]
    total: Vector
    length_error: float


@dataclass
class CompactArrays:
    """Everything a compact oracle holds, in memory or mapped."""

    codes: npt.NDArray[np.int8]
    scales: npt.NDArray[np.float32]
    errors: npt.NDArray[np.float32]
    rows: Array
    total: Vector
    length_error: float = 0.0
    file: int | None = None
    rows_at: int = 0

    @classmethod
    def empty(cls, rows: Array) -> CompactArrays:
        """Room for the codes of these rows, which are kept as they are."""
        n, d = rows.shape
        floats = np.empty((2, n), dtype=np.float32)
        return cls(np.empty((n, d), dtype=np.int8), floats[0], floats[1], rows, np.zeros(d))

    def __getstate__(self) -> dict[str, Any]:
        """Pickled without its file, whose number means nothing elsewhere: the rows go along."""
        return {**self.__dict__, "file": None}

    @property
    def mean(self) -> Vector:
        mean: Vector = self.total / len(self.codes)
        return mean

    def note(self, coded: Coded) -> None:
        """Some rows more: their sum and their lengths."""
        self.total = self.total + coded.total
        self.length_error = max(self.length_error, coded.length_error)

    def coded(self, part: slice | Ids) -> Coded:
        """The codes of some rows (their sum is not known any more)."""
        nothing = np.zeros(self.codes.shape[1])
        return Coded((self.codes[part], self.scales[part], self.errors[part]), nothing, self.length_error)

    def fetch(self, ids: Ids) -> npt.NDArray[np.float32]:
        """Full-precision rows. From a file they are read, not mapped: they would count as memory, page by page."""
        if len(ids) and not 0 <= ids.min() <= ids.max() < len(self.codes):
            raise IndexError(f"row ids must lie between 0 and {len(self.codes) - 1}")
        out = np.empty((len(ids), self.codes.shape[1]), dtype=np.float32)
        if self.file is None or not hasattr(os, "preadv"):
            out[:] = self.rows[ids]
            return out
        kept = out if self.rows.dtype == np.float32 else np.empty(out.shape, dtype=self.rows.dtype)
        if not _read(self.file, ids, self.rows_at, kept):
            raise InputError("the file of this compact oracle has become shorter since it was opened")
        if kept is not out:
            out[:] = kept
        return out


def _read(file: int, ids: Ids, base: int, out: npt.NDArray[Any]) -> bool:
    """Rows of a file that begin at `base`, into `out`; whether all of them were there."""
    complete = True

    def visit(start: int, stop: int) -> None:
        nonlocal complete
        if not kernels.current().read_rows(file, ids[start:stop], base, out[start:stop]):
            complete = False

    sweep.sweep(len(ids), _ROWS_AT_ONCE, visit, least=_ROWS_AT_ONCE)
    return complete


@dataclass
class _Section:
    """A part of the file as it is being written."""

    file: IO[bytes]
    dtype: np.dtype[Any]
    size: int = 0
    crc: int = 0

    def write(self, array: npt.NDArray[Any]) -> None:
        piece = np.ascontiguousarray(array, dtype=self.dtype).tobytes()
        self.crc = zlib.crc32(piece, self.crc)
        self.file.write(piece)
        self.size += len(piece)


@dataclass
class Writer:
    """Takes rows with their codes one chunk after the other. Use it in a `with`, and `finish` it.

    It writes under a temporary name, makes sure everything is on the disk, and renames: no half-written file ever has
    the name. Codes wait in a file of their own, since they stand after the rows.
    """

    path: str | PathLike[str]
    _sections: dict[str, _Section] = field(default_factory=dict)

    def __enter__(self) -> Writer:
        self._target = Path(self.path)
        if not self._target.parent.is_dir():
            raise InputError(f"path {str(self._target)!r}: there is no folder {str(self._target.parent)!r}")
        self._temporary = self._target.with_name(f".{self._target.name}.{uuid.uuid4().hex}.partial")
        self._file = self._temporary.open("wb")
        self._file.seek(_ALIGN)
        self._count, self._dim = 0, 0
        self._total: Vector = np.zeros(1)
        self._length_error = 0.0
        return self

    def add(self, rows: Array, coded: Coded) -> None:
        """Some rows more."""
        if not self._sections:
            self._begin(rows)
        elif rows.shape[1] != self._dim:
            raise InputError(f"chunks must all have {self._dim} columns, as the first; got one with {rows.shape[1]}")
        self._sections["rows"].write(rows)
        arrays: tuple[npt.NDArray[Any], ...] = coded.arrays
        for name, array in zip(("codes", "scales", "errors"), arrays, strict=True):
            self._sections[name].write(array)
        self._total = self._total + coded.total
        self._length_error = max(self._length_error, coded.length_error)
        self._count += len(rows)

    def finish(self, total: Vector | None = None) -> None:
        """All rows are in. `total`: their sum, if it is known already."""
        total = self._total if total is None else total
        self._sections["total"] = _Section(self._spool(), np.dtype(np.float64))
        self._sections["total"].write(total)
        layout: dict[str, Any] = {"version": _VERSION, "rows": self._count, "dim": self._dim}
        layout |= {"dtype": self._sections["rows"].dtype.str, "length_error": self._length_error, "sections": {}}
        offset = _ALIGN
        for name, section in self._sections.items():
            layout["sections"][name] = {"offset": offset, "size": section.size, "crc": section.crc}
            if section.file is not self._file:
                section.file.seek(0)
                self._file.seek(offset)
                shutil.copyfileobj(section.file, self._file, _CHUNK)
            offset = _aligned(offset + section.size)
        self._file.truncate(offset)
        self._file.seek(0)
        self._file.write(_header(layout))
        self._file.flush()
        os.fsync(self._file.fileno())
        self._temporary.replace(self._target)
        if hasattr(os, "O_DIRECTORY"):  # the name too must be on the disk
            folder = os.open(self._target.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            for section in self._sections.values():
                section.file.close()
            self._file.close()
        finally:
            self._temporary.unlink(missing_ok=True)

    def _spool(self) -> IO[bytes]:
        """A nameless file beside the target, gone when it is closed."""
        return tempfile.TemporaryFile(dir=self._target.parent)

    def _begin(self, rows: Array) -> None:
        self._dim = rows.shape[1]
        self._sections["rows"] = _Section(self._file, kept_as(rows))
        for name, dtype in (("codes", np.int8), ("scales", np.float32), ("errors", np.float32)):
            self._sections[name] = _Section(self._spool(), np.dtype(dtype))


def kept_as(rows: Array) -> np.dtype[Any]:
    """The precision in which a file keeps such rows."""
    return np.dtype(np.float16 if rows.dtype == np.float16 else np.float32)


def read(path: str | PathLike[str], verify: bool) -> CompactArrays:
    """Map the sections of a file; refuse it with the reason if anything is wrong."""
    source = Path(path)
    layout = _checked_layout(source)
    file = os.open(source, os.O_RDONLY)
    try:
        arrays = _mapped(file, source, layout, verify)
    except BaseException:
        os.close(file)
        raise
    weakref.finalize(arrays, os.close, file)
    return arrays


def _mapped(file: int, source: Path, layout: dict[str, Any], verify: bool) -> CompactArrays:
    n, d = layout["rows"], layout["dim"]
    shapes: dict[str, tuple[Any, tuple[int, ...]]] = {
        "codes": (np.int8, (n, d)),
        "scales": (np.float32, (n,)),
        "errors": (np.float32, (n,)),
        "total": (np.float64, (d,)),
        "rows": (np.dtype(layout["dtype"]), (n, d)),
    }
    mapped = mmap.mmap(file, 0, access=mmap.ACCESS_READ)
    arrays: dict[str, Any] = {}
    for name, (dtype, shape) in shapes.items():
        entry = layout["sections"][name]
        arrays[name] = np.frombuffer(mapped, dtype, int(np.prod(shape)), entry["offset"]).reshape(shape)
        if (verify or name == "total") and _crc(arrays[name]) != entry["crc"]:
            raise InputError(
                f"{source}: the section {name!r} does not match its checksum; the file is damaged, build it anew"
            )
    rows_at = layout["sections"]["rows"]["offset"]
    return CompactArrays(**arrays, length_error=layout["length_error"], file=file, rows_at=rows_at)


def _aligned(size: int) -> int:
    return -(-size // _ALIGN) * _ALIGN


def _header(layout: dict[str, Any]) -> bytes:
    text = json.dumps(layout).encode()
    text += b" " * (_ALIGN - 20 - len(text))
    return _MAGIC + len(text).to_bytes(8, "little") + text + zlib.crc32(text).to_bytes(4, "little")


def _checked_layout(source: Path) -> dict[str, Any]:
    with source.open("rb") as file:
        head = file.read(_ALIGN)
        size = file.seek(0, os.SEEK_END)
    if head[:8] != _MAGIC:
        raise InputError(f"{source} is not a compact index: it does not begin with {_MAGIC!r}")
    text = head[16 : 16 + int.from_bytes(head[8:16], "little")]
    if len(head) < _ALIGN or zlib.crc32(text) != int.from_bytes(head[-4:], "little"):
        raise InputError(f"{source}: the header is damaged or incomplete; build the file anew")
    layout: dict[str, Any] = json.loads(text)
    if layout["version"] != _VERSION:
        raise InputError(f"{source} has format version {layout['version']}, this program reads version {_VERSION}")
    needed = max(_aligned(entry["offset"] + entry["size"]) for entry in layout["sections"].values())
    if size < needed:
        raise InputError(f"{source} is truncated: {size:,} of {needed:,} bytes; build it anew")
    return layout


def _crc(array: npt.NDArray[Any]) -> int:
    crc = 0
    step = max(1, _CHUNK // max(1, array[:1].nbytes))
    for start in range(0, len(array), step):
        crc = zlib.crc32(np.ascontiguousarray(array[start : start + step]).tobytes(), crc)
    return crc
