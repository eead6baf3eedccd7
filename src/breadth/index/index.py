"""`Index`: the public face of an index on disk. It joins the reader and the writer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from breadth.encoders import BuiltinEncoder, Encoder, Kind, Vectors
from breadth.errors import StoreError
from breadth.index.collection import Collection
from breadth.index.documents import Document, Hit, Results
from breadth.index.encoding import RecordedEncoder
from breadth.index.layout import Layout
from breadth.index.reader import Reader
from breadth.index.store import Store
from breadth.index.wishes import Wishes
from breadth.index.writer import BATCH, Added, Writer
from breadth.oracles.segmented import SegmentedOracle


class Index:
    """Documents with their vectors in a folder. One process writes at a time; any number of processes read meanwhile.

    Every change is all or nothing: what was committed is there after a crash, and nobody ever sees half a change.
    """

    def __init__(self, path: str | Path, encoder: Encoder | None = None) -> None:
        self.path = Path(path)
        self._collection = Collection(Layout(self.path))
        store = self._collection.store
        try:
            self._encoder = RecordedEncoder(self.path, str(store.fact("encoder")), int(store.fact("dim") or 0), encoder)
        except StoreError:
            self._collection.close()
            raise
        self._reader = Reader(self._collection, self._encoder)
        self._writer = Writer(self._collection, self._encoder)

    @classmethod
    def create(cls, path: str | Path, encoder: Encoder | None = None) -> Index:
        """Make an empty index in a new folder, with the built-in encoder unless another one is given."""
        layout = Layout(Path(path))
        if not layout.is_free():
            raise StoreError(f"{layout.folder} exists and is not an empty folder; open it, or choose another name")
        encoder = encoder or BuiltinEncoder()
        facts = {"encoder": encoder.name, "dim": str(encoder.dim)}  # may fail, so nothing is written before
        layout.segments.mkdir(parents=True, exist_ok=True)
        Store.create(layout.store, facts)
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

    def __len__(self) -> int:
        return self._reader.count()

    def __contains__(self, identity: object) -> bool:
        return isinstance(identity, str) and self._reader.has(identity)

    @property
    def encoder(self) -> Encoder | None:
        """The encoder, or None as long as no text has needed it."""
        return self._encoder.encoder

    @property
    def encoder_name(self) -> str:
        """The name of the encoder that made the vectors."""
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

    def documents(self, numbers: Iterable[int]) -> list[Document]:
        """Return the documents with these row numbers, in this order."""
        return self._reader.documents(numbers)

    def oracle(self, where: str | None = None) -> SegmentedOracle:
        """Return the vectors as an oracle for `breadth.select`; its `numbers` are the row numbers of documents."""
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
        keep: float | None = None,
        where: str | None = None,
        method: str = "certified",
        hybrid: float = 0.0,
        scores: dict[str, float] | None = None,
        group_by: str | None = None,
        pinned: Sequence[str] = (),
        excluded: Sequence[str] = (),
        budget: float | None = None,
        count: Callable[[str], float] | None = None,
        **options: Any,
    ) -> Results:
        """Choose the k documents that together serve the query best: relevant, without copies.

        query     a text, or a unit vector.
        where     an SQL condition over metadata, id and text. It restricts the collection before anything is chosen.
        hybrid    weight in [0, 1] of BM25 beside the vectors. Both scores are scaled to [0, 1] over the collection,
                  then mixed.
        scores    relevance from outside (a reranker, say) by document id. Only these documents can be chosen.
        group_by  a metadata field: of the documents with one value of it at most `per_group` are chosen (1 by default).
        pinned, excluded   ids of documents that must, or must not, be chosen.
        budget    how many words the chosen texts may have together, at most k of them. `count` is a function that
                  counts something else, tokens for example.
        All other arguments are those of `breadth.select`: sharpness, distinct, floor, keep_best, ….
        """
        options |= {"theta": theta, "keep": keep, "method": method}
        inside, outside = ((ids,) if isinstance(ids, str) else tuple(ids) for ids in (pinned, excluded))
        wishes = Wishes(group_by, inside, outside, budget, count)
        return self._reader.search(query, k, where, hybrid, scores, options, wishes)

    def lookup(self, text: str, limit: int = 10) -> list[Hit]:
        """Return the documents that share words with a text, best BM25 score first, at most `limit`."""
        return self._reader.lookup(text, limit)

    def add(self, documents: Iterable[Document], vectors: Any = None, batch: int = BATCH) -> Added:
        """Add documents, in batches that are each committed whole.

        A document that is there already with the same content is left alone. One whose id is there with other
        content is an error; use `update` to replace it.

        `vectors` are the unit rows of the documents, if you have them already.
        """
        return self._writer.write(documents, vectors, batch, replace=False)

    def update(self, documents: Iterable[Document], vectors: Any = None, batch: int = BATCH) -> Added:
        """Add documents as `add` does, but replace those whose id is there with other content."""
        return self._writer.write(documents, vectors, batch, replace=True)

    def find_conflicts(self, documents: Sequence[Document]) -> set[str]:
        """Return the ids of documents that the index holds with other content: `add` would refuse them."""
        return self._writer.find_conflicts(documents)

    def delete(self, ids: Iterable[str]) -> int:
        """Remove documents by id, and return how many of them there were."""
        return self._writer.delete([ids] if isinstance(ids, str) else list(ids))

    def optimize(self) -> None:
        """Merge all segments into one and drop the rows of deleted documents."""
        self._writer.optimize()
