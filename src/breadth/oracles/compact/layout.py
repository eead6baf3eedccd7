"""The format of a compact file: a header that checks itself, then the sections.

bytes 0-7         magic number
bytes 8-15        length of the JSON text, little endian
then              JSON text: version, counts, dtype, and the offset, size and CRC-32 of every section
bytes 4092-4095   CRC-32 of the JSON text
from 4096         the sections, each at a multiple of 4096 bytes: rows, codes, scales, errors, total
"""

from __future__ import annotations

import json
import os
import zlib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from breadth.errors import InputError

_MAGIC = b"BREADTH1"
_VERSION = 1
_ALIGN = 4096

FIRST_SECTION = _ALIGN
"""Where the first section begins."""


@dataclass(frozen=True)
class Section:
    """Where a section lies in the file, and its checksum."""

    offset: int
    size: int
    crc: int

    @property
    def end(self) -> int:
        """Where the next section may begin."""
        return -(-(self.offset + self.size) // _ALIGN) * _ALIGN


@dataclass(frozen=True)
class Layout:
    """What the header says."""

    rows: int
    dim: int
    dtype: str
    length_error: float
    sections: dict[str, Section]

    @property
    def size(self) -> int:
        """The bytes of a complete file."""
        return max(section.end for section in self.sections.values())

    def header(self) -> bytes:
        """Return the first 4096 bytes of the file."""
        text = json.dumps({"version": _VERSION, **asdict(self)}).encode()
        text += b" " * (_ALIGN - 20 - len(text))
        return _MAGIC + len(text).to_bytes(8, "little") + text + zlib.crc32(text).to_bytes(4, "little")

    def shapes(self) -> dict[str, tuple[np.dtype[Any], tuple[int, ...]]]:
        """Return the type and the shape of every section."""
        return {
            "codes": (np.dtype(np.int8), (self.rows, self.dim)),
            "scales": (np.dtype(np.float32), (self.rows,)),
            "errors": (np.dtype(np.float32), (self.rows,)),
            "total": (np.dtype(np.float64), (self.dim,)),
            "rows": (np.dtype(self.dtype), (self.rows, self.dim)),
        }


def read_layout(source: Path) -> Layout:
    """Read the header of a file. Refuse a file that is damaged, truncated, or of another kind or version."""
    with source.open("rb") as file:
        head = file.read(_ALIGN)
        size = file.seek(0, os.SEEK_END)
    if head[:8] != _MAGIC:
        raise InputError(f"{source} is not a compact index: it does not begin with {_MAGIC!r}")
    text = head[16 : 16 + int.from_bytes(head[8:16], "little")]
    if len(head) < _ALIGN or zlib.crc32(text) != int.from_bytes(head[-4:], "little"):
        raise InputError(f"{source}: the header is damaged or incomplete; build the file again")
    fields: dict[str, Any] = json.loads(text)
    version = fields.pop("version")
    if version != _VERSION:
        raise InputError(
            f"{source} has format version {version}, but this program reads version {_VERSION}; build the file again"
        )
    fields["sections"] = {name: Section(**entry) for name, entry in fields["sections"].items()}
    layout = Layout(**fields)
    if size < layout.size:
        raise InputError(f"{source} is truncated: it has {size:,} of {layout.size:,} bytes; build the file again")
    return layout
