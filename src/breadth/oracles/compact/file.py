"""What a compact oracle that was opened from a file holds. Each part is read and checked when it is first needed.

The codes live in memory of this process, not in mapped pages. What was checked is then what is used, and a file that
is cut or damaged later is an error, never the end of the process.
"""

from __future__ import annotations

import os
import threading
import weakref
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from breadth.arrays import Array, Ids
from breadth.errors import DamagedError, InputError
from breadth.native import core
from breadth.oracles import sweep
from breadth.oracles.compact.codes import RowSummary
from breadth.oracles.compact.layout import BLOCKED, HEADER, Section, digest, read_layout

_ROWS_AT_ONCE = 512
_STRIPE = 64
"""Blocks that one thread reads at a time."""
_OPEN_TRIES = 10


class FileArrays:
    """The codes of a file, as far as they were needed yet, and its rows, which stay in the file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = _OpenFile(path)
        head = self._file.read(0, HEADER)
        self.layout = read_layout(head, self._file.size(), str(path))
        self.mark = digest(head)
        self._sections = self.layout.sections()
        total = self._read_whole("total", self.layout.total_crc)
        self._crcs = self._read_whole("blocks", self.layout.blocks_crc)
        if not np.isfinite(total).all():
            raise DamagedError(f"{path}: the sum of the rows is not finite; build the file again")
        self.summary = RowSummary(total, self.layout.length_error)
        n, d = self.layout.rows, self.layout.dim
        self.codes = np.empty((n, d), dtype=np.int8)
        self.scales, self.errors = np.empty((2, n), dtype=np.float32)
        self._checks = np.empty(n, dtype=np.uint32)
        self._loaded = np.zeros(self.layout.block_count, dtype=bool)
        self._complete = False
        self._seen = np.zeros(n, dtype=bool)
        self._locks = [threading.Lock() for _ in range(16)]

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the path: another process opens the file itself."""
        return open_file, (str(self.path),)

    def load(self, part: slice | Ids) -> None:
        """Read the blocks of these rows that are not in memory yet, and compare their checksums."""
        if self._complete:
            return
        missing = self._find_missing(part)
        if len(missing) == 0:
            return
        for stripe in np.unique(missing // _STRIPE).tolist():
            with self._locks[stripe % len(self._locks)]:  # one thread reads a block, others wait for it
                wanted = missing[missing // _STRIPE == stripe]
                wanted = wanted[~self._loaded[wanted]]
                for run in np.split(wanted, np.flatnonzero(np.diff(wanted) > 1) + 1):
                    if len(run):
                        self._load_blocks(int(run[0]), int(run[-1]) + 1)
        self._complete = bool(self._loaded.all())

    def stored_rows(self, ids: Ids) -> Array:
        """Read rows, and compare the checksums of those that are read for the first time."""
        out = self._read_rows(np.asarray(ids, dtype=np.int64))
        new = np.flatnonzero(~self._seen[ids])
        if len(new):
            self.load(ids[new])
            self._check_rows(ids[new], out[new] if len(new) < len(ids) else out, self._checks[ids[new]])
            self._seen[ids[new]] = True
        return out

    def verify(self) -> None:
        """Read the whole file and compare all checksums, also of what was read before."""
        self._read_whole("total", self.layout.total_crc)
        for first in range(0, self.layout.block_count, _STRIPE):
            low = first * self.layout.block
            stop = min(first + _STRIPE, self.layout.block_count)
            high = min(stop * self.layout.block, self.layout.rows)
            scratch = tuple(np.empty_like(target[low:high]) for target in self._targets())
            self._read_blocks(first, stop, scratch)
            self._check_rows(np.arange(low, high), self._read_rows(np.arange(low, high)), scratch[-1])

    def _find_missing(self, part: slice | Ids) -> Ids:
        if isinstance(part, slice):
            start, stop, _ = part.indices(self.layout.rows)
            blocks = np.arange(start // self.layout.block, -(-stop // self.layout.block))
        else:
            blocks = np.unique(part // self.layout.block)
        return np.asarray(blocks[~self._loaded[blocks]], dtype=np.int64)

    def _load_blocks(self, first: int, stop: int) -> None:
        """Read blocks first … stop - 1 into the arrays. They count as loaded once their checksums were compared."""
        low, high = first * self.layout.block, min(stop * self.layout.block, self.layout.rows)
        self._read_blocks(first, stop, tuple(target[low:high] for target in self._targets()))
        self._loaded[first:stop] = True

    def _targets(self) -> tuple[npt.NDArray[Any], ...]:
        """The arrays of the sections in `BLOCKED`."""
        return self.codes, self.scales, self.errors, self._checks

    def _read_blocks(self, first: int, stop: int, targets: tuple[npt.NDArray[Any], ...]) -> None:
        """Read blocks first … stop - 1 of each section into its target, and compare their checksums."""
        step = self.layout.block
        for column, (name, target) in enumerate(zip(BLOCKED, targets, strict=True)):
            section = self._sections[name]
            if not self._file.read_into(section.offset + first * step * section.width, target):
                raise self._report_short()
            for block in range(first, stop):
                inside = target[(block - first) * step : (block - first + 1) * step]
                if zlib.crc32(inside.data) != self._crcs[block, column]:
                    raise self._report(name, block * step)

    def _read_rows(self, ids: Ids) -> Array:
        section = self._sections["rows"]
        out = np.empty((len(ids), self.layout.dim), dtype=section.dtype)
        if not self._file.read_rows(ids, section, out):
            raise self._report_short()
        return out

    def _check_rows(self, ids: Ids, rows: Array, checks: npt.NDArray[np.uint32]) -> None:
        found = np.fromiter((zlib.crc32(row.data) for row in rows), dtype=np.uint32, count=len(rows))
        wrong = np.flatnonzero(found != checks)
        if len(wrong):
            raise self._report("rows", int(ids[wrong[0]]))

    def _read_whole(self, name: str, crc: int) -> npt.NDArray[Any]:
        section = self._sections[name]
        data = self._file.read(section.offset, section.size)
        if zlib.crc32(data) != crc:
            raise self._report(name, 0)
        return np.frombuffer(data, section.dtype).reshape(section.shape)

    def _report_short(self) -> DamagedError:
        return DamagedError(f"{self.path} has become shorter since it was opened; build the file again")

    def _report(self, name: str, row: int) -> DamagedError:
        where = f" at row {row:,}" if name not in ("total", "blocks") else ""
        return DamagedError(
            f"{self.path}: the section {name!r} does not match its checksum{where}, so the file is damaged; "
            "build it again"
        )


class _OpenFile:
    """A file that is read at any place by several threads at a time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._number = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        self._lock = threading.Lock()
        weakref.finalize(self, os.close, self._number)

    def size(self) -> int:
        return os.fstat(self._number).st_size

    def read(self, offset: int, size: int) -> bytes:
        """Read `size` bytes, or fewer where the file ends before; the caller's checksum then fails."""
        parts = []
        while size > 0:
            part = self._read_once(offset, size)
            if not part:
                break
            parts.append(part)
            offset, size = offset + len(part), size - len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def read_into(self, offset: int, out: npt.NDArray[Any]) -> bool:
        """Fill an array from this place on; return whether the file was long enough."""
        target = out.data.cast("B")
        if not hasattr(os, "preadv"):
            data = self.read(offset, len(target))
            target[: len(data)] = data
            return len(data) == len(target)
        done = 0
        while done < len(target):
            with self._reading():
                count = os.preadv(self._number, [target[done:]], offset + done)
            if count == 0:
                return False
            done += count
        return True

    def read_rows(self, ids: Ids, section: Section, out: npt.NDArray[Any]) -> bool:
        """Read rows of a section into `out`; return whether all of them were there."""
        complete = True

        def visit(start: int, stop: int) -> None:
            nonlocal complete
            if hasattr(os, "preadv"):
                read = core.read_rows(self._number, ids[start:stop], section.offset, out[start:stop])
            else:
                read = self._read_each(ids[start:stop], section, out[start:stop])
            complete = complete and read

        sweep.sweep(len(ids), _ROWS_AT_ONCE, visit, least=_ROWS_AT_ONCE)
        return complete

    def _read_each(self, ids: Ids, section: Section, out: npt.NDArray[Any]) -> bool:
        for place, row in enumerate(ids.tolist()):
            data = self.read(section.offset + row * section.width, section.width)
            if len(data) != section.width:
                return False
            out[place] = np.frombuffer(data, section.dtype)
        return True

    def _read_once(self, offset: int, size: int) -> bytes:
        with self._reading():
            if hasattr(os, "pread"):
                return os.pread(self._number, size, offset)
            with self._lock:
                os.lseek(self._number, offset, os.SEEK_SET)
                return os.read(self._number, size)

    @contextmanager
    def _reading(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise DamagedError(f"{self._path} cannot be read: {error}") from error


def open_file(path: str | PathLike[str]) -> FileArrays:
    """Open a file. If somebody writes it anew meanwhile, open the new one."""
    source = Path(path)
    for attempt in range(_OPEN_TRIES):
        before = _identify(source)
        try:
            return FileArrays(source)
        except (DamagedError, InputError):
            if attempt == _OPEN_TRIES - 1 or _identify(source) == before:
                raise
    raise AssertionError("unreachable")


def _identify(path: Path) -> tuple[int, ...]:
    found = path.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns
