"""What reads an index: searching it, looking up words, getting documents."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from breadth import api
from breadth.arrays import Array, Vector
from breadth.checks import check_count, check_k, check_number, check_query
from breadth.errors import InputError, StoreError
from breadth.index.collection import Collection
from breadth.index.documents import Document, Hit, Results
from breadth.index.encoding import RecordedEncoder
from breadth.index.store import StaleError
from breadth.index.wishes import Wishes
from breadth.oracles.segmented import SegmentedOracle

NO_WISHES = Wishes()
_ATTEMPTS = 5
"""How often a search starts anew because a writer has just merged or removed what it was reading."""


class Reader:
    """Reads documents and searches. Every answer shows one committed state of the index."""

    def __init__(self, collection: Collection, encoder: RecordedEncoder) -> None:
        self._collection = collection
        self._store = collection.store
        self._encoder = encoder
        self._folder = collection.layout.folder

    def count(self) -> int:
        """Count the documents."""
        return self._store.count()

    def has(self, identity: str) -> bool:
        """Whether there is a document with this id."""
        return bool(self._store.find([identity]))

    def get(self, identity: str) -> Document:
        """Return the document with this id."""
        found = self._store.find([identity])
        if not found:
            raise InputError(f"there is no document {identity!r} in {self._folder}")
        return self._store.documents([found[identity].number])[0]

    def fields(self) -> list[str]:
        """List the names of metadata that any document has."""
        return self._store.fields()

    def documents(self, numbers: Iterable[int]) -> list[Document]:
        """Return the documents with these row numbers."""
        return self._store.documents(numbers)

    def oracle(self, where: str | None) -> SegmentedOracle:
        """Return the vectors as an oracle."""
        return self._collection.oracle(where)

    def lookup(self, text: str, limit: int) -> list[Hit]:
        """Return the documents that share words with a text, best BM25 score first."""
        numbers, scores = self._store.match_words(text, check_count(limit, "limit"))
        pairs = zip(self._store.documents(numbers), scores, strict=True)
        return [Hit(document, float(score)) for document, score in pairs]

    def search(
        self,
        query: Any,
        k: int,
        where: str | None,
        hybrid: float,
        scores: dict[str, float] | None,
        options: dict[str, Any],
        wishes: Wishes = NO_WISHES,
    ) -> Results:
        """Choose k documents, as `Index.search` describes; `options` are those of `breadth.select`."""
        if scores is None:
            text, vector = self._read_query(query)
        else:
            text, vector = query if isinstance(query, str) else None, None
        for _ in range(_ATTEMPTS):
            try:
                with self._collection.mutex, self._store.snapshot():
                    oracle, relevance = self._rate(text, vector, where, hybrid, scores)
                    check_k(k, oracle.size)
                    asked = {"query": vector} if relevance is None else {"scores": relevance}
                    told = wishes.translate(options, self._store, oracle)
                    selection = api.select(oracle, **asked, k=k, **told)
                    documents = self._store.documents(oracle.numbers[selection.ids])
                    copies = [tuple(self._store.documents(oracle.numbers[rows])) for rows in selection.copies]
            except (StaleError, FileNotFoundError):  # a writer has just merged or removed what was read
                self._collection.forget()
                continue
            stands_for = copies or [()] * len(documents)
            hits = tuple(Hit(d, float(s), c) for d, s, c in zip(documents, selection.scores, stands_for, strict=True))
            return Results(text, hits, selection, oracle.size)
        raise StoreError(f"{self._folder} lacks what it names: it changes too fast, or is damaged")

    def _read_query(self, query: Any) -> tuple[str | None, Vector]:
        """Return the text of a query, if it is one, and its vector."""
        if not isinstance(query, str):
            return None, check_query(query, self._encoder.dim)
        if not query.strip():
            raise InputError("query is empty")
        vector = self._encoder.encode([query], "query")[0]
        if not vector.any():
            raise InputError(f"query {query!r} holds no word that the encoder {self._encoder.name} knows")
        return query, vector

    def _rate(
        self,
        text: str | None,
        vector: Any,
        where: str | None,
        hybrid: float,
        scores: dict[str, float] | None,
    ) -> tuple[SegmentedOracle, Any]:
        """Return the rows to choose from and their relevance, which is None if the cosine with the query is meant."""
        oracle = self._collection.oracle(where)
        if scores is not None:
            return self._restrict_to_scored(oracle, scores)
        if check_number(hybrid, "hybrid", 0.0, 1.0) > 0.0:
            return oracle, self._mix_with_words(oracle, text, vector, hybrid)
        return oracle, None

    def _mix_with_words(self, oracle: SegmentedOracle, text: str | None, vector: Any, weight: float) -> Vector:
        if text is None:
            raise InputError("hybrid needs the query as text")
        dense = oracle.exact_scores(np.asarray(vector, dtype=np.float32))
        numbers, found = self._store.match_words(text)
        lexical = np.zeros(oracle.size)
        places = np.searchsorted(oracle.numbers, numbers)
        places = np.minimum(places, oracle.size - 1)
        inside = oracle.numbers[places] == numbers
        lexical[places[inside]] = found[inside]
        return np.asarray((1.0 - weight) * _scale(dense) + weight * _scale(lexical), dtype=np.float64)

    def _restrict_to_scored(self, oracle: SegmentedOracle, scores: dict[str, float]) -> tuple[SegmentedOracle, Vector]:
        found = self._store.find(list(scores))
        missing = [identity for identity in scores if identity not in found]
        if missing:
            raise InputError(f"scores: there is no document {missing[0]!r} in {self._folder}")
        by_number = {found[identity].number: score for identity, score in scores.items()}
        numbers = np.intersect1d(np.array(sorted(by_number), dtype=np.int64), oracle.numbers)
        if len(numbers) == 0:
            raise InputError("scores: none of these documents is in the collection that where leaves")
        restricted = self._collection.join(self._store.segments(), numbers)
        return restricted, np.array([by_number[int(n)] for n in numbers])


def _scale(scores: Array) -> Array:
    """Map scores to [0, 1], the lowest to 0 and the highest to 1; equal scores all to 0."""
    low, high = float(scores.min()), float(scores.max())
    return (scores - low) / (high - low) if high > low else np.zeros(len(scores))
