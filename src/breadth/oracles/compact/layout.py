"""The format of a compact file: a header that checks itself, then the sections, each with checksums.

bytes 0-7         magic number
bytes 8-15        length of the JSON text, little endian
then              JSON text: the fields of `Layout`
bytes 4092-4095   CRC-32 of everything before
from 4096         the sections, each at a multiple of 4096 bytes, in the order of `Layout.shapes`

Where a section lies follows from the numbers of rows, columns and rows in a block. What may be read in part has
checksums in parts: `checks` holds the CRC-32 of every row, `blocks` that of every block of codes, scales, errors and
checks. The header holds the CRC-32 of `total` and of `blocks`. So each byte that is used is covered, and the digest of
the header stands for the whole file.
"""

from __future__ import annotations

import hashlib
import json
import math
import zlib
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np

from breadth.checks import UNIT_TOLERANCE
from breadth.errors import DamagedError, InputError

_MAGIC, _OLD_MAGIC = b"BREADTH2", b"BREADTH1"
_ALIGN = 4096
_BLOCK_BYTES = 1 << 16
_MOST_ROWS, _MOST_COLUMNS = 1 << 40, 1 << 24
_LARGEST_ERROR = 4.0 * UNIT_TOLERANCE

HEADER = _ALIGN
"""The bytes of the header; the first section begins here."""
BLOCKED = ("codes", "scales", "errors", "checks")
"""The sections that are read block by block, in the order of the columns of `blocks`."""
LABEL_LENGTH = 500
"""The most characters of a label."""


@dataclass(frozen=True)
class Section:
    """Where a section lies in the file, and what it holds."""

    offset: int
    dtype: np.dtype[Any]
    shape: tuple[int, ...]

    @property
    def width(self) -> int:
        """The bytes of one entry along the first axis."""
        return int(self.dtype.itemsize * math.prod(self.shape[1:]))

    @property
    def size(self) -> int:
        """The bytes of the section."""
        return self.width * self.shape[0]

    @property
    def end(self) -> int:
        """Where the next section begins."""
        return -(-(self.offset + self.size) // _ALIGN) * _ALIGN


@dataclass(frozen=True)
class Layout:
    """What the header says.

    rows, dim, dtype   how many rows of how many columns, kept in which type
    block              the rows of a block
    length_error       the largest |‖e_i‖² - 1| of all rows
    label              what the owner of the file wrote into it: which file of which collection it is
    total_crc, blocks_crc   the checksums of the sections `total` and `blocks`
    """

    rows: int
    dim: int
    dtype: str
    block: int
    length_error: float
    label: str
    total_crc: int
    blocks_crc: int

    @property
    def block_count(self) -> int:
        """The number of blocks."""
        return -(-self.rows // self.block)

    @property
    def size(self) -> int:
        """The bytes of a complete file."""
        return max(section.end for section in self.sections().values())

    def sections(self) -> dict[str, Section]:
        """Return where every section lies."""
        found: dict[str, Section] = {}
        offset = HEADER
        for name, (dtype, shape) in self.shapes().items():
            found[name] = Section(offset, dtype, shape)
            offset = found[name].end
        return found

    def shapes(self) -> dict[str, tuple[np.dtype[Any], tuple[int, ...]]]:
        """Return the type and the shape of every section, in the order of the file."""
        return {
            "rows": (np.dtype(self.dtype), (self.rows, self.dim)),
            "codes": (np.dtype(np.int8), (self.rows, self.dim)),
            "scales": (np.dtype("<f4"), (self.rows,)),
            "errors": (np.dtype("<f4"), (self.rows,)),
            "checks": (np.dtype("<u4"), (self.rows,)),
            "total": (np.dtype("<f8"), (self.dim,)),
            "blocks": (np.dtype("<u4"), (self.block_count, len(BLOCKED))),
        }

    def header(self) -> bytes:
        """Return the first bytes of the file."""
        text = json.dumps({"version": 2, **asdict(self)}).encode()
        head = _MAGIC + len(text).to_bytes(8, "little") + text
        head += b" " * (_ALIGN - 4 - len(head))
        return head + zlib.crc32(head).to_bytes(4, "little")


def choose_block(dim: int) -> int:
    """How many rows make a block: about 64 KiB of codes, a power of two."""
    return 1 << max(4, (_BLOCK_BYTES // max(1, dim)).bit_length() - 1)


def digest(head: bytes) -> str:
    """What tells a file from all others: the digest of its header, which covers the checksums of everything else."""
    return hashlib.sha256(head).hexdigest()


def read_layout(head: bytes, size: int, name: str) -> Layout:
    """Read the header of a file of this size. Refuse what is damaged, truncated, or of another kind or version."""
    if head[:8] == _OLD_MAGIC:
        raise InputError(
            f"{name} has format version 1, which has no checksums for its parts, but this program reads version 2; "
            "build the file again: CompactOracle.build(vectors).save(path)"
        )
    if head[:8] != _MAGIC:
        raise InputError(f"{name} is not a compact index: it does not begin with {_MAGIC!r}")
    length = int.from_bytes(head[8:16], "little")
    if len(head) < _ALIGN or zlib.crc32(head[:-4]) != int.from_bytes(head[-4:], "little"):
        raise DamagedError(f"{name}: the header is damaged or incomplete; build the file again")
    try:
        stated = json.loads(head[16 : 16 + length])
        layout = _check_fields(stated)
    except (ValueError, TypeError, RecursionError):
        raise DamagedError(f"{name}: the header says what no header can say; build the file again") from None
    if size != layout.size:
        what = "is truncated" if size < layout.size else "is longer than its header says"
        raise DamagedError(f"{name} {what}: it has {size:,} of {layout.size:,} bytes; build the file again")
    return layout


def _check_fields(stated: Any) -> Layout:
    """Return the layout if its fields are possible. Any other header, also one with a right checksum, is refused."""
    if not isinstance(stated, dict) or stated.pop("version", None) != 2:
        raise ValueError
    if set(stated) != {field.name for field in fields(Layout)}:
        raise ValueError
    layout = Layout(**stated)
    wholes = (layout.rows, layout.dim, layout.block, layout.total_crc, layout.blocks_crc)
    if not all(type(number) is int for number in wholes):
        raise TypeError
    possible = (
        1 <= layout.rows <= _MOST_ROWS
        and 1 <= layout.dim <= _MOST_COLUMNS
        and layout.block == choose_block(layout.dim)
        and layout.dtype in ("<f4", "<f2")
        and isinstance(layout.length_error, float)
        and 0.0 <= layout.length_error <= _LARGEST_ERROR
        and isinstance(layout.label, str)
    )
    if not possible:
        raise ValueError
    return layout
