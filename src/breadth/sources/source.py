"""`Source`: the documents of a file or folder, and how far reading them has come."""

from __future__ import annotations

import base64
import datetime
import decimal
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from breadth.errors import InputError
from breadth.index import Document
from breadth.sources.pieces import cut_into_pieces
from breadth.sources.vectors import Row, read_vector

TEXT_FIELDS = ("text", "passage", "content", "body", "answer")
"""Fields that hold the text, unless another one is named; the first of them that a record has counts."""
ID_FIELDS = ("id", "_id", "pid", "doc_id")
"""Fields that hold the id, unless another one is named; a record without any is called by the place it stands at."""
MOST_CHARACTERS = 1_000_000
"""The longest text of one document. Encoders read the beginning of a text: longer ones are to be cut into pieces."""
_LISTED = 10_000
"""How many of the records that were left out are listed; the others are counted."""
_PATIENCE = 100_000
"""After so many records without a single document, reading stops."""
_REMEMBERED_FIELDS = 50

Record = tuple[str, dict[str, Any]]
"""Where a record stands, such as docs.jsonl:12, and its fields."""
Reader = Callable[["Source"], Iterator[Record]]


@dataclass(frozen=True)
class Skipped:
    """A record that was left out: where it stands, and why."""

    where: str
    reason: str


@dataclass
class Source:
    """The documents of a file or folder, and how far reading them has come. Make one with `open_source`.

    path         the file or folder.
    read         yields its records.
    total_bytes  how much there is to read.
    text_field   the field with the text, instead of TEXT_FIELDS.
    id_field     the field with the id, instead of ID_FIELDS.
    vector_field the field with the vector. The text may then be missing.
    words        cut texts into pieces of so many words, which overlap by `overlap` words.

    skipped      the records that were left out so far, the first ones; `skipped_count` counts all.
    stopped      where reading ended before the end of the file, and why; None if it did not.
    records      how many records were read.
    fields       the names of fields that records have.
    read_bytes   how much has been read, of `total_bytes`.
    places       where each document stands, by id.
    vectors      the vector of each document, by id, if there is a `vector_field`.
    dim          how many numbers a vector must have; as many as the first one has, if nothing else is said.
    parts        the number of pieces that each text was cut into, by id.
    """

    path: Path
    read: Reader
    total_bytes: int
    text_field: str | None = None
    id_field: str | None = None
    vector_field: str | None = None
    words: int | None = None
    overlap: int = 0
    skipped: list[Skipped] = field(default_factory=list)
    skipped_count: int = 0
    stopped: Skipped | None = None
    records: int = 0
    fields: dict[str, None] = field(default_factory=dict)
    read_bytes: int = 0
    places: dict[str, str] = field(default_factory=dict)
    vectors: dict[str, Row] = field(default_factory=dict)
    dim: int | None = None
    parts: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._ids: set[str] = set()
        self._row: Row = np.empty(0, dtype=np.float32)

    def skip(self, where: str, reason: str) -> None:
        """Report a record that cannot be used."""
        self.skipped_count += 1
        if len(self.skipped) < _LISTED:
            self.skipped.append(Skipped(where, reason))

    def stop(self, where: str, reason: str) -> None:
        """Report that nothing can be read from here on."""
        self.stopped = Skipped(where, f"{reason}; nothing from here on was read")
        self.skip(where, self.stopped.reason)

    def documents(self) -> Iterator[Document]:
        """Read the documents one by one, in pieces if `words` is given."""
        for where, record in self.read(self):
            self.records += 1
            self._remember_fields(record)
            for document in self._make_documents(where, record):
                if document.id in self._ids:
                    self.skip(where, f"the id {document.id!r} was used before")
                    continue
                self._ids.add(document.id)
                self.places[document.id] = where
                if self.vector_field is not None:
                    self.vectors[document.id] = self._row
                yield document
            if self.records >= _PATIENCE and not self._ids:
                self.stop(where, f"not one of the first {self.records:,} records can be used")
                return

    def _remember_fields(self, record: Mapping[str, Any]) -> None:
        if len(self.fields) < _REMEMBERED_FIELDS:
            self.fields.update(dict.fromkeys(str(name) for name in record))

    def _make_documents(self, where: str, record: dict[str, Any]) -> Iterator[Document]:
        """Turn a record into a document, or several if its text is cut; into none if it cannot be used."""
        text_field = self.text_field or next((name for name in TEXT_FIELDS if name in record), None)
        text = "" if text_field is None else record.get(text_field)
        fault = self._find_fault(text, record)
        if fault or not isinstance(text, str):
            self.skip(where, fault)
            return
        id_field = self.id_field or next((name for name in ID_FIELDS if name in record), None)
        identity = _to_id(where if id_field is None else record.get(id_field))
        if identity is None:
            self.skip(where, f"the id field {id_field} is missing, or neither text nor a whole number")
            return
        special = (text_field, id_field, self.vector_field)
        rest = {str(name): to_plain(value) for name, value in record.items() if name not in special}
        try:
            if self.words is None:
                yield _make_document(identity, text, rest)
                return
            if identity in self.parts:
                self.skip(where, f"the id {identity!r} was used before")
                return
            yield from self._make_pieces(identity, text, {**rest, "part_of": identity})
        except InputError as error:
            self.skip(where, str(error))

    def _find_fault(self, text: Any, record: Mapping[str, Any]) -> str:
        """Why a record cannot be used; an empty text if it can."""
        if self.vector_field is not None:
            row = read_vector(record.get(self.vector_field), self.dim)
            if isinstance(row, str):
                return f"no vector: the field {self.vector_field} is {row}"
            self.dim, self._row = len(row), row
            return "" if isinstance(text, str) else "the text is not a text"
        if isinstance(text, str) and text.strip():
            return ""
        if self.text_field is not None:
            return f"no text: the field {self.text_field} is missing or empty"
        return f"no text: none of the fields {', '.join(TEXT_FIELDS)} holds any"

    def _make_pieces(self, identity: str, text: str, metadata: dict[str, Any]) -> Iterator[Document]:
        assert self.words is not None
        for number, piece in enumerate(cut_into_pieces(text, self.words, self.overlap)):
            yield _make_document(f"{identity}#{number}", piece, dict(metadata), identity)
            self.parts[identity] = number + 1


def _make_document(identity: str, text: str, metadata: dict[str, Any], parent: str | None = None) -> Document:
    if len(text) > MOST_CHARACTERS:
        raise InputError(
            f"the text has {len(text):,} characters, and a passage may have {MOST_CHARACTERS:,}; "
            "cut it into pieces, for example with --chunk 200w"
        )
    return Document(identity, text, metadata, parent)


def _to_id(value: Any) -> str | None:
    """Return an id as text, or None if it is neither text nor a whole number."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value if isinstance(value, str) and value else None


def to_plain(value: Any) -> Any:
    """Make a value of a file fit for metadata. NaN becomes null; dates, times, bytes and the like become text."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(name): to_plain(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain(entry) for entry in value]
    if isinstance(value, decimal.Decimal):
        return float(value) if value.is_finite() and decimal.Decimal(float(value)) == value else str(value)
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return value if value is None or isinstance(value, str | int) else str(value)
