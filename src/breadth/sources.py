"""Documents from files: JSON lines, CSV, Parquet, or a folder of texts. What cannot be read is reported, not dropped.

A new format is one function here, `read_…(source)`, which yields the records of `source.path`, and one line in
`FORMATS`. The function calls `source.skip` for what it cannot read, and keeps `source.read_bytes` up to date, which
the progress bar shows.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from breadth.errors import InputError, MissingExtraError
from breadth.index import Document
from breadth.index.documents import PLAIN

TEXT_FIELDS = ("text", "passage", "content", "body", "answer")
"""Fields that hold the text, unless another one is named; the first of them that a record has counts."""
ID_FIELDS = ("id", "_id", "pid", "doc_id")
"""Fields that hold the id, unless another one is named; a record without any is called by the place it stands at."""
TEXT_ENDINGS = (".txt", ".md", ".rst")
"""Files of a folder that are read, each as one document."""

Record = tuple[str, dict[str, Any]]
"""Where a record stands, such as docs.jsonl:12, and its fields."""


@dataclass(frozen=True)
class Skipped:
    """A record that was left out: where it stands, and why."""

    where: str
    reason: str


@dataclass
class Source:
    """The documents of a file or folder, and how far reading them has come.

    path         the file or folder.
    text_field   the field with the text, instead of TEXT_FIELDS.
    id_field     the field with the id, instead of ID_FIELDS.
    words        cut texts into pieces of so many words, which overlap by `overlap` words.

    skipped      the records that were left out so far.
    read_bytes   how much has been read, of `total_bytes`.
    places       where each document stands, by id.
    parts        the number of pieces that each text was cut into, by id.
    """

    path: Path
    text_field: str | None = None
    id_field: str | None = None
    words: int | None = None
    overlap: int = 0
    skipped: list[Skipped] = field(default_factory=list)
    read_bytes: int = 0
    places: dict[str, str] = field(default_factory=dict)
    parts: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.path.exists():
            raise InputError(f"there is no file or folder {str(self.path)!r}")
        if self.path.is_dir():
            if not self.files():
                raise InputError(f"{self.path} holds no {', '.join(TEXT_ENDINGS)} file")
        elif self.path.suffix.lower() not in FORMATS:
            raise InputError(f"{self.path.name}: can read {describe_formats()}")
        self._ids: set[str] = set()

    @property
    def total_bytes(self) -> int:
        """The size of all files to read."""
        return sum(path.stat().st_size for path in self.files())

    def files(self) -> list[Path]:
        """List the files to read."""
        if not self.path.is_dir():
            return [self.path]
        return sorted(p for p in self.path.rglob("*") if p.is_file() and p.suffix.lower() in TEXT_ENDINGS)

    def skip(self, where: str, reason: str) -> None:
        """Report a record that cannot be used."""
        self.skipped.append(Skipped(where, reason))

    def documents(self) -> Iterator[Document]:
        """Read the documents one by one, in pieces if `words` is given."""
        read = read_folder if self.path.is_dir() else FORMATS[self.path.suffix.lower()]
        for where, record in read(self):
            for document in self._make_documents(where, record):
                if document.id in self._ids:
                    self.skip(where, f"the id {document.id!r} was used before")
                    continue
                self._ids.add(document.id)
                self.places[document.id] = where
                yield document

    def _make_documents(self, where: str, record: dict[str, Any]) -> list[Document]:
        """Turn a record into a document, or several if its text is cut; into none if it cannot be used."""
        text_field = self.text_field or next((name for name in TEXT_FIELDS if name in record), None)
        text = None if text_field is None else record.get(text_field)
        if not isinstance(text, str) or not text.strip():
            looked_for = self.text_field or " or ".join(TEXT_FIELDS)
            self.skip(where, f"no text: the field {looked_for} is missing or empty")
            return []
        id_field = self.id_field or next((name for name in ID_FIELDS if name in record), None)
        identity = _to_id(where if id_field is None else record.get(id_field))
        if identity is None:
            self.skip(where, f"the id field {id_field} is missing, or neither text nor a whole number")
            return []
        rest = {str(name): _to_plain(value) for name, value in record.items() if name not in (text_field, id_field)}
        try:
            if self.words is None:
                return [Document(identity, text, rest)]
            cut = cut_into_pieces(text, self.words, self.overlap)
            part = {**rest, "part_of": identity}
            documents = [Document(f"{identity}#{number}", piece, dict(part)) for number, piece in enumerate(cut)]
            self.parts[identity] = len(cut)
            return documents
        except InputError as error:
            self.skip(where, str(error))
            return []


def read_json_lines(source: Source) -> Iterator[Record]:
    """Read a file with one JSON object a line."""
    with source.path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            source.read_bytes += len(line)
            where = f"{source.path.name}:{number}"
            try:
                text = line.decode("utf-8-sig" if number == 1 else "utf-8")
                record = json.loads(text) if text.strip() else None
            except UnicodeDecodeError as error:
                source.skip(where, f"not UTF-8: {error.reason} at byte {error.start}")
                continue
            except ValueError as error:
                source.skip(where, f"broken JSON: {error}")
                continue
            if isinstance(record, dict):
                yield where, record
            elif text.strip():
                source.skip(where, f"not a JSON object but {type(record).__name__}")


def read_csv(source: Source) -> Iterator[Record]:
    """Read a table whose first line names the columns; cells are separated by commas, or by tabs in a .tsv file."""
    keep_as_text = {source.text_field, source.id_field, *TEXT_FIELDS, *ID_FIELDS}
    csv.field_size_limit(1 << 30)
    with source.path.open("rb") as file:
        buffer = io.BufferedReader(_CountingReader(file, source))
        text = io.TextIOWrapper(buffer, encoding="utf-8-sig", errors="surrogateescape", newline="")
        table = csv.DictReader(text, delimiter="\t" if source.path.suffix.lower() == ".tsv" else ",")
        try:
            for record in table:
                where = f"{source.path.name}:{table.line_num}"
                if None in record or None in record.values():
                    source.skip(where, f"not as many cells as the header has ({len(table.fieldnames or [])})")
                elif any(_holds_broken_bytes(cell) for cell in (*record, *record.values())):
                    source.skip(where, "not UTF-8")
                else:
                    yield where, {n: c if n in keep_as_text else _to_number(c) for n, c in record.items()}
        except csv.Error as error:
            source.skip(f"{source.path.name}:{table.line_num}", f"broken CSV, nothing after it was read: {error}")


def read_parquet(source: Source) -> Iterator[Record]:
    """Read a Parquet file (extra `parquet`)."""
    try:
        from pyarrow import ArrowInvalid
        from pyarrow.parquet import ParquetFile
    except ImportError:
        raise MissingExtraError("pyarrow", "parquet") from None
    try:
        file = ParquetFile(source.path)
    except ArrowInvalid as error:
        raise InputError(f"{source.path.name} is not a Parquet file: {error}") from error
    number, size = 0, source.path.stat().st_size
    for batch in file.iter_batches(batch_size=1024):
        for record in batch.to_pylist():
            number += 1
            yield f"{source.path.name}:{number}", record
        source.read_bytes = size * number // max(1, file.metadata.num_rows)


def read_folder(source: Source) -> Iterator[Record]:
    """Read the text files of a folder and its subfolders; the path inside the folder is the id."""
    for path in sorted(p for p in source.path.rglob("*") if p.is_file() and p.suffix.lower() not in TEXT_ENDINGS):
        source.skip(path.relative_to(source.path).as_posix(), f"not a {', '.join(TEXT_ENDINGS)} file")
    for path in source.files():
        name = path.relative_to(source.path).as_posix()
        data = path.read_bytes()
        source.read_bytes += len(data)
        try:
            yield name, {"id": name, "text": data.decode("utf-8"), "file": name}
        except UnicodeDecodeError as error:
            source.skip(name, f"not UTF-8: {error.reason} at byte {error.start}")


FORMATS: dict[str, Callable[[Source], Iterator[Record]]] = {
    ".jsonl": read_json_lines,
    ".ndjson": read_json_lines,
    ".csv": read_csv,
    ".tsv": read_csv,
    ".parquet": read_parquet,
}
"""The function that reads a file, by the ending of its name."""


def describe_formats() -> str:
    """Say what can be read, for help and messages."""
    return f"{', '.join(FORMATS)} files and folders of {', '.join(TEXT_ENDINGS)} files"


def cut_into_pieces(text: str, words: int, overlap: int = 0) -> list[str]:
    """Cut a text into pieces of so many words that overlap by so many; white space inside a piece stays as it is."""
    found = list(re.finditer(r"\S+", text))
    starts = range(0, max(1, len(found) - overlap), words - overlap)
    return [text[found[s].start() : found[min(s + words, len(found)) - 1].end()] for s in starts]


def parse_chunk(description: str) -> tuple[int, int]:
    """Read '100w' (pieces of 100 words) or '100w/20' (that overlap by 20 words)."""
    match = re.fullmatch(r"(\d+)w(?:/(\d+))?", description)
    if match is None or int(match[1]) == 0 or int(match[2] or 0) >= int(match[1]):
        raise InputError(f"chunk must be like 100w, or 100w/20 for an overlap of 20 words, got {description!r}")
    return int(match[1]), int(match[2] or 0)


class _CountingReader(io.RawIOBase):
    """Passes bytes on and counts them as read."""

    def __init__(self, file: Any, source: Source) -> None:
        self._file, self._source = file, source

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count = int(self._file.readinto(buffer) or 0)
        self._source.read_bytes += count
        return count


def _to_id(value: Any) -> str | None:
    """Return an id as text, or None if it is neither text nor a whole number."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value if isinstance(value, str) and value else None


def _to_plain(value: Any) -> Any:
    """Make a value fit for metadata: nested values become JSON, dates and the like become text."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, PLAIN) else json.dumps(value, default=str, ensure_ascii=False)


def _to_number(cell: str) -> str | int | float:
    """Turn a cell into a number if it holds one that would be written the same way: '007' stays text."""
    for kind in (int, float):
        try:
            if str(kind(cell)) == cell and math.isfinite(kind(cell)):
                return kind(cell)
        except (ValueError, OverflowError):
            continue
    return cell


def _holds_broken_bytes(cell: Any) -> bool:
    """Whether some bytes of a cell were not UTF-8: they were decoded as surrogates."""
    return isinstance(cell, str) and any(0xDC80 <= ord(c) <= 0xDCFF for c in cell)
