"""What writes to an index: adding and deleting documents, merging segments, removing leftover files.

Few vectors go into SQLite with their documents; many become a file of their own, as do few ones together later. A
segment's file is written whole before the transaction that names it. A crash in between leaves a file that no
transaction names; the next writer removes it.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence, Sized
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from breadth.arrays import Array, Ids
from breadth.checks import check_count, check_lengths, check_vectors, square_lengths
from breadth.errors import BreadthError, InputError
from breadth.foreign import to_array
from breadth.index import merging
from breadth.index.batches import check_documents, look_ahead, report_count, split_into_batches
from breadth.index.changes import change, give_back_space
from breadth.index.collection import Collection
from breadth.index.documents import Document, check_id
from breadth.index.encoding import RecordedEncoder
from breadth.index.failures import reported
from breadth.index.layout import new_segment_name
from breadth.index.lock import Lock
from breadth.index.plan import Plan, Rows, check_unique, make_plan
from breadth.index.snapshot import Part
from breadth.index.store import Segment, View
from breadth.oracles.compact import CompactOracle, save_together, write_rows

BATCH = 4096
"""Documents that are committed together."""
_PATIENCE = 0.5
"""Seconds to wait for another writer before its being there is an error."""


@dataclass(frozen=True)
class Added:
    """What became of the documents given: how many were new, already there unchanged, or replaced.

    `removed` counts the old pieces of documents that are no longer wanted. `skipped` names those that were left out,
    as pairs (id, reason).
    """

    added: int = 0
    unchanged: int = 0
    updated: int = 0
    skipped: tuple[tuple[str, str], ...] = ()
    removed: int = 0

    def __add__(self, other: Added) -> Added:
        return Added(
            self.added + other.added,
            self.unchanged + other.unchanged,
            self.updated + other.updated,
            self.skipped + other.skipped,
            self.removed + other.removed,
        )


class Writer:
    """Changes an index. Every change is all or nothing, and one process writes at a time."""

    def __init__(self, collection: Collection, encoder: RecordedEncoder) -> None:
        self._collection = collection
        self._layout = collection.layout
        self._encoder = encoder
        self._mutex = threading.RLock()
        self._tidy = False
        self._removed = merging.FLUSH
        """Documents that were removed since files were last looked at."""

    def write(self, documents: Iterable[Document], vectors: Any, batch: int, replace: bool, whole: bool) -> Added:
        """Add documents, in batches that are each committed whole; `replace` allows new content for ids in use."""
        check_count(batch, "batch")
        rows = None if vectors is None else self._check_vectors(vectors)
        if rows is not None and isinstance(documents, Sized) and len(documents) != len(rows):
            raise report_count(len(documents), len(rows))
        done, start = Added(), 0
        with self._lock() as db:
            batches = look_ahead(split_into_batches(check_documents(documents), batch))
            for some, is_last in batches:
                stop = start + len(some)
                if rows is not None and (stop > len(rows) or (is_last and stop != len(rows))):
                    raise report_count(stop, len(rows))
                done += self._commit(db, some, None if rows is None else rows[start:stop], start, replace, whole)
                start = stop
                with self._reported():
                    self._maintain(db)
            if rows is not None and start != len(rows):
                raise report_count(start, len(rows))
        return done

    def delete(self, ids: Sequence[str]) -> int:
        """Remove documents and return how many there were."""
        wanted = list(dict.fromkeys(check_id(identity, "ids: an id") for identity in ids))
        with self._lock() as db, self._reported():
            with change(db) as one:
                removed = one.remove_documents(wanted)
            self._removed += removed
            self._maintain(db)
        return removed

    def optimize(self) -> None:
        """Merge all segments into one, drop the rows of deleted documents, and give back free space."""
        with self._lock() as db, self._reported():
            snapshot = self._collection.snapshot(View(db))
            parts, segments = snapshot.parts, [segment for segment, _ in snapshot.segments]
            done = len(segments) == len(parts) == 1 and parts[0].live is None and not snapshot.state.waiting
            if (segments or snapshot.state.waiting) and not done:
                self._replace_segments(db, segments, parts, clear_pending=True)
            self._remove_unnamed_files(db)
            give_back_space(db, everything=True)

    def find_conflicts(self, documents: Sequence[Document], vectors: Any, whole: bool) -> set[str]:
        """Return the ids of documents that the index holds with other content, or with another vector."""
        checked = list(check_documents(documents))
        rows = None if vectors is None else np.asarray(self._check_vectors(vectors), dtype=np.float32)
        if rows is not None and len(rows) != len(checked):
            raise report_count(len(checked), len(rows))

        def read(view: View) -> Plan:
            return make_plan(view, checked, rows, whole, lambda: self._collection.snapshot(view))

        return set(self._collection.read(read).conflicts)

    @contextmanager
    def _lock(self) -> Iterator[sqlite3.Connection]:
        """Be the only writer for a while."""
        with self._mutex, ExitStack() as held:
            db = self._collection.connections.writer()
            with self._reported():
                held.enter_context(Lock(self._layout.lock, _PATIENCE))
                if not self._tidy:
                    self._remove_unnamed_files(db)
                    self._tidy = True
            yield db

    def _reported(self) -> AbstractContextManager[None]:
        return reported(self._layout.folder)

    def _commit(
        self,
        db: sqlite3.Connection,
        batch: list[Document],
        given: Array | None,
        start: int,
        replace: bool,
        whole: bool,
    ) -> Added:
        """Write one batch: encode what is new, then store documents and vectors in one transaction."""
        if not replace:
            check_unique(batch)
        view = View(db)
        rows = None if given is None else np.ascontiguousarray(given, dtype=np.float32)
        if rows is not None:
            check_lengths(square_lengths(rows), start, "vectors")
        with self._reported():
            plan = make_plan(view, batch, rows, whole, lambda: self._collection.snapshot(view))
        if plan.conflicts and not replace:
            raise InputError(next(iter(plan.conflicts.values())))
        documents = [batch[place] for place in plan.new]
        if rows is None:
            documents, new = self._encode(documents, plan)
        else:
            new = rows[plan.new]
        with self._reported():
            self._store(db, documents, new, [*plan.replaced, *plan.dropped])
        updated = len(plan.replaced)
        return Added(len(documents) - updated, plan.unchanged, updated, tuple(plan.skipped), len(plan.dropped))

    def _encode(self, documents: list[Document], plan: Plan) -> tuple[list[Document], Rows]:
        """Encode documents, and leave out those of which the encoder knows no word."""
        if not documents:
            return [], np.empty((0, self._encoder.dim), dtype=np.float32)
        empty = next((document for document in documents if not document.text.strip()), None)
        if empty is not None:
            raise InputError(f"document {empty.id!r} has no text; pass its vector, or leave it out")
        rows = np.asarray(self._encoder.encode([d.text for d in documents], "document"), dtype=np.float32)
        if rows.shape != (len(documents), self._encoder.dim):
            raise InputError(
                f"the encoder {self._encoder.name} returned an array of shape {rows.shape} for {len(documents)} texts; "
                f"the index has {self._encoder.dim} dimensions"
            )
        known = np.asarray(rows.any(axis=1))
        unknown = [document.id for document, has_words in zip(documents, known, strict=True) if not has_words]
        plan.skipped += [(identity, "no word that the encoder knows") for identity in unknown]
        plan.replaced = [identity for identity in plan.replaced if identity not in set(unknown)]
        kept = [document for document, has_words in zip(documents, known, strict=True) if has_words]
        if kept:
            check_lengths(square_lengths(rows[known]), 0, f"what the encoder {self._encoder.name} returned")
        return kept, np.ascontiguousarray(rows[known])

    def _check_vectors(self, vectors: Any) -> Array:
        array = to_array(vectors, "vectors")
        if array.shape in ((0,), (0, self._encoder.dim)):  # no documents, no rows
            return np.empty((0, self._encoder.dim), dtype=np.float32)
        rows = check_vectors(array, "vectors")
        if rows.shape[1] != self._encoder.dim:
            raise InputError(f"vectors must have {self._encoder.dim} columns, as the index has; got shape {rows.shape}")
        return rows

    def _store(self, db: sqlite3.Connection, documents: list[Document], rows: Rows, removed: list[str]) -> None:
        """Store documents with their vectors, and remove others, in one transaction."""
        if not documents and not removed:
            return
        view = View(db)
        state = view.state()
        self._removed += len(removed)
        if not documents or state.waiting + len(documents) < merging.FLUSH:
            with change(db) as one:
                one.remove_documents(removed)
                one.add_pending(one.add_documents(documents), rows)
            return
        pending = view.pending(self._encoder.dim)
        kept = ~np.isin(pending.numbers, list(view.find_numbers(removed).values()))
        numbers = np.append(pending.numbers[kept], np.arange(state.next, state.next + len(documents)))
        file, label = self._name_file()
        mark = write_rows([np.vstack((pending.vectors[kept], rows))], self._layout.segments / file, label)
        with change(db) as one:
            one.remove_documents(removed)
            one.add_documents(documents)
            one.clear_pending()
            one.add_segment(file, mark, numbers)
        self._removed = merging.FLUSH  # there is a new file, so look at all of them

    def _maintain(self, db: sqlite3.Connection) -> None:
        """Merge files where there are many, write those anew of which much was deleted, and give back space."""
        give_back_space(db, everything=False)
        if self._removed < merging.FLUSH:
            return
        self._removed = 0
        while (run := self._choose_merge(View(db))) is not None:
            snapshot = self._collection.snapshot(View(db))
            segments = [segment for segment, _ in snapshot.segments[run]]
            firsts = {int(segment.numbers[0]) for segment in segments}
            parts = [part for part in snapshot.parts if int(part.numbers[0]) in firsts]
            self._replace_segments(db, segments, parts)

    def _choose_merge(self, view: View) -> slice | None:
        segments, gone = view.segments(), np.sort(view.deleted()[0])
        spans = [np.searchsorted(gone, [segment.numbers[0], segment.numbers[-1] + 1]) for segment in segments]
        total = [len(segment.numbers) for segment in segments]
        live = [rows - int(high - low) for rows, (low, high) in zip(total, spans, strict=True)]
        return merging.choose_merge(live, total, 5 * self._encoder.dim)

    def _replace_segments(
        self, db: sqlite3.Connection, segments: Sequence[Segment], parts: Sequence[Part], clear_pending: bool = False
    ) -> None:
        """Put one segment with the rows of these parts in the place of several."""
        numbers: list[Ids] = [part.live_numbers for part in parts]
        file, label = self._name_file()
        mark = save_together([part.oracle() for part in parts], self._layout.segments / file, label) if parts else ""
        with change(db) as one:
            one.drop_segments(segments)
            if clear_pending:
                one.clear_pending()
            if parts:
                one.add_segment(file, mark, np.concatenate(numbers))
        self._remove_unnamed_files(db)

    def _name_file(self) -> tuple[str, str]:
        """A name for a new file, and the label that says to which index it belongs."""
        file = new_segment_name()
        return file, json.dumps({"index": self._collection.facts["identity"], "file": file})

    def _remove_unnamed_files(self, db: sqlite3.Connection) -> None:
        """Remove vector files of this index that no transaction has named: what an interrupted writer left behind."""
        named = {segment.file for segment in View(db).segments()}
        leftover = [path for path in self._layout.segment_files() if path.name not in named and self._is_own(path)]
        for path in (*leftover, *self._layout.unfinished_files()):
            with suppress(OSError):  # some systems keep a file that is being read: the next writer tries again
                path.unlink()

    def _is_own(self, path: Path) -> bool:
        """Whether a vector file says that it belongs to this index."""
        try:
            label = json.loads(CompactOracle.open(path).label)
        except (BreadthError, ValueError):
            return False
        return isinstance(label, dict) and label.get("index") == self._collection.facts["identity"]
