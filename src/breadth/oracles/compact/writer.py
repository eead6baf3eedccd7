"""Write a compact file: rows come in chunk by chunk, and the file appears only when it is complete."""

from __future__ import annotations

import os
import shutil
import tempfile
import uuid
import zlib
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import IO, Any, cast

import numpy as np
import numpy.typing as npt

from breadth.arrays import Array
from breadth.errors import InputError
from breadth.oracles.compact.codes import CodedRows, RowSummary, stored_dtype
from breadth.oracles.compact.layout import BLOCKED, HEADER, LABEL_LENGTH, Layout, choose_block, digest

_COPY_BYTES = 1 << 24


class _Blocks:
    """The checksums of the blocks of one section while it is being written."""

    def __init__(self, block: int) -> None:
        self._block = block
        self._rows = 0
        self._crcs: list[int] = []

    def add(self, piece: npt.NDArray[Any]) -> None:
        start = 0
        while start < len(piece):
            inside = self._rows % self._block
            stop = min(len(piece), start + self._block - inside)
            before = self._crcs.pop() if inside else 0
            self._crcs.append(zlib.crc32(piece[start:stop].data, before))
            self._rows += stop - start
            start = stop

    def checksums(self) -> npt.NDArray[np.uint32]:
        return np.array(self._crcs, dtype="<u4")


class Writer:
    """Takes rows and their codes, one chunk after the other. Use it in a `with` block and end with `finish`.

    It writes under a temporary name, makes sure that everything is on the disk, and then renames the file. So a file
    with the final name is never half written. The codes wait in temporary files, because they come after the rows.
    """

    def __init__(self, path: str | PathLike[str], label: str = "") -> None:
        if len(label) > LABEL_LENGTH:
            raise InputError(f"label may have {LABEL_LENGTH} characters, got {len(label)}")
        self._target = Path(path)
        self._temporary = self._target.with_name(f".{self._target.name}.{uuid.uuid4().hex}.partial")
        self._label = label
        self._spools: dict[str, IO[bytes]] = {}
        self._blocks: dict[str, _Blocks] = {}
        self._rows, self._dim, self._dtype = 0, 0, np.dtype("<f4")

    def __enter__(self) -> Writer:
        if not self._target.parent.is_dir():
            raise InputError(
                f"path {str(self._target)!r}: there is no folder {str(self._target.parent)!r}; create it first"
            )
        self._file = self._temporary.open("wb")
        self._file.seek(HEADER)
        return self

    def add(self, rows: Array, coded: CodedRows) -> None:
        """Append some rows."""
        if not self._spools:
            self._open(rows)
        elif rows.shape[1] != self._dim:
            raise InputError(
                f"chunks must all have the {self._dim} columns of the first one, but one has {rows.shape[1]}"
            )
        kept = np.ascontiguousarray(rows, dtype=self._dtype)
        self._file.write(kept.data)
        checks = np.fromiter((zlib.crc32(row) for row in kept), dtype="<u4", count=len(kept))
        pieces: tuple[npt.NDArray[Any], ...] = (coded.codes, coded.scales, coded.errors, checks)
        for name, piece in zip(BLOCKED, pieces, strict=True):
            plain = np.ascontiguousarray(piece)
            self._spools[name].write(plain.data)
            self._blocks[name].add(plain)
        self._rows += len(rows)

    def finish(self, summary: RowSummary) -> str:
        """Complete the file after the last row, with the summary of all rows. Return the digest of its header."""
        total = np.ascontiguousarray(summary.total, dtype="<f8")
        blocks = np.ascontiguousarray(np.column_stack([self._blocks[name].checksums() for name in BLOCKED]))
        layout = Layout(
            rows=self._rows,
            dim=self._dim,
            dtype=self._dtype.str,
            block=choose_block(self._dim),
            length_error=float(summary.length_error),
            label=self._label,
            total_crc=zlib.crc32(total.data),
            blocks_crc=zlib.crc32(blocks.data),
        )
        for name, section in layout.sections().items():
            if name in self._spools:
                self._spools[name].seek(0)
                self._file.seek(section.offset)
                shutil.copyfileobj(self._spools[name], self._file, _COPY_BYTES)
            elif name != "rows":
                self._file.seek(section.offset)
                self._file.write((total if name == "total" else blocks).data)
        head = layout.header()
        self._file.truncate(layout.size)
        self._file.seek(0)
        self._file.write(head)
        self._file.flush()
        os.fsync(self._file.fileno())
        self._temporary.replace(self._target)
        sync_folder(self._target.parent)
        return digest(head)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            for spool in self._spools.values():
                spool.close()
            self._file.close()
        finally:
            self._temporary.unlink(missing_ok=True)

    def _open(self, rows: Array) -> None:
        self._dim = rows.shape[1]
        self._dtype = stored_dtype(rows).newbyteorder("<")
        for name in BLOCKED:
            self._spools[name] = self._open_spool()
            self._blocks[name] = _Blocks(choose_block(self._dim))

    def _open_spool(self) -> IO[bytes]:
        """Open a file without a name, in memory as long as it is small, else beside the target."""
        return cast(IO[bytes], tempfile.SpooledTemporaryFile(_COPY_BYTES, dir=str(self._target.parent)))


def sync_folder(folder: Path) -> None:
    """Make sure that the names in a folder are on the disk."""
    if hasattr(os, "O_DIRECTORY"):
        file = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(file)
        finally:
            os.close(file)
