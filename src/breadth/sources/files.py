"""Opening files of which nobody knows what they hold: regular files only, and records of bounded size."""

from __future__ import annotations

import codecs
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from breadth.errors import InputError

MOST_BYTES = 1 << 26
"""The longest record that is read, 64 MB: a line, a row of a table, or a text."""
TOO_LONG = f"longer than {MOST_BYTES >> 20} MB"

_KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
    stat.S_IFDIR: "a folder",
}
_OTHER_ENCODINGS = {
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}


def find_kind(path: Path) -> str:
    """What stands at a path, if it is not a file: "a pipe", for example. An empty text if it is a file."""
    mode = path.stat().st_mode
    return "" if stat.S_ISREG(mode) else _KINDS.get(stat.S_IFMT(mode), "not a file")


@contextmanager
def open_file(path: Path) -> Iterator[BinaryIO]:
    """Open a regular file. A pipe or a device would be read without an end."""
    kind = find_kind(path)
    if kind:
        raise InputError(f"{path} is {kind}, not a file; write what it gives into a file first")
    with path.open("rb") as file:
        yield file


@contextmanager
def open_text(path: Path) -> Iterator[BinaryIO]:
    """Open a regular file that should be UTF-8."""
    with open_file(path) as file:
        other = find_other_encoding(file.read(4))
        if other:
            raise InputError(f"{path.name} is {other}; save it as UTF-8")
        file.seek(0)
        yield file


def find_other_encoding(beginning: bytes) -> str:
    """The encoding that a byte-order mark names, if it is not UTF-8; else an empty text."""
    return next((name for mark, name in _OTHER_ENCODINGS.items() if beginning.startswith(mark)), "")


def holds_broken_bytes(text: str) -> bool:
    """Whether some bytes of a text were not UTF-8: they were decoded as surrogates (`errors="surrogateescape"`)."""
    return not text.isascii() and any(0xDC80 <= ord(c) <= 0xDCFF for c in text)
