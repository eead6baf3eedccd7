"""The changes that a transaction makes to the SQLite file of an index: all of them are committed, or none."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import numpy.typing as npt

from breadth.arrays import Ids
from breadth.index.documents import Document, metadata_json
from breadth.index.entries import remove_entries, write_entries
from breadth.index.store import Segment, View, document_crc, segment_crc, vector_crc, write_runs

_FREE_PAGES, _PAGES_AT_ONCE = 256, 256
"""More free pages than these, and more than a quarter of the file, are given back, some with each change."""
_AT_ONCE = 1000
"""Documents that are held in memory at a time."""


@contextmanager
def change(db: sqlite3.Connection) -> Iterator[Change]:
    """Change the store: all of what is done inside is committed, or nothing."""
    db.execute("BEGIN IMMEDIATE")
    try:
        one = Change(db)
        yield one
        one.finish()
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


class Change:
    """The changes that can be made inside a transaction."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._view = View(db)
        self._state = self._view.state()
        self._count, self._next, self._waiting = self._state.documents, self._state.next, self._state.waiting
        self._moved = False

    def finish(self) -> None:
        """Record the new state."""
        self._db.execute(
            "UPDATE state SET generation = ?, epoch = ?, next = ?, documents = ?, waiting = ?",
            (self._state.generation + 1, self._state.epoch + self._moved, self._next, self._count, self._waiting),
        )

    def add_documents(self, documents: Sequence[Document]) -> Ids:
        """Add documents and return their numbers. Their vectors must be added in the same transaction."""
        numbers = np.arange(self._next, self._next + len(documents))
        self._next += len(documents)
        self._count += len(documents)
        rows = []
        for number, document in zip(numbers.tolist(), documents, strict=True):
            kept = (number, document.id, document.parent, document.text, metadata_json(document))
            rows.append((*kept, document_crc(*kept)))
        self._db.executemany("INSERT INTO documents VALUES (?, ?, ?, ?, ?, ?)", rows)
        self._db.executemany("INSERT INTO words(rowid, text) VALUES (?, ?)", [(row[0], row[3]) for row in rows])
        write_entries(self._db, [(n, d.metadata) for n, d in zip(numbers.tolist(), documents, strict=True)])
        return numbers

    def add_pending(self, numbers: Ids, vectors: npt.NDArray[np.float32]) -> None:
        """Add the vectors of documents, to be moved to a segment later."""
        rows = []
        for number, vector in zip(numbers.tolist(), vectors, strict=True):
            data = np.ascontiguousarray(vector, dtype="<f4").tobytes()
            rows.append((number, data, vector_crc(number, data)))
        self._db.executemany("INSERT INTO pending VALUES (?, ?, ?)", rows)
        self._waiting += len(rows)

    def clear_pending(self) -> None:
        """Drop the vectors that are in no segment: a segment that is added in the same transaction has them."""
        self._db.execute("DELETE FROM pending")
        self._waiting = 0
        segments = self._view.segments()
        last = int(segments[-1].numbers[-1]) if segments else -1
        self._db.execute("DELETE FROM deleted WHERE number > ?", (last,))
        self._moved = True

    def add_segment(self, file: str, mark: str, numbers: Ids) -> None:
        """Add a segment whose rows are the vectors of the documents with these numbers, in this order."""
        runs = write_runs(numbers)
        row = (int(numbers[0]), file, mark, runs, segment_crc(file, mark, runs))
        self._db.execute("INSERT INTO segments VALUES (?, ?, ?, ?, ?)", row)
        self._moved = True

    def drop_segments(self, segments: Sequence[Segment]) -> None:
        """Remove segments, and the record of which of their rows were deleted."""
        for segment in segments:
            self._db.execute("DELETE FROM segments WHERE file = ?", (segment.file,))
            first, last = int(segment.numbers[0]), int(segment.numbers[-1])
            self._db.execute("DELETE FROM deleted WHERE number BETWEEN ? AND ?", (first, last))
        self._moved = True

    def remove_documents(self, ids: Sequence[str]) -> int:
        """Remove documents and return how many there were."""
        numbers = sorted(self._view.find_numbers(ids).values())
        for start in range(0, len(numbers), _AT_ONCE):
            some = numbers[start : start + _AT_ONCE]
            for number, document in zip(some, self._view.documents(some), strict=True):
                remove_entries(self._db, number, document.metadata)
                gone = (number, document.text)
                self._db.execute("INSERT INTO words(words, rowid, text) VALUES ('delete', ?, ?)", gone)
        rows = [(number,) for number in numbers]
        self._db.executemany("DELETE FROM documents WHERE number = ?", rows)
        self._waiting -= self._db.executemany("DELETE FROM pending WHERE number = ?", rows).rowcount if rows else 0
        self._db.executemany("INSERT INTO deleted(number) VALUES (?)", rows)
        self._count -= len(numbers)
        return len(numbers)


def give_back_space(db: sqlite3.Connection, everything: bool) -> None:
    """Shrink the file if much of it is free: `everything`, or a part, so that no change takes long."""
    free, pages = (int(db.execute(f"PRAGMA {name}").fetchone()[0]) for name in ("freelist_count", "page_count"))
    if everything:
        db.execute("INSERT INTO words(words) VALUES ('optimize')")
        db.executescript("PRAGMA incremental_vacuum")  # `execute` would free a single page
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    elif free > max(_FREE_PAGES, pages // 4):
        db.executescript(f"PRAGMA incremental_vacuum({_PAGES_AT_ONCE})")
