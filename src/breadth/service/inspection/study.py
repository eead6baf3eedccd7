"""A query whose searches are remembered: who moves a slider gets the next set without a search of the collection.

Solvers ask the remembered answers what they would ask the collection. So the sets, and what is proved about them, are
the same.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from breadth.arrays import Array, Ids, Vector
from breadth.checks import check_query
from breadth.coverage.worth import SHARPNESS, TARGETS, state_worth, weigh_targets
from breadth.index import Document
from breadth.oracles.protocol import Oracle, describe
from breadth.oracles.wrappers import CachingOracle
from breadth.service.inspection.projection import Plane

Read = Callable[[Ids], Sequence[Document]]
"""From rows of an oracle to their documents."""

_ROWS, _SEARCHES = 4096, 4
"""Rows and searches that are remembered of one query: with 384 dimensions, some 6 MB."""
_STUDIES = 8
"""Queries that are remembered."""


class Study:
    """One query.

    oracle       the collection, which remembers what it answered
    vector       the query
    candidates   the most relevant rows, most relevant first
    scores       their relevance
    """

    def __init__(self, oracle: Oracle, query: Any, read: Read) -> None:
        self.oracle = CachingOracle(oracle, _ROWS, _SEARCHES)
        self.vector = check_query(query, oracle.dim)
        ids, scores = self.oracle.top(self.vector[None], min(TARGETS, describe(oracle).most_rows))
        found = ids[0] >= 0
        self.candidates: Ids = ids[0][found]
        self.scores: Vector = np.asarray(scores[0][found], dtype=np.float64)
        self._rows = self.oracle.rows(self.candidates)
        self._read = read
        self._documents: dict[int, Document] = {}

    @cached_property
    def plane(self) -> Plane:
        """The plane on which the candidates are shown."""
        return Plane.through(self._rows)

    def rows(self, ids: Ids) -> Array:
        """The vectors of rows."""
        return np.asarray(self.oracle.rows(ids), dtype=np.float64)

    def find_rows(self, names: Any) -> Ids:
        """The rows that `breadth.select` calls by these names."""
        named: Any = self.oracle
        return np.asarray(named.handles(names) if hasattr(named, "handles") else names, dtype=np.int64)

    def read_texts(self, names: Any) -> list[str]:
        """The texts of rows, by the names that `breadth.select` knows them by."""
        return [document.text for document in self.documents(self.find_rows(np.asarray(names)))]

    def documents(self, ids: Ids) -> list[Document]:
        """The documents of rows, each read once."""
        missing = [i for i in dict.fromkeys(ids.tolist()) if i not in self._documents]
        if missing:
            self._documents.update(zip(missing, self._read(np.array(missing, dtype=np.int64)), strict=True))
        return [self._documents[i] for i in ids.tolist()]

    def state_worth(self, rows: Array) -> Vector:
        """What rows are worth to each of the candidates, which are the relevant material: see `breadth.coverage`."""
        return state_worth(rows, self._rows, self._weights, SHARPNESS)

    @cached_property
    def _weights(self) -> Vector:
        return weigh_targets(self.scores)


@dataclass(frozen=True, eq=False)
class _Kept:
    study: Study
    collection: object
    since: float


class Studies:
    """The queries that were asked last. Any number of threads may ask for them.

    A study is forgotten when the collection is another one than it was made from, or after some seconds: an engine does
    not tell when it changes.
    """

    def __init__(self, seconds: float = float("inf"), most: int = _STUDIES) -> None:
        self._seconds, self._most = seconds, most
        self._mutex = threading.Lock()
        self._kept: OrderedDict[Any, _Kept] = OrderedDict()

    def open(self, query: str | Sequence[float], collection: object, make: Callable[[], Study]) -> Study:
        """The study of a query on this collection: the one there is, or the one that is made."""
        key, now = query if isinstance(query, str) else tuple(query), time.monotonic()
        with self._mutex:
            kept = self._kept.get(key)
            if kept is not None and kept.collection is collection and now - kept.since < self._seconds:
                self._kept.move_to_end(key)
                return kept.study
        study = make()
        with self._mutex:
            self._kept[key] = _Kept(study, collection, now)
            self._kept.move_to_end(key)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return study
