"""What reads an index: searching it, looking up words, getting documents.

A search reads what it needs in one transaction, chooses outside of it, and reads the chosen documents. Documents never
change under their number, so what it finds is what was there. If a document was deleted meanwhile, the search begins
again; the last attempt keeps its transaction open, which nobody waits for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from breadth import api
from breadth.arrays import Array, Ids, Vector
from breadth.checks import check_count, check_number, check_query
from breadth.errors import DamagedError, InputError, NothingAllowedError
from breadth.filters import Condition, matches, read_filter
from breadth.filters.values import check_text
from breadth.index.collection import ATTEMPTS, Collection
from breadth.index.connections import StaleError
from breadth.index.documents import Document, Hit, check_id, list_rows, make_hits
from breadth.index.encoding import RecordedEncoder
from breadth.index.entries import list_names
from breadth.index.results import Results, no_results
from breadth.index.store import View
from breadth.index.wishes import Wishes
from breadth.oracles.segmented import SegmentedOracle
from breadth.selection import Selection

_NO_MATCH = {"floor", "excluded"}
"""Constraints that may leave no document: then there is no match, which is no mistake."""


@dataclass(frozen=True, eq=False)
class Asked:
    """What is to be found: texts or vectors, one for each query, and how."""

    texts: tuple[str | None, ...]
    vectors: Array | None
    k: int
    condition: Condition | None
    hybrid: float
    scores: dict[str, float] | None
    options: dict[str, Any]
    wishes: Wishes

    def only(self, place: int) -> Asked:
        """The same for one of the queries."""
        vectors = None if self.vectors is None else self.vectors[[place]]
        return replace(self, texts=(self.texts[place],), vectors=vectors)


class Reader:
    """Reads documents and searches. Every answer shows one committed state of the index."""

    def __init__(self, collection: Collection, encoder: RecordedEncoder) -> None:
        self._collection = collection
        self._encoder = encoder
        self._folder = collection.layout.folder

    def count(self) -> int:
        """Count the documents."""
        return self._collection.read(lambda view: view.state().documents)

    def has(self, identity: str) -> bool:
        """Whether there is a document with this id."""
        return bool(self._collection.read(lambda view: view.find_numbers([identity])))

    def get(self, identity: str) -> Document:
        """Return the document with this id."""
        wanted = check_id(identity, "the id")

        def read(view: View) -> Document | None:
            number = view.find_numbers([wanted]).get(wanted)
            return None if number is None else view.documents([number])[0]

        found = self._collection.read(read)
        if found is None:
            raise InputError(f"there is no document {identity!r} in {self._folder}")
        return found

    def pieces(self, parent: str) -> list[str]:
        """Return the ids of the pieces of a document."""
        wanted = check_id(parent, "parent")
        family = self._collection.read(lambda view: view.families([wanted]).get(wanted, []))
        return [identity for identity in family if identity != wanted]

    def iterate(self, count: int = 1000) -> Iterator[Document]:
        """Yield all documents in the order in which they were added, so many at a time."""
        after = -1

        def read(view: View) -> list[tuple[int, Document]]:
            return view.all_documents(after, count)

        while some := self._collection.read(read):
            yield from (document for _, document in some)
            after = some[-1][0]

    def fields(self) -> list[str]:
        """List the names of metadata that any document has."""
        return self._collection.read(lambda view: list_names(view.db))

    def documents(self, numbers: Iterable[int]) -> list[Document]:
        """Return the documents with these row numbers."""
        wanted = _check_numbers(numbers)
        return self._collection.read(lambda view: view.documents(wanted))

    def oracle(self, where: Any) -> SegmentedOracle:
        """Return the vectors as an oracle."""
        condition = None if where is None else read_filter(where)
        oracle = self._collection.read(lambda view: self._collection.rows(view, condition))
        if oracle.size == 0:
            what = "is empty" if where is None else f"has no document where {where}"
            raise InputError(f"the index {self._folder} {what}")
        return oracle

    def lookup(self, text: str, limit: int) -> list[Hit]:
        """Return the documents that share words with a text, best BM25 score first."""
        if not isinstance(text, str):
            raise InputError(f"text must be a string, got {text!r}")
        check_text(text, "text")
        most = check_count(limit, "limit")

        def read(view: View) -> list[Hit]:
            numbers, scores = view.match_words(text, most)
            pairs = zip(view.documents(numbers), scores, strict=True)
            return [Hit(document, float(score)) for document, score in pairs]

        return self._collection.read(read)

    def search(self, asked: Asked) -> list[Results]:
        """Choose documents for each query, as `Index.search` describes."""
        for attempt in range(ATTEMPTS):
            try:
                return self._search_once(asked, keep_open=attempt == ATTEMPTS - 1)
            except (StaleError, FileNotFoundError) as error:  # a writer has just merged or removed what was read
                if attempt == ATTEMPTS - 1:
                    raise self._collection.explain_missing(error) from error
        raise AssertionError("unreachable")

    def ask(
        self,
        queries: Sequence[Any],
        k: int,
        where: Any,
        hybrid: float,
        scores: dict[str, float] | None,
        options: dict[str, Any],
        wishes: Wishes,
    ) -> Asked:
        """Check what is asked, and encode the texts."""
        check_number(hybrid, "hybrid", 0.0, 1.0)
        condition = None if where is None else read_filter(where)
        if scores is None:
            texts, vectors = self._read_queries(queries)
        else:
            texts, vectors = tuple(query if isinstance(query, str) else None for query in queries), None
            if not scores:
                raise InputError("scores is empty; name at least one document")
            for identity, score in scores.items():
                check_number(score, f"scores[{check_id(identity, 'scores: an id')!r}]")
        return Asked(texts, vectors, check_count(k, "k"), condition, hybrid, scores, options, wishes)

    def _search_once(self, asked: Asked, keep_open: bool) -> list[Results]:
        with ExitStack() as held:
            view = held.enter_context(self._collection.reading())
            oracle, relevance = self._rate(view, asked)
            if oracle.size == 0:
                return [no_results(text, asked.k, asked.options) for text in asked.texts]
            read: Callable[[Ids], list[Document]] = view.documents
            if not keep_open:
                read = self._read_documents
            told = asked.wishes.translate(asked.options, view, oracle, read)
            if not keep_open:
                held.close()
            selections = self._select_allowed(asked, oracle, relevance, told)
            wanted = {row for one in selections if one is not None for row in list_rows(one)}
            every = np.array(sorted(wanted), dtype=np.int64)
            documents = dict(zip(every.tolist(), read(oracle.numbers[every]), strict=True))
        return [
            no_results(text, asked.k, asked.options, oracle.size)
            if selection is None
            else self._collect(text, asked, oracle, selection, documents)
            for text, selection in zip(asked.texts, selections, strict=True)
        ]

    def _select_allowed(
        self, asked: Asked, oracle: SegmentedOracle, relevance: Any, told: dict[str, Any]
    ) -> Sequence[Selection | None]:
        """Choose for each query; None where no document is relevant enough, or all are excluded."""
        if len(told.get("excluded", ())) >= oracle.size:
            return [None] * len(asked.texts)
        try:
            return self._select(asked, oracle, relevance, told)
        except NothingAllowedError as error:
            if not error.because or not set(error.because) <= _NO_MATCH:
                raise
        if len(asked.texts) == 1:
            return [None]
        return [
            self._select_allowed(asked.only(place), oracle, None if relevance is None else relevance[[place]], told)[0]
            for place in range(len(asked.texts))
        ]

    def _select(self, asked: Asked, oracle: SegmentedOracle, relevance: Any, told: dict[str, Any]) -> list[Selection]:
        k = min(asked.k, oracle.size)  # where there are fewer documents, the results say how many were asked for
        given = {"scores": relevance} if relevance is not None else {"queries": asked.vectors}
        if len(asked.texts) > 1:
            return api.select_many(oracle, **given, k=k, **told)
        if relevance is not None:
            return [api.select(oracle, scores=relevance[0], k=k, **told)]
        assert asked.vectors is not None
        return [api.select(oracle, asked.vectors[0], k=k, **told)]

    def _collect(
        self,
        text: str | None,
        asked: Asked,
        oracle: SegmentedOracle,
        selection: Selection,
        documents: dict[int, Document],
    ) -> Results:
        hits = make_hits(selection, documents)
        for document in documents.values():
            if asked.condition is not None and not matches(asked.condition, document.metadata):
                raise DamagedError(
                    f"{self._folder}: index.sqlite is damaged: it finds document {document.id!r}, for which the filter "
                    "does not hold; make the index again"
                )
        if len(hits) < asked.k:
            selection = selection.with_stats(asked=asked.k)
        given_up = tuple(documents[row].id for row in selection.given_up)
        return Results(text, hits, selection, oracle.size, asked.k, given_up)

    def _read_documents(self, numbers: Ids) -> list[Document]:
        with self._collection.reading() as view:
            return view.documents(numbers)

    def _read_queries(self, queries: Sequence[Any]) -> tuple[tuple[str | None, ...], Array]:
        """Return the texts, None where a vector was passed, and the vectors of all queries."""
        places = [place for place, query in enumerate(queries) if isinstance(query, str)]
        for place in places:
            check_text(queries[place], "query")
            if not queries[place].strip():
                raise InputError("query is empty")
        rows = np.empty((len(queries), self._encoder.dim), dtype=np.float32)
        if places:
            encoded = self._encoder.encode([queries[place] for place in places], "query")
            unknown = np.flatnonzero(~encoded.any(axis=1))
            if len(unknown):
                text = queries[places[int(unknown[0])]]
                raise InputError(f"query {text!r} holds no word that the encoder {self._encoder.name} knows")
            rows[places] = encoded
        for place, query in enumerate(queries):
            if not isinstance(query, str):
                rows[place] = check_query(query, self._encoder.dim)
        return tuple(query if isinstance(query, str) else None for query in queries), rows

    def _rate(self, view: View, asked: Asked) -> tuple[SegmentedOracle, Any]:
        """Return the rows to choose from and their relevance for each query, None if the cosine is meant."""
        oracle = self._collection.rows(view, asked.condition)
        if asked.scores is not None:
            return self._restrict_to_scored(view, oracle, asked.scores)
        if asked.hybrid > 0.0 and oracle.size:
            assert asked.vectors is not None
            pairs = zip(asked.texts, asked.vectors, strict=True)
            return oracle, np.array([self._mix_with_words(view, oracle, t, v, asked.hybrid) for t, v in pairs])
        return oracle, None

    def _mix_with_words(
        self, view: View, oracle: SegmentedOracle, text: str | None, vector: Any, weight: float
    ) -> Vector:
        if text is None:
            raise InputError("hybrid needs the query as text")
        dense = oracle.exact_scores(np.asarray(vector, dtype=np.float32))
        numbers, found = view.match_words(text)
        lexical = np.zeros(oracle.size)
        places = np.minimum(np.searchsorted(oracle.numbers, numbers), oracle.size - 1)
        inside = oracle.numbers[places] == numbers
        lexical[places[inside]] = found[inside]
        return np.asarray((1.0 - weight) * _scale(dense) + weight * _scale(lexical), dtype=np.float64)

    def _restrict_to_scored(
        self, view: View, oracle: SegmentedOracle, scores: dict[str, float]
    ) -> tuple[SegmentedOracle, Any]:
        found = view.find_numbers(list(scores))
        missing = [identity for identity in scores if identity not in found]
        if missing:
            raise InputError(f"scores: there is no document {missing[0]!r} in {self._folder}")
        by_number = {found[identity]: score for identity, score in scores.items()}
        numbers = np.intersect1d(np.array(sorted(by_number), dtype=np.int64), oracle.numbers)
        restricted = self._collection.snapshot(view).restricted(numbers)
        return restricted, np.array([[by_number[int(n)] for n in numbers]])


def _check_numbers(numbers: Any) -> list[int]:
    """Return row numbers as a list of whole numbers."""
    array = np.asarray(numbers if isinstance(numbers, np.ndarray) else list(_check_iterable(numbers)))
    if array.size == 0:
        return []
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise InputError(f"numbers must be whole numbers, such as those of `Index.oracle().numbers`, got {numbers!r}")
    found: list[int] = array.tolist()
    return found


def _check_iterable(numbers: Any) -> Iterable[Any]:
    if isinstance(numbers, (str, bytes)) or not isinstance(numbers, Iterable):
        raise InputError(f"numbers must be a list of row numbers, got {numbers!r}")
    return numbers


def _scale(scores: Array) -> Array:
    """Map scores to [0, 1], the lowest to 0 and the highest to 1; equal scores all to 0."""
    low, high = float(scores.min()), float(scores.max())
    return (scores - low) / (high - low) if high > low else np.zeros(len(scores))
