"""An index on disk, as a collection of the service. What others add to it is found at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from breadth import api
from breadth.checks import check_query
from breadth.encoders import Encoder
from breadth.errors import StoreError
from breadth.index import Document, Hit, Index, Results
from breadth.index.connections import StaleError
from breadth.oracles.segmented import SegmentedOracle
from breadth.selection import Selection
from breadth.service.collections.protocol import Curve

_ATTEMPTS = 3
"""How often a frontier is computed if another process deletes what it found."""


class ServedIndex:
    """A `breadth.Index`."""

    def __init__(self, path: Path, encoder: Encoder | None) -> None:
        self._index = Index.open(path, encoder)

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
        if not self._index.search(wanted, k=1, theta=1.0, method="topk", where=where).searched:
            return Curve()
        vector = self._index.encode([wanted])[0] if isinstance(wanted, str) else wanted
        told = {name: value for name, value in arguments.items() if name not in ("where", "k")}
        for _ in range(_ATTEMPTS):
            oracle = self._index.oracle(where)
            curve = api.frontier(oracle, vector, k=min(k, oracle.size), **told)
            try:
                points = tuple(self._name(oracle, selection, k) for selection in curve)
            except StaleError:  # a document was deleted meanwhile
                continue
            return Curve(points, curve.knee().theta, curve.top_relevance)
        raise StoreError("the index changes faster than it can be read; try again")

    def get(self, identity: str) -> Document | None:
        return self._index.get(identity) if identity in self._index else None

    def close(self) -> None:
        self._index.close()

    def _name(self, oracle: SegmentedOracle, selection: Selection, asked: int) -> Results:
        documents = self._index.documents(oracle.numbers[selection.ids])
        pairs = zip(documents, selection.scores.tolist(), strict=True)
        return Results(None, tuple(Hit(document, score) for document, score in pairs), selection, oracle.size, asked)


def _as_vectors(queries: Sequence[Any]) -> list[Any]:
    """The queries as an index takes them: lists of numbers become arrays."""
    return [query if isinstance(query, str) else np.array(query, dtype=np.float64) for query in queries]
