"""Tables in text: CSV, with whatever separates its cells."""

from __future__ import annotations

import csv
import io
import math
from collections import deque
from collections.abc import Iterator
from typing import Any, BinaryIO

from breadth.errors import InputError
from breadth.sources.files import MOST_BYTES, TOO_LONG, holds_broken_bytes, open_text
from breadth.sources.source import ID_FIELDS, TEXT_FIELDS, Record, Source

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
"""What may separate cells; the first ones are preferred."""
_AGAIN = 1000
"""How often reading may begin anew after a quote that is not closed."""


def read_table(source: Source) -> Iterator[Record]:
    """Read a table whose first line names the columns. That line also tells what separates the cells.

    A quote that is not closed would swallow what follows. Reading then goes on with the line after it.
    """
    with open_text(source.path) as file:
        lines = _Lines(file, source)
        names, separator = _read_header(lines, source)
        if not names:
            return
        for where, cells in _read_rows(lines, separator, len(names), source):
            record = _make_record(source, where, names, cells)
            if record is not None:
                yield where, record


class _Lines:
    """The lines of a file. Those of the current row are kept, so that reading can go back."""

    def __init__(self, file: BinaryIO, source: Source) -> None:
        counted = io.BufferedReader(_CountingReader(file, source))
        self._text = io.TextIOWrapper(counted, encoding="utf-8-sig", errors="surrogateescape", newline="")
        self._waiting: deque[str] = deque()
        self._row: list[str] = []
        self._size = 0
        self.number = 0
        """The line that was read last."""

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        line = self._waiting.popleft() if self._waiting else self._text.readline(MOST_BYTES + 1)
        if not line:
            raise StopIteration
        self._row.append(line)
        self._size += len(line)
        self.number += 1
        if self._size > MOST_BYTES:
            if len(line) > MOST_BYTES:
                self._pass_rest(line)
            raise csv.Error(f"the row is {TOO_LONG}; is a quote not closed?")
        return line

    def begin_row(self) -> None:
        """Forget the lines of the row before."""
        self._row, self._size = [], 0

    @property
    def height(self) -> int:
        """How many lines the current row has so far."""
        return len(self._row)

    def go_back(self) -> None:
        """Go back to the second line of the current row."""
        self._waiting.extendleft(reversed(self._row[1:]))
        self.number -= len(self._row) - 1

    def _pass_rest(self, line: str) -> None:
        while line and not line.endswith(("\n", "\r")):
            line = self._text.readline(1 << 20)


class _CountingReader(io.RawIOBase):
    """Passes bytes on and counts them as read."""

    def __init__(self, file: BinaryIO, source: Source) -> None:
        self._file, self._source = file, source

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._file.read(len(buffer))
        buffer[: len(data)] = data
        self._source.read_bytes += len(data)
        return len(data)


def _read_header(lines: _Lines, source: Source) -> tuple[list[str], str]:
    """Return the names of the columns, and what separates cells. No names if the file is empty."""
    csv.field_size_limit(2 * MOST_BYTES)
    line = ""
    while not line.strip():
        lines.begin_row()
        try:
            line = next(lines, "")
        except csv.Error as error:
            raise InputError(f"{source.path.name}: the header cannot be read: {error}") from None
        if not line:
            return [], ","
    if holds_broken_bytes(line):
        raise InputError(f"{source.path.name}: the header is not UTF-8; save the file as UTF-8")
    separator = _find_separator(line, source)
    names = _split(line, separator)
    named = [name for name in names if name]
    twice = next((name for name in named if named.count(name) > 1), None)
    if twice is not None:
        raise InputError(
            f"{source.path.name}: the column {twice!r} stands twice, so one of its values would be lost; rename one"
        )
    return names, separator


def _find_separator(header: str, source: Source) -> str:
    """What gives the header a column with the text; otherwise what gives it most columns."""
    wanted = {source.text_field} if source.text_field else set(TEXT_FIELDS)
    usual = "\t" if source.path.suffix.lower() == ".tsv" else ","

    def rate(separator: str) -> tuple[bool, int, bool]:
        names = _split(header, separator)
        return not wanted.isdisjoint(names), len(names), separator == usual

    return max(SEPARATORS, key=rate)


def _split(line: str, separator: str) -> list[str]:
    return [name.strip() for name in next(csv.reader([line], delimiter=separator), [])]


def _read_rows(lines: _Lines, separator: str, width: int, source: Source) -> Iterator[tuple[str, list[str]]]:
    """Yield rows with as many cells as the header has."""
    again = 0
    while True:
        lines.begin_row()
        fault = ""
        try:
            cells = next(csv.reader(lines, delimiter=separator, strict=True), None)
        except csv.Error as error:
            cells, fault = [], f"broken CSV: {error}"
        if cells is None:
            return
        where = f"{source.path.name}:{lines.number - lines.height + 1}"
        if cells and len(cells) != width:
            fault = f"not as many cells as the header has: {len(cells)}, not {width}"
        if not fault:
            if cells:  # an empty line has none
                yield where, cells
            continue
        if lines.height > 1:
            again += 1
            fault += "; perhaps a quote is not closed"
            if again > _AGAIN:
                source.stop(where, fault)
                return
            lines.go_back()
        source.skip(where, fault)


def _make_record(source: Source, where: str, names: list[str], cells: list[str]) -> dict[str, Any] | None:
    if any(holds_broken_bytes(cell) for cell in cells):
        source.skip(where, "not UTF-8")
        return None
    if any(cell and not name for name, cell in zip(names, cells, strict=True)):
        source.skip(where, "a cell stands in a column without a name; name it in the header")
        return None
    keep_as_text = {source.text_field, source.id_field, *TEXT_FIELDS, *ID_FIELDS}
    return {
        name: cell if name in keep_as_text else _to_number(cell)
        for name, cell in zip(names, cells, strict=True)
        if name
    }


def _to_number(cell: str) -> str | int | float:
    """Turn a cell into a number if it holds one that would be written the same way: '007' stays text."""
    for kind in (int, float):
        try:
            if str(kind(cell)) == cell and math.isfinite(kind(cell)):
                return kind(cell)
        except (ValueError, OverflowError):
            continue
    return cell
