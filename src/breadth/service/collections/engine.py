"""An engine, as a collection of the service. Its own ids are shown as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from breadth.encoders import Encoder
from breadth.errors import InputError
from breadth.index import Document, Results
from breadth.searcher import Searcher
from breadth.service.collections.protocol import Curve
from breadth.service.inspection.inspect import Inspection, Wanted, inspect
from breadth.service.inspection.study import Studies, Study

_FRESH = 60.0
"""Seconds for which the searches of a query are remembered: the engine may change meanwhile."""


class ServedEngine:
    """An oracle, and an encoder if queries come as texts."""

    def __init__(self, oracle: Any, encoder: Encoder | None) -> None:
        self._searcher = Searcher(oracle, encoder)
        self._studies = Studies(_FRESH)

    @property
    def dim(self) -> int:
        return self._searcher.dim

    def count(self) -> int:
        return len(self._searcher)

    def check(self, query: str | list[float]) -> None:
        self._searcher.check(_as_vector(query))

    def select(self, queries: Sequence[Any], arguments: Mapping[str, Any]) -> list[Results]:
        return self._searcher.search_many([_as_vector(query) for query in queries], **arguments)

    def frontier(self, query: Any, arguments: Mapping[str, Any]) -> Curve:
        curve, points = self._searcher.frontier(_as_vector(query), **arguments)
        return Curve() if curve is None else Curve(tuple(points), curve.knee().theta, curve.top_relevance)

    def inspect(self, query: Any, wanted: Wanted) -> Inspection:
        searcher = self._searcher
        if not len(searcher):
            raise InputError("the collection is empty; add rows to it")

        def make() -> Study:
            return Study(searcher.oracle, searcher.encode([_as_vector(query)])[0], searcher.documents)

        return inspect(self._studies.open(query, searcher.oracle, make), wanted)

    def get(self, identity: str) -> Document | None:
        return self._searcher.get(identity)

    def sample(self, count: int) -> Sequence[Document]:
        oracle = self._searcher.oracle
        if not (len(self._searcher) and hasattr(oracle, "documents")):
            return []
        ids = oracle.top(np.eye(1, self.dim), min(count, len(self._searcher)))[0][0]
        return self._searcher.documents(ids[ids >= 0])

    def close(self) -> None:
        self._searcher.close()


def _as_vector(query: Any) -> Any:
    """A list of numbers as an array."""
    return query if isinstance(query, str) else np.array(query, dtype=np.float64)
