"""Choose from a whole collection, an oracle or an index, with what is told about each chosen document."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from breadth.api import select
from breadth.arrays import Ids, Vector
from breadth.checks import check_count
from breadth.coverage.worth import TARGETS
from breadth.errors import InputError, StoreError
from breadth.index import Index
from breadth.index.documents import list_rows
from breadth.integrations.candidates import Candidate, Chosen, gather, label, nothing, share_of, warn_without_groups
from breadth.integrations.options import Options
from breadth.integrations.vectors import unit
from breadth.methods.registry import METHODS

Read = Callable[[Ids], list[Candidate]]
"""The candidates that belong to rows of an oracle."""


@dataclass(frozen=True, eq=False)
class Whole:
    """A store of a framework as an oracle, with a way to read its documents. `close` ends what was opened for it."""

    oracle: Any
    read: Read

    def close(self) -> None:
        if hasattr(self.oracle, "close"):
            self.oracle.close()


class _Nothing:
    """A collection without rows."""

    size = 0


def empty() -> Whole:
    """A store without documents."""
    return Whole(_Nothing(), lambda ids: [])


_ATTEMPTS = 3
"""How often an index is asked that changes meanwhile."""


def choose_from_index(
    index: Index, query: Any, k: int, options: Options, where: Mapping[str, Any] | None, pool: int
) -> Chosen:
    """Choose from the documents of an index. `query` is a text, or an embedding."""
    vector = index.encode([query])[0] if isinstance(query, str) else query
    for attempt in range(_ATTEMPTS):
        if len(index) == 0 or (
            where is not None and not index.search(unit(vector, "query"), 1, method="topk", where=where).hits
        ):
            return nothing(check_count(k, "k"))
        oracle = index.oracle(where)

        def read(ids: Ids, numbers: Ids = oracle.numbers) -> list[Candidate]:
            found = index.documents(numbers[ids])
            return [Candidate(one.id, one.text, one.metadata) for one in found]

        try:
            return choose_from(oracle, vector, k, options, read, pool=pool)
        except StoreError:  # a document was deleted meanwhile
            if attempt == _ATTEMPTS - 1:
                raise
    raise AssertionError("unreachable")


def choose_from(oracle: Any, query: Any, k: int, options: Options, read: Read, *, pool: int) -> Chosen:
    """Choose at most k rows of an oracle that together serve the query best.

    query   the embedding of the query, of any length
    read    turns row numbers into candidates
    pool    how many of the most relevant rows methods look at that need all scores, where the oracle cannot give them
    """
    asked = check_count(k, "k")
    if oracle.size == 0:
        return nothing(asked)
    vector = unit(query, "the embedding of the query")
    if len(vector) != oracle.dim:
        raise InputError(f"the query has {len(vector)} dimensions and the collection {oracle.dim}; use one model")
    ids, scores = oracle.top(vector.astype(np.float32)[None, :], min(TARGETS, oracle.size))
    targets = ids[0][ids[0] >= 0]
    if len(targets) == 0 or (options.floor is not None and float(scores[0].max()) < options.floor):
        return nothing(asked, oracle.size)
    shelf = _Shelf(oracle, read)
    told = options.arguments(shelf.labels(options), shelf.costs(options), shelf.texts, shelf.values(options))
    if METHODS[options.method].needs_scores and not hasattr(oracle, "scores"):
        told["pool"] = min(max(pool, asked), oracle.size)
    selection = select(oracle, vector, k=min(asked, oracle.size), **told)
    return warn_without_groups(_tell(oracle, selection, vector, targets, shelf, asked), options)


def _tell(oracle: Any, selection: Any, vector: Vector, targets: Ids, shelf: _Shelf, asked: int) -> Chosen:
    """Read what was chosen, and measure its coverage."""
    keys = np.array(list_rows(selection), dtype=selection.ids.dtype)
    handles = shelf.handles(keys)
    every = np.unique(np.concatenate((targets, handles)))
    rows = oracle.rows(every)
    relevance = rows @ vector
    share = share_of(rows, relevance, np.searchsorted(every, handles[: len(selection.ids)]))
    found = dict(zip(keys.tolist(), shelf.read(handles), strict=True))
    return gather(found, selection, share, asked, oracle.size)


class _Shelf:
    """The candidates of rows, each read once."""

    def __init__(self, oracle: Any, read: Read) -> None:
        self._oracle, self._read = oracle, read
        self._known: dict[int, Candidate] = {}

    def read(self, ids: Ids) -> list[Candidate]:
        wanted = [i for i in dict.fromkeys(ids.tolist()) if i not in self._known]
        if wanted:
            self._known.update(zip(wanted, self._read(np.array(wanted, dtype=np.int64)), strict=True))
        return [self._known[i] for i in ids.tolist()]

    def handles(self, keys: Any) -> Ids:
        """The row numbers of an engine's own ids."""
        if hasattr(self._oracle, "handles"):
            return np.asarray(self._oracle.handles(keys.tolist()), dtype=np.int64)
        return np.asarray(keys, dtype=np.int64)

    def labels(self, options: Options) -> Any:
        name = options.group_by
        if name is None:
            return None
        return lambda keys: [label(one.metadata, name) for one in self.read(self.handles(np.asarray(keys)))]

    def texts(self, keys: Any) -> list[str]:
        return [one.text for one in self.read(self.handles(np.asarray(keys)))]

    def values(self, options: Options) -> Any:
        return lambda keys: [options.value(one.metadata) for one in self.read(self.handles(np.asarray(keys)))]

    def costs(self, options: Options) -> Any:
        return lambda keys: [options.cost(one.text) for one in self.read(self.handles(np.asarray(keys)))]


def read_payloads(oracle: Any) -> Read:
    """How to read the rows of an engine that holds texts."""
    if not hasattr(oracle, "documents"):
        raise InputError(
            f"{type(oracle).__name__} holds no texts; pass documents=, a list or a mapping from ids to documents"
        )

    def read(ids: Ids) -> list[Candidate]:
        names = oracle.keys(ids).tolist() if hasattr(oracle, "keys") else ids.tolist()
        found = oracle.documents(ids)
        return [Candidate(str(n), p.text or "", p.metadata) for n, p in zip(names, found, strict=True)]

    return read
