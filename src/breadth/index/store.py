"""What the SQLite file of an index holds, as it is read: documents, full text, and the list of vector segments.

A segment's file is complete on disk before the transaction that names it commits, so whatever SQLite shows is whole.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from breadth.arrays import Ids
from breadth.errors import DamagedError
from breadth.index.connections import StaleError
from breadth.index.documents import Document, metadata_json

_MARKS = 500
"""Values in one SQL statement; SQLite allows 999 in old versions."""


@dataclass(frozen=True)
class State:
    """Where an index stands.

    generation   changes with every transaction
    epoch        changes when segments change
    next         the number of the next document
    documents    how many documents there are
    waiting      how many vectors are in no segment yet
    """

    generation: int
    epoch: int
    next: int
    documents: int
    waiting: int


@dataclass(frozen=True, eq=False)
class Segment:
    """A vector file, the mark that its header must have, and the numbers of its rows, in increasing order."""

    file: str
    mark: str
    numbers: Ids


@dataclass(frozen=True)
class StoredRow:
    """A document as the store holds it: its number, text and parent, and its metadata as JSON."""

    number: int
    parent: str | None
    text: str
    metadata: str

    def holds(self, document: Document) -> bool:
        """Whether the content is that of this document."""
        same = self.text == document.text and self.parent == document.parent
        return same and self.metadata == metadata_json(document)

    def root(self, identity: str) -> str:
        """The id of the whole document, given that of this row."""
        return identity if self.parent is None else self.parent


@dataclass(frozen=True, eq=False)
class PendingRows:
    """Vectors that are not in a segment yet, with the numbers of their documents."""

    numbers: Ids
    vectors: npt.NDArray[np.float32]


class View:
    """What one transaction sees."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self.db = db

    def fact(self, name: str) -> str | None:
        """Return what was recorded under this name when the index was made."""
        row = self.db.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
        return None if row is None else str(row[0])

    def state(self) -> State:
        """Return where the index stands."""
        row = self.db.execute("SELECT generation, epoch, next, documents, waiting FROM state").fetchone()
        if row is None or not all(isinstance(number, int) for number in row):
            raise DamagedError("index.sqlite is damaged: it does not say in which state it is")
        return State(*row)

    def segments(self) -> list[Segment]:
        """List the segments in the order of their numbers."""
        rows = self.db.execute("SELECT file, mark, runs, crc FROM segments ORDER BY first").fetchall()
        return [_read_segment(*row) for row in rows]

    def pending(self, dim: int, after: int = -1) -> PendingRows:
        """Return the vectors that are in no segment yet and whose numbers are above `after`."""
        sql = "SELECT number, vector, crc FROM pending WHERE number > ? ORDER BY number"
        rows = self.db.execute(sql, (after,)).fetchall()
        for number, vector, crc in rows:
            if len(vector) != 4 * dim or vector_crc(number, vector) != crc:
                raise DamagedError(f"index.sqlite is damaged: the vector of row {number} does not match its checksum")
        vectors = np.frombuffer(b"".join(row[1] for row in rows), dtype="<f4").reshape(-1, dim)
        return PendingRows(np.array([row[0] for row in rows], dtype=np.int64), vectors)

    def deleted(self, after: int = -1) -> tuple[Ids, int]:
        """Return the numbers of rows that were deleted since a place, and the last place."""
        rows = self.db.execute("SELECT place, number FROM deleted WHERE place > ? ORDER BY place", (after,)).fetchall()
        numbers = np.array([row[1] for row in rows], dtype=np.int64)
        return numbers, int(rows[-1][0]) if rows else after

    def documents(self, numbers: Iterable[int]) -> list[Document]:
        """Return the documents with these numbers, in this order."""
        wanted = [int(n) for n in numbers]
        found: dict[int, Document] = {}
        sql = "SELECT number, id, parent, text, metadata, crc FROM documents WHERE number IN"
        for row in self._select_many(sql, list(dict.fromkeys(wanted))):
            found[row[0]] = _read_document(*row)
        missing = [n for n in wanted if n not in found]
        if missing:
            raise StaleError(f"row {missing[0]} has no document any more: it was deleted or replaced; search again")
        return [found[n] for n in wanted]

    def all_documents(self, after: int, count: int) -> list[tuple[int, Document]]:
        """Return the next documents in the order of their numbers, with the numbers."""
        sql = "SELECT number, id, parent, text, metadata, crc FROM documents WHERE number > ? ORDER BY number LIMIT ?"
        return [(row[0], _read_document(*row)) for row in self.db.execute(sql, (after, count))]

    def find(self, ids: Sequence[str]) -> dict[str, StoredRow]:
        """Return what is stored for each of these ids that is there."""
        sql = "SELECT id, number, parent, text, metadata FROM documents WHERE id IN"
        return {identity: StoredRow(*row) for identity, *row in self._select_many(sql, list(ids))}

    def find_numbers(self, ids: Sequence[str]) -> dict[str, int]:
        """Return the number of each of these ids that is there."""
        return dict(self._select_many("SELECT id, number FROM documents WHERE id IN", list(ids)))

    def families(self, roots: Sequence[str]) -> dict[str, list[str]]:
        """Return the ids of these documents, and of their pieces, by the id of the whole document."""
        found: dict[str, list[str]] = {}
        whole = "SELECT id, id FROM documents WHERE parent IS NULL AND id IN"
        for sql in (whole, "SELECT parent, id FROM documents WHERE parent IN"):
            for root, identity in self._select_many(sql, list(roots)):
                found.setdefault(root, []).append(identity)
        return found

    def match_words(self, query: str, limit: int | None = None) -> tuple[Ids, Any]:
        """Return the numbers of rows that share a word with the query and their BM25 scores, best first."""
        terms = [part for part in "".join(c if c.isalnum() else " " for c in query).split() if part]
        if not terms:
            return np.empty(0, dtype=np.int64), np.empty(0)
        match = " OR ".join(f'"{term}"' for term in dict.fromkeys(terms))
        sql = "SELECT rowid, -bm25(words) FROM words WHERE words MATCH ? ORDER BY bm25(words), rowid LIMIT ?"
        rows = self.db.execute(sql, (match, -1 if limit is None else limit)).fetchall()
        return np.array([r[0] for r in rows], dtype=np.int64), np.array([r[1] for r in rows], dtype=np.float64)

    def _select_many(self, sql: str, values: list[Any]) -> Iterator[Any]:
        for start in range(0, len(values), _MARKS):
            some = values[start : start + _MARKS]
            yield from self.db.execute(f"{sql} ({','.join('?' * len(some))})", some).fetchall()


def document_crc(number: int, identity: str, parent: str | None, text: str, metadata: str) -> int:
    """The checksum of a document as it is stored."""
    return zlib.crc32("\0".join((str(number), identity, parent or "", text, metadata)).encode())


def vector_crc(number: int, vector: bytes) -> int:
    """The checksum of a vector that is in no segment yet."""
    return zlib.crc32(vector, number & 0xFFFFFFFF)


def segment_crc(file: str, mark: str, runs: bytes) -> int:
    """The checksum of what is recorded about a segment."""
    return zlib.crc32(runs, zlib.crc32(f"{file}\0{mark}".encode()))


def write_runs(numbers: Ids) -> bytes:
    """Increasing numbers as runs: the first of each run of consecutive numbers, and how many there are."""
    breaks = np.flatnonzero(np.diff(numbers) != 1) + 1
    starts = np.concatenate(([0], breaks)) if len(numbers) else np.empty(0, dtype=np.int64)
    counts = np.diff(np.concatenate((starts, [len(numbers)])))
    return np.column_stack((numbers[starts.astype(np.int64)], counts)).astype("<i8").tobytes()


def _read_runs(data: bytes) -> Ids:
    runs = np.frombuffer(data, dtype="<i8").reshape(-1, 2)
    firsts, counts = runs[:, 0], runs[:, 1]
    before = np.concatenate(([0], np.cumsum(counts)[:-1]))
    return np.asarray(np.repeat(firsts - before, counts) + np.arange(counts.sum()), dtype=np.int64)


def _read_segment(file: str, mark: str, runs: bytes, crc: int) -> Segment:
    if segment_crc(file, mark, runs) != crc:
        raise DamagedError(f"index.sqlite is damaged: what it says about {file} does not match its checksum")
    return Segment(file, mark, _read_runs(runs))


def _read_document(number: int, identity: str, parent: str | None, text: str, metadata: str, crc: int) -> Document:
    try:
        if document_crc(number, identity, parent, text, metadata) == crc:
            return Document.restore(identity, text, json.loads(metadata), parent)
    except (ValueError, TypeError, RecursionError):
        pass
    raise DamagedError(f"index.sqlite is damaged: the document in row {number} does not match its checksum")
