"""An index on disk, as a collection of the service. What others add to it is found at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from breadth import api
from breadth.checks import check_query
from breadth.encoders import Encoder
from breadth.errors import InputError, StoreError
from breadth.index import Document, Hit, Index, Results
from breadth.index.connections import StaleError
from breadth.oracles.segmented import SegmentedOracle
from breadth.selection import Selection
from breadth.service.collections.protocol import Curve
from breadth.service.inspection.inspect import Inspection, Wanted, inspect
from breadth.service.inspection.study import Studies, Study
from breadth.settings import compares_texts

T = TypeVar("T")
_ATTEMPTS = 3
"""How often a question is answered if another process deletes what it found."""


class ServedIndex:
    """A `breadth.Index`."""

    def __init__(self, path: Path, encoder: Encoder | None) -> None:
        self._index = Index.open(path, encoder)
        self._studies = Studies()

    @property
    def dim(self) -> int:
        return self._index.dim

    def count(self) -> int:
        return len(self._index)

    def check(self, query: str | list[float]) -> None:
        if not isinstance(query, str):
            check_query(np.array(query, dtype=np.float64), self.dim)

    def select(self, queries: Sequence[Any], arguments: Mapping[str, Any]) -> list[Results]:
        return self._index.search_many(_as_vectors(queries), **arguments)

    def frontier(self, query: Any, arguments: Mapping[str, Any]) -> Curve:
        (wanted,) = _as_vectors([query])
        where, k = arguments.get("where"), arguments["k"]
        if not self._search_plainly(wanted, where).searched:
            return Curve()
        vector = self._index.encode([wanted])[0] if isinstance(wanted, str) else wanted
        told = {name: value for name, value in arguments.items() if name not in ("where", "k")}

        def draw() -> Curve:
            oracle = self._index.oracle(where)
            if compares_texts(told):
                told["texts"] = lambda ids: [one.text for one in self._index.documents(oracle.numbers[ids])]
            curve = api.frontier(oracle, vector, k=min(k, oracle.size), **told)
            points = tuple(self._name(oracle, selection, k) for selection in curve)
            return Curve(points, curve.knee().theta, curve.top_relevance)

        return _repeat(draw)

    def inspect(self, query: Any, wanted: Wanted) -> Inspection:
        return _repeat(lambda: inspect(self._study(query), wanted))

    def get(self, identity: str) -> Document | None:
        return self._index.get(identity) if identity in self._index else None

    def close(self) -> None:
        self._index.close()

    def _study(self, query: Any) -> Study:
        try:
            oracle = self._index.oracle()
        except InputError as error:
            raise InputError("the collection is empty; add documents to the index") from error

        def make() -> Study:
            (asked,) = _as_vectors([query])
            self._search_plainly(asked, None)
            vector = self._index.encode([asked])[0] if isinstance(asked, str) else asked.astype(np.float32)
            return Study(oracle, vector, lambda ids: self._index.documents(oracle.numbers[ids]))

        return self._studies.open(query, oracle, make)

    def sample(self, count: int) -> Sequence[Document]:
        def read() -> list[Document]:
            if len(self._index) == 0:
                return []
            numbers = self._index.oracle().numbers
            return self._index.documents(numbers[:: max(1, len(numbers) // count)][:count])

        return _repeat(read)

    def _search_plainly(self, query: Any, where: Any) -> Results:
        """The most relevant document: this checks the query and the filter."""
        return self._index.search(query, k=1, method="topk", where=where)

    def _name(self, oracle: SegmentedOracle, selection: Selection, asked: int) -> Results:
        documents = self._index.documents(oracle.numbers[selection.ids])
        pairs = zip(documents, selection.scores.tolist(), strict=True)
        return Results(None, tuple(Hit(document, score) for document, score in pairs), selection, oracle.size, asked)


def _repeat(work: Callable[[], T]) -> T:
    """Do something, again if a document that it found was deleted meanwhile."""
    for _ in range(_ATTEMPTS):
        try:
            return work()
        except StaleError:
            continue
    raise StoreError("the index changes faster than it can be read; try again")


def _as_vectors(queries: Sequence[Any]) -> list[Any]:
    """The queries as an index takes them: lists of numbers become arrays."""
    return [query if isinstance(query, str) else np.array(query, dtype=np.float64) for query in queries]
