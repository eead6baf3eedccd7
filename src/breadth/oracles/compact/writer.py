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
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from breadth.arrays import Array
from breadth.errors import InputError
from breadth.oracles.compact.codes import CodedRows, RowSummary, stored_dtype
from breadth.oracles.compact.layout import FIRST_SECTION, Layout, Section

_COPY_BYTES = 1 << 24


class _OpenSection:
    """A section while it is being written: to its place in the target, or to a file of its own."""

    def __init__(self, file: IO[bytes], dtype: npt.DTypeLike) -> None:
        self.file = file
        self.dtype = np.dtype(dtype)
        self._size = self._crc = 0

    def write(self, array: npt.NDArray[Any]) -> None:
        piece = np.ascontiguousarray(array, dtype=self.dtype).tobytes()
        self._crc = zlib.crc32(piece, self._crc)
        self.file.write(piece)
        self._size += len(piece)

    def section_at(self, offset: int) -> Section:
        return Section(offset, self._size, self._crc)


class Writer:
    """Takes rows and their codes, one chunk after the other. Use it in a `with` block and end with `finish`.

    It writes under a temporary name, makes sure that everything is on the disk, and then renames the file. So a file
    with the final name is never half written. The codes wait in temporary files, because they come after the rows.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self._target = Path(path)
        self._temporary = self._target.with_name(f".{self._target.name}.{uuid.uuid4().hex}.partial")
        self._sections: dict[str, _OpenSection] = {}
        self._rows, self._dim = 0, 0

    def __enter__(self) -> Writer:
        if not self._target.parent.is_dir():
            raise InputError(
                f"path {str(self._target)!r}: there is no folder {str(self._target.parent)!r}; create it first"
            )
        self._file = self._temporary.open("wb")
        self._file.seek(FIRST_SECTION)
        return self

    def add(self, rows: Array, coded: CodedRows) -> None:
        """Append some rows."""
        if not self._sections:
            self._open_sections(rows)
        elif rows.shape[1] != self._dim:
            raise InputError(
                f"chunks must all have the {self._dim} columns of the first one, but one has {rows.shape[1]}"
            )
        pieces: dict[str, npt.NDArray[Any]]
        pieces = {"rows": rows, "codes": coded.codes, "scales": coded.scales, "errors": coded.errors}
        for name, piece in pieces.items():
            self._sections[name].write(piece)
        self._rows += len(rows)

    def finish(self, summary: RowSummary) -> None:
        """Complete the file after the last row, with the summary of all rows."""
        self._sections["total"] = _OpenSection(self._open_spool(), np.float64)
        self._sections["total"].write(summary.total)
        layout = self._assemble(summary.length_error)
        self._file.truncate(layout.size)
        self._file.seek(0)
        self._file.write(layout.header())
        self._file.flush()
        os.fsync(self._file.fileno())
        self._temporary.replace(self._target)
        if hasattr(os, "O_DIRECTORY"):  # the new name must reach the disk too
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

    def _assemble(self, length_error: float) -> Layout:
        """Copy every section behind the rows and return where they all lie."""
        sections: dict[str, Section] = {}
        offset = FIRST_SECTION
        for name, section in self._sections.items():
            sections[name] = section.section_at(offset)
            if section.file is not self._file:
                section.file.seek(0)
                self._file.seek(offset)
                shutil.copyfileobj(section.file, self._file, _COPY_BYTES)
            offset = sections[name].end
        return Layout(self._rows, self._dim, self._sections["rows"].dtype.str, length_error, sections)

    def _open_sections(self, rows: Array) -> None:
        self._dim = rows.shape[1]
        self._sections["rows"] = _OpenSection(self._file, stored_dtype(rows))
        for name, dtype in (("codes", np.int8), ("scales", np.float32), ("errors", np.float32)):
            self._sections[name] = _OpenSection(self._open_spool(), dtype)

    def _open_spool(self) -> IO[bytes]:
        """Open a file without a name beside the target; it is gone when it is closed."""
        return tempfile.TemporaryFile(dir=self._target.parent)
