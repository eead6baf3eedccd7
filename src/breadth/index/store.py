"""The SQLite side of an index: documents, metadata, full text, and the list of its vector segments.

A segment's file is complete on disk before the transaction that names it commits, so whatever SQLite shows is whole.
"""

from __future__ import annotations

import json
import re
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from breadth.arrays import Ids
from breadth.errors import InputError, StoreError
from breadth.index.documents import ROW_NUMBER, Document

FORMAT = 1
_SCHEMA = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE segments (
  number INTEGER PRIMARY KEY, file TEXT NOT NULL UNIQUE, start INTEGER NOT NULL, rows INTEGER NOT NULL
);
CREATE TABLE documents (
  number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, text TEXT NOT NULL, metadata TEXT NOT NULL
);
CREATE TABLE fields (name TEXT PRIMARY KEY);
CREATE VIRTUAL TABLE words USING fts5(text, content='documents', content_rowid='number', tokenize='porter unicode61');
CREATE TRIGGER documents_in AFTER INSERT ON documents BEGIN
  INSERT INTO words(rowid, text) VALUES (new.number, new.text);
END;
CREATE TRIGGER documents_out AFTER DELETE ON documents BEGIN
  INSERT INTO words(words, rowid, text) VALUES ('delete', old.number, old.text);
END;
CREATE TRIGGER documents_changed AFTER UPDATE OF metadata, number ON documents WHEN old.number != new.number BEGIN
  INSERT INTO words(words, rowid, text) VALUES ('delete', old.number, old.text);
  INSERT INTO words(rowid, text) VALUES (new.number, new.text);
END;
"""
_ALLOWED = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION}
_RESERVED = ("id", "text")
_CONDITION_SECONDS = 20.0
"""The longest that a condition may take."""
_MARKS = 500
"""Values in one SQL statement; SQLite allows 999 in old versions."""


@dataclass(frozen=True)
class Segment:
    """A vector file. Its rows have the numbers `start` … `start + rows - 1`, which are never used again."""

    number: int
    file: str
    start: int
    rows: int


@dataclass(frozen=True)
class StoredRow:
    """A document as the store holds it: its row number, its text, and its metadata as JSON."""

    number: int
    text: str
    metadata: str

    def holds(self, document: Document) -> bool:
        """Whether the content is that of this document."""
        return self.text == document.text and self.metadata == metadata_json(document)


class StaleError(StoreError):
    """Something that was read before has changed since."""


class Store:
    """One connection to the file. Nobody sees half a change.

    `transaction` wraps a change, and `snapshot` wraps several reads that must see the same state.
    """

    def __init__(self, path: Path) -> None:
        if not path.is_file():
            raise StoreError(f"{path.parent} is not a breadth index: it has no {path.name}")
        self.path = path
        self._db = sqlite3.connect(path, isolation_level=None, timeout=30.0, check_same_thread=False)
        try:
            self._db.execute("PRAGMA synchronous=FULL")
            version = self.fact("format")
        except sqlite3.DatabaseError as error:
            self._db.close()
            raise StoreError(f"{path} cannot be read as an index: {error}") from error
        if version != str(FORMAT):
            self._db.close()
            raise StoreError(f"{path} has format {version}, this program reads format {FORMAT}")

    @classmethod
    def create(cls, path: Path, facts: dict[str, str]) -> None:
        """Make an empty store. The file gets its name only when it is complete."""
        partial = path.with_suffix(".partial")
        partial.unlink(missing_ok=True)
        db = sqlite3.connect(partial)
        db.execute("PRAGMA journal_mode=WAL")
        db.executescript(_SCHEMA)
        db.executemany("INSERT INTO facts VALUES (?, ?)", [("format", str(FORMAT)), *facts.items()])
        db.commit()
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        db.close()
        partial.rename(path)

    def close(self) -> None:
        """Close the connection."""
        self._db.close()

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Make everything that is read inside show the same moment."""
        self._db.execute("BEGIN")
        try:
            yield
        finally:
            if self._db.in_transaction:
                self._db.execute("COMMIT")

    def fact(self, name: str) -> str | None:
        """Return what was recorded under this name when the index was made."""
        row = self._db.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
        return None if row is None else str(row[0])

    def version(self) -> int:
        """Return a number that changes whenever another connection has committed something."""
        return int(self._db.execute("PRAGMA data_version").fetchone()[0])

    def segments(self) -> list[Segment]:
        """List the segments in the order of their row numbers."""
        rows = self._db.execute("SELECT number, file, start, rows FROM segments ORDER BY start")
        return [Segment(*row) for row in rows]

    def count(self) -> int:
        """Count the documents."""
        return int(self._db.execute("SELECT count(*) FROM documents").fetchone()[0])

    def numbers(self, where: str | None = None) -> Ids:
        """Return the row numbers of all documents, or of those a condition holds for, in increasing order."""
        if where is None:
            rows = self._db.execute("SELECT number FROM documents ORDER BY number").fetchall()
        else:
            rows = self._select_where(where)
        return np.array(rows, dtype=np.int64).reshape(-1)

    def fields(self) -> list[str]:
        """List the names of metadata that any document has."""
        return [str(row[0]) for row in self._db.execute("SELECT name FROM fields ORDER BY name")]

    def documents(self, numbers: Iterable[int]) -> list[Document]:
        """Return the documents with these row numbers, in this order."""
        wanted = [int(n) for n in numbers]
        found: dict[int, Document] = {}
        for start in range(0, len(wanted), _MARKS):
            some = wanted[start : start + _MARKS]
            marks = ",".join("?" * len(some))
            sql = f"SELECT number, id, text, metadata FROM documents WHERE number IN ({marks})"
            for number, identity, text, metadata in self._db.execute(sql, some):
                found[number] = Document(identity, text, json.loads(metadata))
        missing = [n for n in wanted if n not in found]
        if missing:
            raise StaleError(f"row {missing[0]} has no document any more; search again")
        return [found[n] for n in wanted]

    def find(self, ids: Sequence[str]) -> dict[str, StoredRow]:
        """Return what is stored for each of these ids that is there."""
        found: dict[str, StoredRow] = {}
        for start in range(0, len(ids), _MARKS):
            some = list(ids[start : start + _MARKS])
            marks = ",".join("?" * len(some))
            sql = f"SELECT id, number, text, metadata FROM documents WHERE id IN ({marks})"
            found |= {identity: StoredRow(*row) for identity, *row in self._db.execute(sql, some)}
        return found

    def match_words(self, query: str, limit: int | None = None) -> tuple[Ids, Any]:
        """Return the numbers of rows that share a word with the query and their BM25 scores, best first."""
        terms = [part for part in "".join(c if c.isalnum() else " " for c in query).split() if part]
        if not terms:
            return np.empty(0, dtype=np.int64), np.empty(0)
        match = " OR ".join(f'"{term}"' for term in dict.fromkeys(terms))
        sql = "SELECT rowid, -bm25(words) FROM words WHERE words MATCH ? ORDER BY bm25(words), rowid"
        rows = self._db.execute(sql + ("" if limit is None else f" LIMIT {int(limit)}"), (match,)).fetchall()
        return np.array([r[0] for r in rows], dtype=np.int64), np.array([r[1] for r in rows], dtype=np.float64)

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """Change the store: all of what is done inside is committed, or nothing."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield Transaction(self._db)
            self._db.execute("COMMIT")
        except BaseException:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise

    def _select_where(self, where: str) -> list[Any]:
        fields = self._check_condition(where)
        columns = [f"number AS {ROW_NUMBER}", *_RESERVED]
        for name in fields:
            path = "$." + json.dumps(name, ensure_ascii=False)
            columns.append(f"json_extract(metadata, {_quote_text(path)}) AS {_quote_name(name)}")
        inner = f"SELECT {ROW_NUMBER} FROM (SELECT {', '.join(columns)} FROM documents) WHERE ({where}\n)"
        until = time.monotonic() + _CONDITION_SECONDS
        self._db.set_authorizer(lambda action, *_: sqlite3.SQLITE_OK if action in _ALLOWED else sqlite3.SQLITE_DENY)
        self._db.set_progress_handler(lambda: time.monotonic() > until, 10_000)
        try:
            sql = f"SELECT number FROM documents WHERE number IN ({inner}) ORDER BY number"
            return self._db.execute(sql).fetchall()
        except (sqlite3.Error, sqlite3.Warning) as error:
            known = ", ".join((*_RESERVED, *fields))
            raise InputError(f"where {where!r} cannot be used: {error}; the fields are {known}") from error
        finally:
            self._db.set_authorizer(lambda *_: sqlite3.SQLITE_OK)
            self._db.set_progress_handler(None, 0)

    def _check_condition(self, where: str) -> list[str]:
        """Check what SQLite would not, and return the fields beside id and text that a condition can name."""
        if not isinstance(where, str) or not where.strip():
            raise InputError(f"where must be a condition such as \"source = 'NIDDK' and year > 2010\", got {where!r}")
        fields = [name for name in self.fields() if name not in _RESERVED]
        known = (*_RESERVED, *fields)
        for name in re.findall(r'"([^"]*)"', re.sub(r"'(?:[^']|'')*'", "''", where)):
            if name.lower() not in {n.lower() for n in known}:  # SQLite would take it for a text
                raise InputError(f"where {where!r}: there is no field {name!r}; the fields are {', '.join(known)}")
        return fields


class Transaction:
    """The changes that can be made inside a transaction."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def add_segment(self, file: str, documents: Sequence[Document]) -> None:
        """Add a segment whose rows are these documents, in this order."""
        (start,) = self._db.execute("SELECT coalesce(max(start + rows), 0) FROM segments").fetchone()
        self._db.execute("INSERT INTO segments(file, start, rows) VALUES (?, ?, ?)", (file, start, len(documents)))
        rows = [(start + i, d.id, d.text, metadata_json(d)) for i, d in enumerate(documents)]
        self._db.executemany("INSERT INTO documents VALUES (?, ?, ?, ?)", rows)
        names = {name for d in documents for name in d.metadata}
        self._db.executemany("INSERT OR IGNORE INTO fields VALUES (?)", [(name,) for name in sorted(names)])

    def remove_documents(self, ids: Sequence[str]) -> int:
        """Remove documents and return how many there were."""
        return sum(self._db.execute("DELETE FROM documents WHERE id = ?", (identity,)).rowcount for identity in ids)

    def drop_segments(self, segments: Sequence[Segment]) -> None:
        """Remove segments that have no document any more."""
        self._db.executemany("DELETE FROM segments WHERE number = ?", [(segment.number,) for segment in segments])

    def replace_segments(self, old: Sequence[Segment], file: str, numbers: Sequence[int]) -> None:
        """Put one segment in the place of several: its rows are the documents with these numbers, in this order."""
        (start,) = self._db.execute("SELECT coalesce(max(start + rows), 0) FROM segments").fetchone()
        self._db.executemany(
            "UPDATE documents SET number = ? WHERE number = ?", [(start + i, n) for i, n in enumerate(numbers)]
        )
        self.drop_segments(old)
        self._db.execute("INSERT INTO segments(file, start, rows) VALUES (?, ?, ?)", (file, start, len(numbers)))


def metadata_json(document: Document) -> str:
    """Return a document's metadata as it is stored."""
    return json.dumps(dict(document.metadata), ensure_ascii=False, sort_keys=True, allow_nan=False)


def _quote_text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _quote_name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
