"""What writes to an index: adding and deleting documents, merging segments, removing leftover files.

A segment's file is written whole before the transaction that names it. A crash in between leaves a file that no
transaction names; the next writer removes it.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from breadth.arrays import Array
from breadth.checks import check_count
from breadth.errors import InputError
from breadth.index.collection import Collection
from breadth.index.documents import Document
from breadth.index.encoding import RecordedEncoder
from breadth.index.lock import Lock
from breadth.index.store import Segment, StoredRow
from breadth.oracles.compact import CompactOracle

Item = TypeVar("Item")

BATCH = 4096
"""Documents that become one segment."""
MANY_SEGMENTS, SMALL_SEGMENT = 64, 1 << 16
"""Once there are more than MANY_SEGMENTS segments of at most SMALL_SEGMENT rows, adding documents merges them."""


@dataclass(frozen=True)
class Added:
    """What became of the documents given: how many were new, already there unchanged, or replaced.

    `skipped` names those that were left out, as pairs (id, reason).
    """

    added: int = 0
    unchanged: int = 0
    updated: int = 0
    skipped: tuple[tuple[str, str], ...] = ()

    def __add__(self, other: Added) -> Added:
        return Added(
            self.added + other.added,
            self.unchanged + other.unchanged,
            self.updated + other.updated,
            self.skipped + other.skipped,
        )


class Writer:
    """Changes an index. Every change is all or nothing, and one process writes at a time."""

    def __init__(self, collection: Collection, encoder: RecordedEncoder) -> None:
        self._collection = collection
        self._store = collection.store
        self._layout = collection.layout
        self._encoder = encoder

    def write(self, documents: Iterable[Document], vectors: Any, batch: int, replace: bool) -> Added:
        """Add documents, in batches that are each committed whole; `replace` allows new content for ids in use."""
        check_count(batch, "batch")
        done, start = Added(), 0
        with self._lock():
            self._remove_unnamed_files()
            for some in split_into_batches(documents, batch):
                done += self._commit(some, _take_rows(vectors, start, len(some)), replace)
                start += len(some)
                self._merge_small_segments()
            if vectors is not None and len(vectors) > start:
                raise InputError(f"vectors has more rows ({len(vectors)}) than there are documents ({start})")
            self._merge_small_segments()
        return done

    def delete(self, ids: Sequence[str]) -> int:
        """Remove documents and return how many there were."""
        with self._lock(), self._store.transaction() as change:
            return change.remove_documents(ids)

    def optimize(self) -> None:
        """Merge all segments into one and drop the rows of deleted documents."""
        with self._lock():
            self._merge(self._store.segments())

    def find_conflicts(self, documents: Sequence[Document]) -> set[str]:
        """Return the ids of documents that the index holds with other content."""
        stored = self._store.find([d.id for d in documents])
        return {d.id for d in documents if d.id in stored and not stored[d.id].holds(d)}

    @contextmanager
    def _lock(self) -> Iterator[None]:
        """Be the only writer for a while; afterwards everything is read anew."""
        with self._collection.mutex, Lock(self._layout.lock):
            try:
                yield
            finally:
                self._collection.forget()

    def _commit(self, batch: list[Document], vectors: Any, replace: bool) -> Added:
        """Write one batch: encode what is new, write its segment, then name the segment in a transaction."""
        places = _find_last_places(batch, replace)
        stored = self._store.find([batch[place].id for place in places])
        new = [place for place in places if not _is_stored(batch[place], stored)]
        conflicts = [batch[place].id for place in new if batch[place].id in stored]
        if conflicts and not replace:
            raise InputError(f"document {conflicts[0]!r} is there with other content; use update")
        unchanged = len(places) - len(new)
        if not new:
            return Added(unchanged=unchanged)
        documents = [batch[place] for place in new]
        rows = self._encode(documents) if vectors is None else np.asarray(vectors[new], dtype=np.float32)
        self._check_columns(rows)
        known = np.asarray(rows.any(axis=1))
        kept = [d for d, has_words in zip(documents, known, strict=True) if has_words]
        skipped = [d.id for d, has_words in zip(documents, known, strict=True) if not has_words]
        replaced = [d.id for d in kept if d.id in stored]
        if kept:
            self._save_segment(rows[known], kept, replaced)
        reasons = tuple((identity, "no word that the encoder knows") for identity in skipped)
        return Added(len(kept) - len(replaced), unchanged, len(replaced), reasons)

    def _encode(self, documents: list[Document]) -> Array:
        rows = self._encoder.encode([d.text for d in documents], "document")
        return np.asarray(rows, dtype=np.float32)

    def _check_columns(self, rows: Array) -> None:
        dim = self._encoder.dim
        if rows.ndim != 2 or rows.shape[1] != dim:
            raise InputError(f"vectors must have {dim} columns, as the index has; got shape {rows.shape}")

    def _save_segment(self, rows: Array, documents: list[Document], replaced: list[str]) -> None:
        file = _new_file_name()
        CompactOracle.build(rows).save(self._layout.segments / file)
        with self._store.transaction() as change:
            change.remove_documents(replaced)
            change.add_segment(file, documents)

    def _merge_small_segments(self) -> None:
        """Merge the small segments once there are many of them; leave large ones as they are."""
        small = [segment for segment in self._store.segments() if segment.rows <= SMALL_SEGMENT]
        if len(small) > MANY_SEGMENTS:
            self._merge(small)

    def _merge(self, segments: list[Segment]) -> None:
        """Replace these segments by one that holds the rows of documents that are still there."""
        every = self._store.numbers()
        spans = [np.searchsorted(every, [s.start, s.start + s.rows]) for s in segments]
        numbers = np.concatenate([every[low:high] for low, high in spans]) if spans else every[:0]
        if len(segments) == 1 and len(numbers) == segments[0].rows:
            return
        if len(numbers) == 0:
            with self._store.transaction() as change:
                change.drop_segments(segments)
        else:
            file = _new_file_name()
            oracle = self._collection.join(segments, numbers)
            steps = range(0, oracle.size, BATCH)
            chunks = (oracle.rows(np.arange(start, min(start + BATCH, oracle.size))) for start in steps)
            CompactOracle.stream(chunks, self._layout.segments / file)
            with self._store.transaction() as change:
                change.replace_segments(segments, file, numbers.tolist())
        self._remove_unnamed_files()

    def _remove_unnamed_files(self) -> None:
        """Remove vector files that no transaction has named: what an interrupted writer left behind."""
        named = {segment.file for segment in self._store.segments()}
        for file in self._layout.segments.iterdir():
            if file.name not in named:
                self._collection.release(file.name)
                with suppress(OSError):  # some systems keep a file that is being read: the next writer tries again
                    file.unlink()


def split_into_batches(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Yield the items in lists of `size`, the last one maybe shorter, without reading further than needed."""
    batch: list[Item] = []
    for item in items:
        batch.append(item)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch


def _find_last_places(batch: list[Document], replace: bool) -> list[int]:
    """Return the last place of every id, in increasing order; without `replace`, an id may have one place only."""
    last = {document.id: place for place, document in enumerate(batch)}
    if len(last) < len(batch) and not replace:
        twice = next(d.id for place, d in enumerate(batch) if last[d.id] != place)
        raise InputError(f"the id {twice!r} stands twice among the documents")
    return sorted(last.values())


def _is_stored(document: Document, stored: dict[str, StoredRow]) -> bool:
    return document.id in stored and stored[document.id].holds(document)


def _take_rows(vectors: Any, start: int, count: int) -> Any:
    """Return the rows of a batch that starts at this document."""
    if vectors is None:
        return None
    rows = np.asarray(vectors[start : start + count])
    if len(rows) != count:
        raise InputError(f"vectors has fewer rows ({start + len(rows)}) than there are documents")
    return rows


def _new_file_name() -> str:
    return f"{uuid.uuid4().hex}.compact"
