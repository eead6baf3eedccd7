"""Documents from files: JSON lines, CSV, Parquet, a folder of texts. What cannot be read is reported, never dropped."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from breadth.errors import InputError, MissingExtraError
from breadth.index import Document

TEXT_NAMES = ("text", "passage", "content", "body", "answer")
ID_NAMES = ("id", "_id", "pid", "doc_id")
TEXT_FILES = (".txt", ".md", ".rst")
FILES = (".jsonl", ".ndjson", ".csv", ".tsv", ".parquet")
_PLAIN = (str, int, float, bool, type(None))


@dataclass
class Skipped:
    """A record that was left out: where it stands, and why."""

    where: str
    reason: str


@dataclass
class Source:
    """Records of a file or folder, one after the other, with what had to be skipped and how far reading is."""

    path: Path
    text_name: str | None = None
    id_name: str | None = None
    words: int | None = None
    overlap: int = 0
    skipped: list[Skipped] = field(default_factory=list)
    read_bytes: int = 0
    places: dict[str, str] = field(default_factory=dict)
    parts: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.path.exists():
            raise InputError(f"there is no file or folder {str(self.path)!r}")
        if self.path.is_dir() and not self._files():
            raise InputError(f"{self.path} holds no {', '.join(TEXT_FILES)} file")
        if not self.path.is_dir() and self.path.suffix.lower() not in FILES:
            kinds = f"{', '.join(FILES)} files and folders of {', '.join(TEXT_FILES)} files"
            raise InputError(f"{self.path.name}: can read {kinds}")
        self._seen: set[str] = set()

    @property
    def total_bytes(self) -> int:
        return sum(p.stat().st_size for p in self._files())

    def documents(self) -> Iterator[Document]:
        """The documents, long ones in pieces if that was asked for."""
        for where, record in self._records():
            for document in self._documents(where, record):
                if document.id in self._seen:
                    self._skip(where, f"the id {document.id!r} stands there a second time")
                    continue
                self._seen.add(document.id)
                self.places[document.id] = where
                yield document

    def _documents(self, where: str, record: dict[str, Any]) -> Iterator[Document]:
        name = self.text_name or next((n for n in TEXT_NAMES if n in record), None)
        text = None if name is None else record.get(name)
        if not isinstance(text, str) or not text.strip():
            looked = self.text_name or " or ".join(TEXT_NAMES)
            self._skip(where, f"no text: the field {looked} is missing or empty")
            return
        key = self.id_name or next((n for n in ID_NAMES if n in record), None)
        identity = where if key is None else record.get(key)
        if isinstance(identity, int) and not isinstance(identity, bool):
            identity = str(identity)
        if not isinstance(identity, str) or not identity:
            self._skip(where, f"the id field {key} is missing or neither text nor a whole number")
            return
        rest = {str(n): _plain(v) for n, v in record.items() if n not in (name, key)}
        try:
            if self.words is None:
                found = [Document(identity, text, rest)]
            else:
                cut = pieces(text, self.words, self.overlap)
                found = [
                    Document(f"{identity}#{i}", piece, {**rest, "part_of": identity}) for i, piece in enumerate(cut)
                ]
                self.parts[identity] = len(cut)
        except InputError as error:
            self._skip(where, str(error))
            return
        yield from found

    def _records(self) -> Iterator[tuple[str, dict[str, Any]]]:
        if self.path.is_dir():
            yield from self._folder()
            return
        kind = self.path.suffix.lower()
        if kind in (".csv", ".tsv"):
            yield from self._csv()
        elif kind == ".parquet":
            yield from self._parquet()
        else:
            yield from self._json_lines()

    def _json_lines(self) -> Iterator[tuple[str, dict[str, Any]]]:
        for number, line in self._lines():
            where = f"{self.path.name}:{number}"
            if not line.strip():
                continue
            try:
                record = json.loads(line)
            except ValueError as error:
                self._skip(where, f"broken JSON: {error}")
                continue
            if isinstance(record, dict):
                yield where, record
            else:
                self._skip(where, f"not a JSON object but {type(record).__name__}")

    def _csv(self) -> Iterator[tuple[str, dict[str, Any]]]:
        with self.path.open("rb") as raw:
            counted = _Counted(raw, self)
            text = io.TextIOWrapper(
                io.BufferedReader(counted), encoding="utf-8-sig", errors="surrogateescape", newline=""
            )
            csv.field_size_limit(1 << 30)
            reader = csv.DictReader(text, delimiter="\t" if self.path.suffix.lower() == ".tsv" else ",")
            try:
                for record in reader:
                    where = f"{self.path.name}:{reader.line_num}"
                    if None in record or None in record.values():
                        self._skip(where, f"not as many cells as the header has ({len(reader.fieldnames or [])})")
                    elif any(_broken(value) for value in (*record, *record.values())):
                        self._skip(where, "not UTF-8")
                    else:
                        names = (self.text_name, self.id_name, *TEXT_NAMES, *ID_NAMES)
                        yield where, {n: v if n in names else _number(v) for n, v in record.items()}
            except csv.Error as error:
                self._skip(f"{self.path.name}:{reader.line_num}", f"broken CSV, nothing after it was read: {error}")

    def _parquet(self) -> Iterator[tuple[str, dict[str, Any]]]:
        try:
            from pyarrow import ArrowInvalid
            from pyarrow.parquet import ParquetFile
        except ImportError:
            raise MissingExtraError("pyarrow", "parquet") from None
        try:
            file = ParquetFile(self.path)
        except ArrowInvalid as error:
            raise InputError(f"{self.path.name} is not a Parquet file: {error}") from error
        number, size = 0, self.path.stat().st_size
        for batch in file.iter_batches(batch_size=1024):
            for record in batch.to_pylist():
                number += 1
                yield f"{self.path.name}:{number}", record
            self.read_bytes = size * number // max(1, file.metadata.num_rows)

    def _folder(self) -> Iterator[tuple[str, dict[str, Any]]]:
        for path in sorted(p for p in self.path.rglob("*") if p.is_file() and p.suffix.lower() not in TEXT_FILES):
            self._skip(path.relative_to(self.path).as_posix(), f"not a {', '.join(TEXT_FILES)} file")
        for path in self._files():
            name = path.relative_to(self.path).as_posix()
            data = path.read_bytes()
            self.read_bytes += len(data)
            try:
                yield name, {"id": name, "text": data.decode("utf-8"), "file": name}
            except UnicodeDecodeError as error:
                self._skip(name, f"not UTF-8: {error.reason} at byte {error.start}")

    def _lines(self) -> Iterator[tuple[int, str]]:
        with self.path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                self.read_bytes += len(line)
                try:
                    yield number, line.decode("utf-8-sig" if number == 1 else "utf-8")
                except UnicodeDecodeError as error:
                    self._skip(f"{self.path.name}:{number}", f"not UTF-8: {error.reason} at byte {error.start}")

    def _files(self) -> list[Path]:
        if not self.path.is_dir():
            return [self.path]
        return sorted(p for p in self.path.rglob("*") if p.is_file() and p.suffix.lower() in TEXT_FILES)

    def _skip(self, where: str, reason: str) -> None:
        self.skipped.append(Skipped(where, reason))


class _Counted(io.RawIOBase):
    """Counts the bytes that go through."""

    def __init__(self, raw: Any, source: Source) -> None:
        self._raw, self._source = raw, source

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count = int(self._raw.readinto(buffer) or 0)
        self._source.read_bytes += count
        return count


def _plain(value: Any) -> Any:
    """A value as metadata can hold it: what is nested as JSON, dates and the like as text."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, _PLAIN) else json.dumps(value, default=str, ensure_ascii=False)


def _number(cell: str) -> Any:
    """A cell as a number, if it is one and would be written just so."""
    for kind in (int, float):
        try:
            if str(kind(cell)) == cell and math.isfinite(kind(cell)):
                return kind(cell)
        except (ValueError, OverflowError):
            continue
    return cell


def _broken(value: Any) -> bool:
    return isinstance(value, str) and any(0xDC80 <= ord(c) <= 0xDCFF for c in value)


def pieces(text: str, words: int, overlap: int = 0) -> list[str]:
    """A text in pieces of so many words, white space inside them as it was."""
    found = list(re.finditer(r"\S+", text))
    step = words - overlap
    starts = range(0, max(1, len(found) - overlap), step)
    return [text[found[s].start() : found[min(s + words, len(found)) - 1].end()] for s in starts]


def chunk_words(description: str) -> tuple[int, int]:
    """'100w' or '100w/20' (with an overlap of 20 words)."""
    match = re.fullmatch(r"(\d+)w(?:/(\d+))?", description)
    if match is None or int(match[1]) == 0 or int(match[2] or 0) >= int(match[1]):
        raise InputError(f"chunk must be like 100w, or 100w/20 for an overlap of 20 words, got {description!r}")
    return int(match[1]), int(match[2] or 0)
