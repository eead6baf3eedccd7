"""The file behind `CompactOracle`: a checked header, then codes, scales, residual lengths, the mean row and the rows.

bytes 0-7       magic
bytes 8-15      length of the header (little endian)
then            header: JSON with version, counts, dtype, and offset, size and CRC-32 of every section
then            CRC-32 of the header
sections        each at a multiple of 4096 bytes
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from breadth.errors import InputError
from breadth.problem import Array, Vector

_MAGIC = b"BREADTH1"
_VERSION = 1
_ALIGN = 4096
_CHUNK = 1 << 24


@dataclass
class CompactArrays:
    """Everything a compact oracle holds, in memory or mapped."""

    codes: npt.NDArray[np.int8]
    scales: npt.NDArray[np.float32]
    errors: npt.NDArray[np.float32]
    rows: Array
    mean: Vector
    length_error: float
    total: Vector

    @classmethod
    def empty(cls, rows: Array) -> CompactArrays:
        """Room for the codes of these rows, which are kept as they are."""
        n, d = rows.shape
        floats = np.empty((2, n), dtype=np.float32)
        return cls(np.empty((n, d), dtype=np.int8), floats[0], floats[1], rows, np.zeros(d), 0.0, np.zeros(d))

    def finish(self) -> None:
        """All rows are in: settle the mean."""
        self.mean = self.total / len(self.codes)
        self.mean.flags.writeable = False


def write(path: str | PathLike[str], arrays: CompactArrays, progress: Callable[[int, int], None] | None) -> None:
    """Write under a temporary name, make sure it is on the disk, then rename: no half-written file has the name."""
    target = Path(path)
    sections = {
        "codes": arrays.codes,
        "scales": arrays.scales,
        "errors": arrays.errors,
        "mean": arrays.mean,
        "rows": arrays.rows,
    }
    temporary = target.with_name(f".{target.name}.{os.getpid()}.partial")
    try:
        with temporary.open("wb") as file:
            layout = _layout(arrays, sections)
            file.write(_header(layout))  # with checksums still to come: same length
            total = sum(section["size"] for section in layout["sections"].values())
            done = 0
            for name, array in sections.items():
                entry = layout["sections"][name]
                file.seek(entry["offset"])
                for piece in _pieces(array):
                    entry["crc"] = zlib.crc32(piece, entry["crc"])
                    file.write(piece)
                    done += len(piece)
                    if progress is not None:
                        progress(done, total)
            file.seek(0)
            file.write(_header(layout))
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
    folder = os.open(target.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def read(path: str | PathLike[str], verify: bool) -> CompactArrays:
    """Map the sections of a file; refuse it with the reason if anything is wrong."""
    source = Path(path)
    layout = _checked_layout(source)
    n, d = layout["rows"], layout["dim"]
    shapes = {
        "codes": (np.int8, (n, d)),
        "scales": (np.float32, (n,)),
        "errors": (np.float32, (n,)),
        "mean": (np.float64, (d,)),
        "rows": (np.dtype(layout["dtype"]), (n, d)),
    }
    mapped: dict[str, Any] = {}
    for name, (dtype, shape) in shapes.items():
        entry = layout["sections"][name]
        mapped[name] = np.asarray(np.memmap(source, dtype=dtype, mode="r", offset=entry["offset"], shape=shape))
        if (verify or name == "mean") and _crc(mapped[name]) != entry["crc"]:
            raise InputError(
                f"{source}: the section {name!r} does not match its checksum; the file is damaged, build it anew"
            )
    return CompactArrays(**mapped, length_error=layout["length_error"], total=np.zeros(d))


def _layout(arrays: CompactArrays, sections: dict[str, Any]) -> dict[str, Any]:
    offset = _ALIGN
    entries = {}
    for name, array in sections.items():
        entries[name] = {"offset": offset, "size": int(array.nbytes), "crc": 0}
        offset += -(-int(array.nbytes) // _ALIGN) * _ALIGN
    n, d = arrays.codes.shape
    dtype = np.dtype(arrays.rows.dtype).str
    return {
        "version": _VERSION,
        "rows": n,
        "dim": d,
        "dtype": dtype,
        "length_error": arrays.length_error,
        "sections": entries,
    }


def _header(layout: dict[str, Any]) -> bytes:
    text = json.dumps(layout).encode()
    text += b" " * (_ALIGN - 20 - len(text))  # a fixed length: checksums are filled in at the end
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
    needed = max(entry["offset"] + entry["size"] for entry in layout["sections"].values())
    if size < needed:
        raise InputError(f"{source} is truncated: {size:,} of {needed:,} bytes; build it anew")
    return layout


def _pieces(array: Any) -> Any:
    """The bytes of an array, a few megabytes at a time."""
    flat = array.reshape(len(array), -1) if array.ndim > 1 else array
    step = max(1, _CHUNK // max(1, flat[:1].nbytes))
    for start in range(0, len(flat), step):
        yield np.ascontiguousarray(flat[start : start + step]).tobytes()


def _crc(array: Any) -> int:
    crc = 0
    for piece in _pieces(array):
        crc = zlib.crc32(piece, crc)
    return crc
