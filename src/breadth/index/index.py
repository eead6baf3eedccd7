"""`Index`: the public face of an index on disk. It joins the reader and the writer."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from breadth.encoders import BuiltinEncoder, Encoder, Kind, Vectors
from breadth.errors import InputError, StoreError
from breadth.index.checking import Check, check
from breadth.index.collection import Collection
from breadth.index.documents import Document, Hit
from breadth.index.encoding import RecordedEncoder, describe_encoder
from breadth.index.failures import reported
from breadth.index.layout import Layout
from breadth.index.lock import Lock
from breadth.index.reader import Reader
from breadth.index.results import Results
from breadth.index.schema import create_store
from breadth.index.wishes import Wishes
from breadth.index.writer import BATCH, Added, Writer
from breadth.oracles.segmented import SegmentedOracle

Where = Mapping[str, Any]
"""A filter on metadata: see `breadth.filters`."""

_CREATION = 30.0
"""Seconds to wait for another process that makes an index in the same folder."""


class Index:
    """Documents with their vectors in a folder. One process writes at a time; any number of them read meanwhile.

    Every change is all or nothing: what was committed is there after a crash, and nobody ever sees half a change. Any
    number of threads may use one `Index`. Reading writes nothing, so a read-only folder can be searched.
    docs/the-index.md says more.
    """

    def __init__(self, path: str | Path, encoder: Encoder | None = None) -> None:
        self.path = Path(path)
        self._collection = Collection(Layout(self.path))
        try:
            self._encoder = RecordedEncoder(self.path, self._collection.facts, encoder)
        except BaseException:
            self._collection.close()
            raise
        self._reader = Reader(self._collection, self._encoder)
        self._writer = Writer(self._collection, self._encoder)
        weakref.finalize(self, self._collection.close)  # an index that nobody holds any more lets go of its files

    @classmethod
    def create(cls, path: str | Path, encoder: Encoder | None = None, *, dim: int | None = None) -> Index:
        """Make an empty index in a new folder.

        encoder   what turns texts into vectors; the built-in one if you pass neither this nor `dim`.
        dim       the number of dimensions, if you make the vectors yourself: `add` and `search` then take vectors.
        """
        layout = Layout(Path(path))
        facts = describe_encoder(encoder, dim)  # may fail, so nothing is written before
        _check_free(layout)
        with reported(layout.folder):
            layout.folder.mkdir(parents=True, exist_ok=True)
            with Lock(layout.lock, _CREATION):
                _check_free(layout)  # another process may have been faster
                layout.remove_leftovers()
                layout.segments.mkdir(exist_ok=True)
                create_store(layout.store, facts)
        return cls(path, encoder)

    @classmethod
    def open(cls, path: str | Path, encoder: Encoder | None = None) -> Index:
        """Open an existing index.

        Pass the encoder it was made with, unless that is the built-in one or one that `breadth.encoders.encoder` can
        make from its name.
        """
        return cls(path, encoder)

    @staticmethod
    def exists(path: str | Path) -> bool:
        """Whether there is an index in this folder."""
        return Layout(Path(path)).store.exists()

    def __enter__(self) -> Index:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the files."""
        self._collection.close()

    def __repr__(self) -> str:
        made = self._encoder.name or "vectors made elsewhere"
        if self._collection.connections.closed:
            return f"Index({str(self.path)!r}, closed)"
        return f"Index({str(self.path)!r}, {len(self):,} documents, {self.dim} dimensions, {made})"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the path, and the encoder if one was passed that cannot be made from its name."""
        given = self._encoder.given
        return Index, (str(self.path), None if isinstance(given, BuiltinEncoder) else given)

    def __len__(self) -> int:
        return self._reader.count()

    def __contains__(self, identity: object) -> bool:
        return isinstance(identity, str) and self._reader.has(identity)

    def __iter__(self) -> Iterator[Document]:
        """Iterate over all documents in the order in which they were added."""
        return self._reader.iterate()

    @property
    def encoder(self) -> Encoder | None:
        """The encoder, or None as long as no text has needed it."""
        return self._encoder.encoder

    @property
    def encoder_name(self) -> str:
        """The name of the encoder that made the vectors; empty if they were made elsewhere."""
        return self._encoder.name

    @property
    def dim(self) -> int:
        """The number of dimensions of the vectors."""
        return self._encoder.dim

    @property
    def fields(self) -> list[str]:
        """The names of metadata that documents have: `where` can ask for them."""
        return self._reader.fields()

    def get(self, identity: str) -> Document:
        """Return the document with this id."""
        return self._reader.get(identity)

    def pieces(self, parent: str) -> list[str]:
        """Return the ids of the pieces of a document: those whose `parent` it is."""
        return self._reader.pieces(parent)

    def documents(self, numbers: Iterable[int]) -> list[Document]:
        """Return the documents with these row numbers, in this order.

        A number is never used for another document. If its document was deleted or replaced, that is an error.
        """
        return self._reader.documents(numbers)

    def oracle(self, where: Where | None = None) -> SegmentedOracle:
        """Return the vectors as an oracle for `breadth.select`; its `numbers` are the row numbers of documents.

        It shows the index as it is now, and does not change with it.
        """
        return self._reader.oracle(where)

    def encode(self, texts: Sequence[str], kind: Kind = "query") -> Vectors:
        """Turn texts into unit rows with the encoder of this index."""
        return self._encoder.encode(texts, kind)

    def search(
        self,
        query: Any,
        k: int = 10,
        theta: float | str | None = None,
        *,
        where: Where | None = None,
        hybrid: float = 0.0,
        scores: dict[str, float] | None = None,
        group_by: str | None = None,
        pinned: Sequence[str] = (),
        excluded: Sequence[str] = (),
        budget: float | None = None,
        count: Callable[[str], float] | None = None,
        prefer: str | Callable[[Mapping[str, Any]], Any] | None = None,
        **options: Any,
    ) -> Results:
        """Choose the k documents that together serve the query best: relevant, without copies.

        query     a text, or a unit vector.
        where     a filter on metadata, such as {"source": "nih", "year": {"$gte": 2020}}; see `breadth.filters`. It
                  restricts the collection before anything is chosen.
        hybrid    weight in [0, 1] of BM25 beside the vectors. Both scores are scaled to [0, 1] over the collection,
                  then mixed.
        scores    relevance from outside (a reranker, say) by document id. Only these documents can be chosen.
        group_by  a metadata field: of the documents with one value of it at most `per_group` are chosen (1 by default).
        pinned, excluded   ids of documents that must, or must not, be chosen.
        budget    how many words the chosen texts may have together, at most k of them. `count` is a function that
                  counts something else, tokens for example.
        prefer    of documents with the same words, the one with the largest value of this metadata field is a hit, and
                  the others are its copies: "date" for the newest. Or a function of the metadata.
        All other arguments are those of `breadth.select`: keep, method, sharpness, distinct, floor, keep_best, ….

        Where there are fewer than k documents, the results hold all of them; `Results.asked` says how many were asked
        for. Where no document is left, the results are empty.
        """
        wishes = Wishes(group_by, _list_ids(pinned, "pinned"), _list_ids(excluded, "excluded"), budget, count, prefer)
        asked = self._reader.ask([query], k, where, hybrid, scores, {"theta": theta, **options}, wishes)
        return self._reader.search(asked)[0]

    def search_many(
        self,
        queries: Sequence[Any],
        k: int = 10,
        theta: float | str | None = None,
        *,
        where: Where | None = None,
        hybrid: float = 0.0,
        group_by: str | None = None,
        pinned: Sequence[str] = (),
        excluded: Sequence[str] = (),
        budget: float | None = None,
        count: Callable[[str], float] | None = None,
        prefer: str | Callable[[Mapping[str, Any]], Any] | None = None,
        **options: Any,
    ) -> list[Results]:
        """`search` for many queries, texts or vectors: they are encoded together and share scans of the collection.

        All results show the same state of the index.
        """
        if isinstance(queries, str):
            raise InputError("queries must be a list of texts or vectors, got one text; pass [text], or use search")
        wishes = Wishes(group_by, _list_ids(pinned, "pinned"), _list_ids(excluded, "excluded"), budget, count, prefer)
        every = list(queries)
        if not every:
            return []
        asked = self._reader.ask(every, k, where, hybrid, None, {"theta": theta, **options}, wishes)
        return self._reader.search(asked)

    async def asearch(self, query: Any, k: int = 10, theta: float | str | None = None, **options: Any) -> Results:
        """`search` in a thread of its own, so that an event loop can go on meanwhile."""
        return await asyncio.to_thread(self.search, query, k, theta, **options)

    def lookup(self, text: str, limit: int = 10) -> list[Hit]:
        """Return the documents that share words with a text, best BM25 score first, at most `limit`."""
        return self._reader.lookup(text, limit)

    def add(
        self, documents: Iterable[Document], vectors: Any = None, batch: int = BATCH, *, whole: bool = False
    ) -> Added:
        """Add documents, in batches that are each committed whole.

        A document that is there already with the same content is left alone. One whose id is there with other
        content, or with another vector, is an error; use `update` to replace it.

        vectors   the unit rows of the documents, if you have them already: as many as there are documents.
        whole     the documents are all pieces of their parents. If a parent is there in other pieces, that is an error.
        """
        return self._writer.write(documents, vectors, batch, replace=False, whole=whole)

    def update(
        self, documents: Iterable[Document], vectors: Any = None, batch: int = BATCH, *, whole: bool = False
    ) -> Added:
        """Add documents as `add` does, but replace those whose id is there with other content or another vector.

        whole   the documents are all pieces of their parents, one parent after the other. Pieces that are there but
                not among them are deleted, and a document that was there in one piece is replaced by its pieces. A
                document that only has a similar id is never touched.
        """
        return self._writer.write(documents, vectors, batch, replace=True, whole=whole)

    def find_conflicts(self, documents: Sequence[Document], vectors: Any = None, *, whole: bool = False) -> set[str]:
        """Return the ids of documents that the index holds with other content or another vector.

        `add` would refuse them.
        """
        return self._writer.find_conflicts(documents, vectors, whole)

    def delete(self, ids: Iterable[str]) -> int:
        """Remove documents by id, and return how many of them there were."""
        return self._writer.delete([ids] if isinstance(ids, str) else _list_ids(ids, "ids"))

    def optimize(self) -> None:
        """Merge all segments into one, drop the rows of deleted documents, and give back free space."""
        self._writer.optimize()

    def check(self) -> Check:
        """Read the whole index and compare all checksums. This takes as long as reading its files."""
        return check(self._collection)


def _check_free(layout: Layout) -> None:
    if not layout.is_free():
        raise StoreError(f"{layout.folder} exists and is not an empty folder; open it, or choose another name")


def _list_ids(ids: Any, name: str) -> tuple[str, ...]:
    """Return ids as a tuple; one text is one id."""
    if isinstance(ids, str):
        return (ids,)
    try:
        return tuple(ids)
    except TypeError:
        raise InputError(f"{name} must be a list of ids, got {ids!r}") from None
