"""JSON files: one object a line, an array of objects, or objects one after the other, pretty-printed or not."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from breadth.sources.files import MOST_BYTES, TOO_LONG, holds_broken_bytes, open_text
from breadth.sources.source import Record, Source

_HEAD = 1 << 20
"""Bytes at the beginning of a file that tell which kind it is."""
_BLANK = " \t\r\n"
_TOO_DEEP = "nested too deeply"


def read_json(source: Source) -> Iterator[Record]:
    """Read the objects of a file. Its beginning tells how they are written."""
    with open_text(source.path) as file:
        head = file.read(_HEAD).decode("utf-8-sig", errors="replace").lstrip(_BLANK)
        file.seek(0)
        yield from (_read_stream if _is_stream(head) else _read_lines)(source, file)


def _is_stream(head: str) -> bool:
    """Whether a file is an array of objects, or has objects that go over several lines."""
    if head.startswith("["):
        return head[1:].lstrip(_BLANK)[:1] in ("{", "]", "")
    first = head.partition("\n")[0]
    try:
        _, end = json.JSONDecoder().raw_decode(head)
    except (ValueError, RecursionError):
        return False
    return head.startswith("{") and end > len(first)


@dataclass
class _Parser:
    """Parses values, and notices keys that stand twice in one object: one of their values would be lost."""

    repeated: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._decoder = json.JSONDecoder(object_pairs_hook=self._join)

    def parse(self, text: str, start: int = 0) -> tuple[Any, int]:
        """Return the value that begins at a place, and where it ends."""
        self.repeated.clear()
        return self._decoder.raw_decode(text, start)

    def _join(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        joined = dict(pairs)
        if len(joined) < len(pairs):
            names = [name for name, _ in pairs]
            self.repeated.append(next(name for name in names if names.count(name) > 1))
        return joined

    def find_fault(self, value: Any) -> str:
        """What is wrong with the value that was parsed last; an empty text if nothing is."""
        if self.repeated:
            return f"the key {self.repeated[0]!r} stands twice, so one of its values would be lost"
        return "" if isinstance(value, dict) else f"not a JSON object but {type(value).__name__}"


def _read_lines(source: Source, file: BinaryIO) -> Iterator[Record]:
    parser, number = _Parser(), 0
    while line := file.readline(MOST_BYTES + 1):
        number += 1
        source.read_bytes += len(line)
        where = f"{source.path.name}:{number}"
        if len(line) > MOST_BYTES:
            while line and not line.endswith(b"\n"):
                line = file.readline(_HEAD)
                source.read_bytes += len(line)
            source.skip(where, f"the line is {TOO_LONG}")
            continue
        record, fault = _parse_line(parser, line, first=number == 1)
        if fault:
            source.skip(where, fault)
        elif record is not None:
            yield where, record


def _parse_line(parser: _Parser, line: bytes, first: bool) -> tuple[dict[str, Any] | None, str]:
    """Return the object on a line, None for an empty line, and what is wrong with it."""
    try:
        text = line.decode("utf-8-sig" if first else "utf-8").strip(_BLANK)
        if not text:
            return None, ""
        value, end = parser.parse(text)
        if end < len(text):
            return None, f"broken JSON: something follows after character {end}"
    except UnicodeDecodeError as error:
        return None, f"not UTF-8: {error.reason} at byte {error.start}"
    except RecursionError:
        return None, _TOO_DEEP
    except json.JSONDecodeError as error:
        return None, f"broken JSON: {error.msg} at character {error.pos + 1}"
    except ValueError as error:  # a number with too many digits
        return None, f"broken JSON: {error}"
    return value, parser.find_fault(value)


class _Buffer:
    """The part of a text that is looked at, and the line on which it stands."""

    def __init__(self, source: Source, file: BinaryIO) -> None:
        self._source, self._file = source, file
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")(errors="surrogateescape")
        self.text, self.place, self.line, self.ended = "", 0, 1, False
        self._column, self._named = 1, 0

    def fill(self) -> None:
        """Read further: as much again as there is."""
        data = self._file.read(max(_HEAD, len(self.text) - self.place))
        self._source.read_bytes += len(data)
        self.ended = not data
        self.text, self.place = self.text[self.place :] + self._decoder.decode(data, final=self.ended), 0

    def move(self, place: int) -> None:
        """Go on to a place, and count lines on the way."""
        self.line += self.text.count("\n", self.place, place)
        before = self.text.rfind("\n", self.place, place)
        self._column = self._column + place - self.place if before < 0 else place - before
        self.place = place

    def name_place(self) -> str:
        """The line, and for all but the first value that begins on a line also the character."""
        first, self._named = self.line > self._named, self.line
        return f"{self.line}" if first else f"{self.line}:{self._column}"

    def peek(self, blank: str) -> str:
        """Go on to the next character that is not one of these, and return it; an empty text at the end."""
        while True:
            place = self.place
            while place < len(self.text) and self.text[place] in blank:
                place += 1
            self.move(place)
            if place < len(self.text) or self.ended:
                return self.text[place : place + 1]
            self.fill()


def _read_stream(source: Source, file: BinaryIO) -> Iterator[Record]:
    parser, buffer = _Parser(), _Buffer(source, file)
    in_array = buffer.peek(_BLANK) == "["
    if in_array:
        buffer.move(buffer.place + 1)
    while (sign := buffer.peek(_BLANK + ",")) and not (in_array and sign == "]"):
        where = f"{source.path.name}:{buffer.name_place()}"
        try:
            value, end = _parse_next(parser, buffer)
        except RecursionError:
            source.stop(where, _TOO_DEEP)
            return
        except ValueError as error:
            source.stop(where, f"broken JSON: {getattr(error, 'msg', error)}")
            return
        broken = holds_broken_bytes(buffer.text[buffer.place : end])
        fault = "not UTF-8" if broken else parser.find_fault(value)
        buffer.move(end)
        if fault:
            source.skip(where, fault)
        else:
            yield where, value
    _check_end(source, buffer, in_array)


def _parse_next(parser: _Parser, buffer: _Buffer) -> tuple[Any, int]:
    """Parse the next value. It may not be in the buffer to its end, so a fault counts once everything is there."""
    while True:
        try:
            value, end = parser.parse(buffer.text, buffer.place)
            if end < len(buffer.text) or buffer.ended:
                return value, end
        except ValueError:
            if buffer.ended:
                raise
        if len(buffer.text) - buffer.place > MOST_BYTES:
            raise ValueError(f"a value is {TOO_LONG}, or is not closed")
        buffer.fill()


def _check_end(source: Source, buffer: _Buffer, in_array: bool) -> None:
    where = f"{source.path.name}:{buffer.line}"
    if not in_array:
        return
    if buffer.peek(_BLANK + ",") != "]":
        source.stop(where, "the array is not closed: the file seems to be cut off")
        return
    buffer.move(buffer.place + 1)
    if buffer.peek(_BLANK):
        source.stop(f"{source.path.name}:{buffer.line}", "something follows after the array")
