"""`Index`: add documents, search them diversely."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from breadth import api, encoders
from breadth.arrays import Ids
from breadth.checks import check_count, check_k, check_number, check_query
from breadth.encoders import BuiltinEncoder, Encoder
from breadth.errors import BreadthError, InputError, StoreError
from breadth.index.documents import Document, Hit, Results
from breadth.index.lock import Lock
from breadth.index.store import Segment, StaleError, Store, dumped
from breadth.oracles.compact import CompactOracle
from breadth.oracles.segmented import SegmentedOracle

_STORE, _SEGMENTS, _LOCK = "index.sqlite", "segments", "writer.lock"
_BATCH = 4096
"""Documents that become one segment."""
_ATTEMPTS = 5
_MANY_SEGMENTS, _SMALL = 64, 1 << 16
"""More segments of at most so many rows than this are merged when documents are added."""


@dataclass(frozen=True)
class Added:
    """What became of the documents given: new ones, ones that were there already just so, ones replaced, and ones left
    out with the reason."""

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


class Index:
    """Documents with their vectors in a directory. One process writes at a time, any number read meanwhile.

    Every change is all or nothing: what was committed is there after a crash, and nothing half-written is ever seen.
    """

    def __init__(self, path: str | Path, encoder: Encoder | None = None) -> None:
        self.path = Path(path)
        self._store = Store(self.path / _STORE)
        name = self._store.fact("encoder")
        self.encoder: Encoder | None = encoder
        if encoder is None and name == BuiltinEncoder.name:
            self.encoder = BuiltinEncoder()
        if self.encoder is not None and self.encoder.name != name:
            self._store.close()
            raise StoreError(
                f"{self.path} was made with the encoder {name}, not {self.encoder.name}; vectors do not mix"
            )
        self.encoder_name = str(name)
        self.dim = int(self._store.fact("dim") or 0)
        self._open_segments: dict[str, CompactOracle] = {}
        self._collection: tuple[int, SegmentedOracle | None] = (-1, None)
        self._mutex = threading.RLock()

    @classmethod
    def create(cls, path: str | Path, encoder: Encoder | None = None) -> Index:
        """An empty index in a new directory; the built-in encoder by default."""
        folder = Path(path)
        if folder.exists() and (not folder.is_dir() or any(not _unfinished(part) for part in folder.iterdir())):
            raise StoreError(f"{folder} exists and is not an empty folder; open it, or choose another name")
        encoder = encoder or BuiltinEncoder()
        facts = {"encoder": encoder.name, "dim": str(encoder.dim)}  # may fail: nothing is made before
        (folder / _SEGMENTS).mkdir(parents=True, exist_ok=True)
        Store.create(folder / _STORE, facts)
        return cls(folder, encoder)

    @classmethod
    def open(cls, path: str | Path, encoder: Encoder | None = None) -> Index:
        """An index that is there. One made with another encoder than the built-in needs that encoder for text."""
        return cls(path, encoder)

    def __enter__(self) -> Index:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the files."""
        self._store.close()
        self._open_segments.clear()
        self._collection = (-1, None)

    def __len__(self) -> int:
        return self._store.count()

    def __contains__(self, identity: object) -> bool:
        return isinstance(identity, str) and bool(self._store.stored([identity]))

    def get(self, identity: str) -> Document:
        """The document with this id."""
        found = self._store.stored([identity])
        if not found:
            raise InputError(f"there is no document {identity!r} in {self.path}")
        return self._store.documents([found[identity][0]])[0]

    @property
    def fields(self) -> list[str]:
        """Names of metadata that documents have: what `where` can ask for."""
        return self._store.fields()

    def add(self, documents: Iterable[Document], vectors: Any = None, batch: int = _BATCH) -> Added:
        """Add documents, in batches that are each committed whole.

        Ids that are there with the same content are left alone; with other content they are an error: that is what
        `update` is for.

        `vectors`: unit rows for the documents, if they are encoded already.
        """
        return self._write(documents, vectors, batch, replace=False)

    def update(self, documents: Iterable[Document], vectors: Any = None, batch: int = _BATCH) -> Added:
        """As `add`, but documents that are there are replaced."""
        return self._write(documents, vectors, batch, replace=True)

    def conflicting(self, documents: Sequence[Document]) -> set[str]:
        """Ids of documents that are there with other content."""
        there = self._store.stored([d.id for d in documents])
        return {d.id for d in documents if d.id in there and there[d.id][1:] != (d.text, dumped(d))}

    def delete(self, ids: Iterable[str]) -> int:
        """Take documents out; how many were there."""
        wanted = [ids] if isinstance(ids, str) else list(ids)
        with self._writing(), self._store.writing() as change:
            return change.remove(wanted)

    def optimize(self) -> None:
        """Merge all segments into one and drop the rows of deleted documents."""
        with self._writing():
            self._merge(self._store.segments())

    def search(
        self,
        query: Any,
        k: int = 10,
        theta: float | str | None = None,
        *,
        keep: float | None = None,
        where: str | None = None,
        method: str = "certified",
        hybrid: float = 0.0,
        scores: dict[str, float] | None = None,
        **options: Any,
    ) -> Results:
        """The k documents that are together relevant to a text (or a unit vector) and different from each other.

        where     restrict the collection before anything is chosen: an SQL condition over metadata, id and text.
        hybrid    weight in [0, 1] of BM25 beside the vectors: both scaled to [0, 1] over the collection, then mixed.
        scores    relevance from outside (a reranker, say) by document id: only these documents are looked at.
        The rest as in `breadth.select`.
        """
        text, vector = (query if isinstance(query, str) else None, None) if scores is not None else self._asked(query)
        options |= {"theta": theta, "keep": keep, "method": method}
        for attempt in range(_ATTEMPTS):
            try:
                with self._mutex, self._store.reading():
                    return self._found(text, vector, k, where, hybrid, scores, options)
            except (StaleError, FileNotFoundError):  # a writer has just merged or removed what was read
                self._collection = (-1, None)
                if attempt == _ATTEMPTS - 1:
                    raise StoreError(f"{self.path} lacks what it names: it changes too fast, or is damaged") from None
        raise AssertionError("unreachable")

    def _found(
        self,
        text: str | None,
        vector: Any,
        k: int,
        where: str | None,
        hybrid: float,
        scores: dict[str, float] | None,
        options: dict[str, Any],
    ) -> Results:
        oracle = self._selected(where)
        if scores is not None:
            oracle, relevance = self._scored(oracle, scores)
        elif check_number(hybrid, "hybrid", 0.0, 1.0) > 0.0:
            relevance = self._fused(oracle, text, vector, hybrid)
        else:
            relevance = None
        check_k(k, oracle.size)
        asked = {"query": vector} if relevance is None else {"scores": relevance}
        found = api.select(oracle, **asked, k=k, **options)
        documents = self._store.documents(oracle.numbers[found.ids])
        hits = tuple(Hit(d, float(s)) for d, s in zip(documents, found.scores, strict=True))
        return Results(text, hits, found, oracle.size)

    def lookup(self, text: str, limit: int = 10) -> list[Hit]:
        """Documents that share words with a text, best BM25 score first."""
        numbers, scores = self._store.words(text, check_count(limit, "limit"))
        pairs = zip(self._store.documents(numbers), scores, strict=True)
        return [Hit(document, float(score)) for document, score in pairs]

    def oracle(self, where: str | None = None) -> SegmentedOracle:
        """The vectors as an oracle for `breadth.select`; `numbers` of it are row numbers of documents."""
        return self._selected(where)

    def documents(self, numbers: Iterable[int]) -> list[Document]:
        """Documents by row number."""
        return self._store.documents(numbers)

    def encode(self, texts: Sequence[str], kind: Any = "query") -> Any:
        """Unit rows for texts, by the encoder of this index."""
        if self.encoder is None:
            try:
                self.encoder = encoders.encoder(self.encoder_name)
            except BreadthError as error:
                raise StoreError(
                    f"{self.path} was made with the encoder {self.encoder_name}; open it with that encoder ({error})"
                ) from error
            if self.encoder.name != self.encoder_name:
                raise StoreError(f"{self.path} was made with another version of the encoder {self.encoder_name}")
        return self.encoder.encode(texts, kind)

    def _asked(self, query: Any) -> tuple[str | None, Any]:
        if not isinstance(query, str):
            return None, check_query(query, self.dim)
        if not query.strip():
            raise InputError("query is empty")
        vector = self.encode([query])[0]
        if not vector.any():
            raise InputError(f"query {query!r} holds no word that the encoder {self.encoder_name} knows")
        return query, vector

    def _selected(self, where: str | None) -> SegmentedOracle:
        """The rows in question, as an oracle."""
        version = self._store.version()
        if where is None and self._collection[0] == version and self._collection[1] is not None:
            return self._collection[1]
        segments, numbers = self._store.segments(), self._store.numbers(where)
        if len(numbers) == 0:
            what = "is empty" if where is None else f"has no document where {where}"
            raise InputError(f"the index {self.path} {what}")
        named = {segment.file for segment in segments}
        for file in [file for file in self._open_segments if file not in named]:
            del self._open_segments[file]
        found = SegmentedOracle([self._part(s, numbers) for s in segments], numbers)
        if where is None:
            self._collection = (version, found)
        return found

    def _part(self, segment: Segment, numbers: Ids) -> CompactOracle:
        """The rows of a segment that are among these numbers."""
        if segment.file not in self._open_segments:
            self._open_segments[segment.file] = CompactOracle.open(self.path / _SEGMENTS / segment.file)
        whole = self._open_segments[segment.file]
        low, high = np.searchsorted(numbers, [segment.start, segment.start + segment.rows])
        if high - low == segment.rows:
            return whole
        return whole.restricted(numbers[low:high] - segment.start)

    def _fused(self, oracle: SegmentedOracle, text: str | None, vector: Any, weight: float) -> Any:
        if text is None:
            raise InputError("hybrid needs the query as text")
        dense = oracle.exact_scores(np.asarray(vector, dtype=np.float32))
        numbers, found = self._store.words(text)
        lexical = np.zeros(oracle.size)
        places = np.searchsorted(oracle.numbers, numbers)
        places = np.minimum(places, oracle.size - 1)
        inside = oracle.numbers[places] == numbers
        lexical[places[inside]] = found[inside]
        return (1.0 - weight) * _scaled(dense) + weight * _scaled(lexical)

    def _scored(self, oracle: SegmentedOracle, scores: dict[str, float]) -> tuple[SegmentedOracle, Any]:
        stored = self._store.stored(list(scores))
        missing = [identity for identity in scores if identity not in stored]
        if missing:
            raise InputError(f"scores: there is no document {missing[0]!r} in {self.path}")
        by_number = {stored[identity][0]: score for identity, score in scores.items()}
        numbers = np.intersect1d(np.array(sorted(by_number), dtype=np.int64), oracle.numbers)
        if len(numbers) == 0:
            raise InputError("scores: none of these documents is in the collection that where leaves")
        parts = [self._part(segment, numbers) for segment in self._store.segments()]
        return SegmentedOracle(parts, numbers), np.array([by_number[int(n)] for n in numbers])

    def _write(self, documents: Iterable[Document], vectors: Any, batch: int, replace: bool) -> Added:
        check_count(batch, "batch")
        done = Added()
        with self._writing():
            self._tidy()
            waiting: list[Document] = []
            start = 0
            for document in documents:
                waiting.append(document)
                if len(waiting) == batch:
                    done += self._commit(waiting, _rows(vectors, start, len(waiting)), replace)
                    start += len(waiting)
                    waiting = []
                    self._merge_small()
            if waiting:
                done += self._commit(waiting, _rows(vectors, start, len(waiting)), replace)
                start += len(waiting)
            if vectors is not None and len(vectors) > start:
                raise InputError(f"vectors has more rows ({len(vectors)}) than there are documents ({start})")
            self._merge_small()
        return done

    def _merge_small(self) -> None:
        """Merge the small segments once there are many of them; large ones are left as they are."""
        small = [segment for segment in self._store.segments() if segment.rows <= _SMALL]
        if len(small) > _MANY_SEGMENTS:
            self._merge(small)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """The only writer, for a while; what was read before is read anew afterwards."""
        with self._mutex, Lock(self.path / _LOCK):
            try:
                yield
            finally:
                self._collection = (-1, None)

    def _commit(self, documents: list[Document], vectors: Any, replace: bool) -> Added:
        """One batch: encode, write the segment, then name it in a transaction."""
        last = {d.id: place for place, d in enumerate(documents)}
        if len(last) < len(documents) and not replace:
            twice = next(d.id for place, d in enumerate(documents) if last[d.id] != place)
            raise InputError(f"the id {twice!r} stands twice among the documents")
        places = sorted(last.values())
        there = self._store.stored(list(last))
        fresh = [
            p
            for p in places
            if there.get(documents[p].id, (0, "", ""))[1:] != (documents[p].text, dumped(documents[p]))
        ]
        changed = [documents[p].id for p in fresh if documents[p].id in there]
        if changed and not replace:
            raise InputError(f"document {changed[0]!r} is there with other content; use update")
        texts = [documents[p].text for p in fresh]
        rows = self.encode(texts, "document") if vectors is None and fresh else vectors
        rows = np.asarray(rows if vectors is None else rows[fresh], dtype=np.float32) if fresh else None
        skipped: list[tuple[str, str]] = []
        if rows is not None:
            if rows.ndim != 2 or rows.shape[1] != self.dim:
                raise InputError(f"vectors must have {self.dim} columns, as the index has; got shape {rows.shape}")
            known = np.asarray(rows.any(axis=1))
            skipped = [
                (documents[p].id, "no word that the encoder knows") for p, k in zip(fresh, known, strict=True) if not k
            ]
            fresh = [p for p, k in zip(fresh, known, strict=True) if k]
            rows = rows[known]
        if rows is None or len(rows) == 0:
            return Added(unchanged=len(places) - len(skipped), skipped=tuple(skipped))
        file = f"{uuid.uuid4().hex}.compact"
        CompactOracle.build(rows).save(self.path / _SEGMENTS / file)
        gone = {documents[p].id for p in fresh}
        with self._store.writing() as change:
            change.remove([identity for identity in changed if identity in gone])
            change.segment(file, [documents[p] for p in fresh])
        updated = sum(documents[p].id in there for p in fresh)
        unchanged = len(places) - len(fresh) - len(skipped)
        return Added(len(fresh) - updated, unchanged, updated, tuple(skipped))

    def _merge(self, segments: list[Segment]) -> None:
        """One segment instead of these."""
        every = self._store.numbers()
        spans = [np.searchsorted(every, [s.start, s.start + s.rows]) for s in segments]
        numbers = np.concatenate([every[low:high] for low, high in spans]) if spans else every[:0]
        if len(segments) == 1 and len(numbers) == segments[0].rows:
            return
        if len(numbers) == 0:
            with self._store.writing() as change:
                change.forgotten(segments)
            self._tidy()
            return
        oracle = SegmentedOracle([self._part(s, numbers) for s in segments], numbers)
        file = f"{uuid.uuid4().hex}.compact"
        steps = range(0, oracle.size, _BATCH)
        chunks = (oracle.rows(np.arange(start, min(start + _BATCH, oracle.size))) for start in steps)
        CompactOracle.stream(chunks, self.path / _SEGMENTS / file)
        with self._store.writing() as change:
            change.replaced(file, numbers.tolist(), segments)
        self._tidy()

    def _tidy(self) -> None:
        """Remove vector files that no transaction has named: what an interrupted `add` left behind."""
        named = {segment.file for segment in self._store.segments()}
        for file in (self.path / _SEGMENTS).iterdir():
            if file.name not in named:
                self._open_segments.pop(file.name, None)
                with suppress(OSError):  # some systems keep a file that is being read: then the next time
                    file.unlink()


def _unfinished(path: Path) -> bool:
    """What a `create` that was interrupted leaves behind."""
    return path.name.startswith("index.partial") or (path.name == _SEGMENTS and not any(path.iterdir()))


def _rows(vectors: Any, start: int, count: int) -> Any:
    if vectors is None:
        return None
    rows = np.asarray(vectors[start : start + count])
    if len(rows) != count:
        raise InputError(f"vectors has fewer rows ({start + len(rows)}) than there are documents")
    return rows


def _scaled(scores: Any) -> Any:
    low, high = float(scores.min()), float(scores.max())
    return (scores - low) / (high - low) if high > low else np.zeros(len(scores))
