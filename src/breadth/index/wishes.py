"""Constraints on the documents of an index, translated into those of `breadth.select` on row numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from breadth.arrays import Ids
from breadth.errors import InputError
from breadth.index.documents import Document
from breadth.index.store import Store
from breadth.oracles.segmented import SegmentedOracle


@dataclass(frozen=True)
class Wishes:
    """What `Index.search` says about documents: a field to group by, ids to pin and exclude, a budget of words."""

    group_by: str | None = None
    pinned: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    budget: float | None = None
    count: Callable[[str], float] | None = None

    def translate(self, options: dict[str, Any], store: Store, oracle: SegmentedOracle) -> dict[str, Any]:
        """The options of `breadth.select` with these wishes, for rows of this oracle."""
        shelf = _Shelf(store, oracle)
        told = dict(options)
        if self.group_by is not None:
            fields = store.fields()
            if self.group_by not in fields:
                raise InputError(
                    f"group_by: no document has the field {self.group_by!r}; there are {', '.join(fields)}"
                )
            field = self.group_by
            told["groups"] = lambda ids: [document.metadata.get(field) for document in shelf.read(ids)]
            told.setdefault("per_group", 1)
        if self.budget is not None:
            count = self.count or count_words
            told["costs"] = lambda ids: [count(document.text) for document in shelf.read(ids)]
            told["budget"] = self.budget
        elif self.count is not None:
            raise InputError("count needs budget: it says how a text is counted against the budget")
        for name, ids in (("pinned", self.pinned), ("excluded", self.excluded)):
            if ids:
                told[name] = _find_rows(name, ids, store, oracle)
        return told


def count_words(text: str) -> int:
    """The number of words of a text, as white space separates them."""
    return len(text.split())


class _Shelf:
    """Documents by their rows in an oracle, each read once."""

    def __init__(self, store: Store, oracle: SegmentedOracle) -> None:
        self._store, self._oracle = store, oracle
        self._known: dict[int, Document] = {}

    def read(self, ids: Ids) -> list[Document]:
        wanted = [i for i in ids.tolist() if i not in self._known]
        if wanted:
            documents = self._store.documents(self._oracle.numbers[wanted])
            self._known.update(zip(wanted, documents, strict=True))
        return [self._known[i] for i in ids.tolist()]


def _find_rows(name: str, ids: Sequence[str], store: Store, oracle: SegmentedOracle) -> Ids:
    """The rows of documents. One that is not among those to choose from cannot be pinned; excluding it is fine."""
    found = store.find(list(ids))
    unknown = [identity for identity in ids if identity not in found]
    if unknown:
        raise InputError(f"{name}: there is no document {unknown[0]!r}")
    numbers = np.array([found[identity].number for identity in ids], dtype=np.int64)
    rows = np.minimum(np.searchsorted(oracle.numbers, numbers), oracle.size - 1)
    there = oracle.numbers[rows] == numbers
    if name == "pinned" and not there.all():
        missing = ids[int(np.argmin(there))]
        raise InputError(f"pinned: document {missing!r} is not among the documents that where or scores leave")
    return np.asarray(rows[there], dtype=np.int64)
