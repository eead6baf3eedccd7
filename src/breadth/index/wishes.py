"""Constraints on the documents of an index, translated into those of `breadth.select` on row numbers."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from breadth.arrays import Ids
from breadth.errors import InputError
from breadth.filters import look_up
from breadth.filters.meaning import MISSING, make_reader
from breadth.index.documents import Document, check_id
from breadth.index.entries import find_name, list_names
from breadth.index.store import View
from breadth.oracles.segmented import SegmentedOracle
from breadth.settings import compares_texts

ReadDocuments = Callable[[Ids], list[Document]]
_LISTED = 20
"""How many fields a message names."""


@dataclass(frozen=True)
class Wishes:
    """What `Index.search` says about documents: a field to group by, ids to pin and exclude, a budget of words, which
    of several documents with the same words is preferred."""

    group_by: str | None = None
    pinned: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    budget: float | None = None
    count: Callable[[str], float] | None = None
    prefer: str | Callable[[Mapping[str, Any]], Any] | None = None

    def __post_init__(self) -> None:
        for name, ids in (("pinned", self.pinned), ("excluded", self.excluded)):
            for identity in ids:
                check_id(identity, f"{name}: an id")
        check_preference(self.prefer)
        if self.count is not None and self.budget is None:
            raise InputError("count needs budget: it says how a text is counted against the budget")

    def translate(
        self, options: dict[str, Any], view: View, oracle: SegmentedOracle, read: ReadDocuments
    ) -> dict[str, Any]:
        """The options of `breadth.select` with these wishes, for rows of this oracle; `read` gets documents later."""
        shelf = _Shelf(read, oracle)
        told = dict(options)
        if told.get("texts") is not None:
            raise InputError("texts: an index has the texts of its documents; leave the argument out")
        if compares_texts(told):
            told["texts"] = lambda ids: [document.text for document in shelf.read(ids)]
        if self.prefer is not None:
            told["prefer"] = self._read_preference(told, view, shelf)
        if self.group_by is not None:
            _check_field("group_by", self.group_by, view)
            field = self.group_by
            told["groups"] = lambda ids: [read_label(document.metadata, field) for document in shelf.read(ids)]
            told.setdefault("per_group", 1)
        elif told.get("per_group") is not None:
            raise InputError("per_group needs group_by=, the metadata field whose values are the groups")
        if self.budget is not None:
            count = self.count or count_words
            told["costs"] = lambda ids: [count(document.text) for document in shelf.read(ids)]
            told["budget"] = self.budget
        for name, ids in (("pinned", self.pinned), ("excluded", self.excluded)):
            if ids:
                told[name] = _find_rows(name, ids, view, oracle)
        return told

    def _read_preference(self, told: Mapping[str, Any], view: View, shelf: _Shelf) -> Callable[[Ids], list[Any]]:
        """How much rows are preferred to others with the same words."""
        assert self.prefer is not None
        check_preferable({**told, "texts": None})
        if isinstance(self.prefer, str):
            _check_field("prefer", self.prefer, view)
        value = make_reader(self.prefer)
        return lambda ids: [value(document.metadata) for document in shelf.read(ids)]


def count_words(text: str) -> int:
    """The number of words of a text, as white space separates them."""
    return len(text.split())


class _Shelf:
    """Documents by their rows in an oracle, each read once."""

    def __init__(self, read: ReadDocuments, oracle: SegmentedOracle) -> None:
        self._read, self._oracle = read, oracle
        self._known: dict[int, Document] = {}

    def read(self, ids: Ids) -> list[Document]:
        wanted = [i for i in ids.tolist() if i not in self._known]
        if wanted:
            self._known.update(zip(wanted, self._read(self._oracle.numbers[wanted]), strict=True))
        return [self._known[i] for i in ids.tolist()]


def check_preferable(options: Mapping[str, Any]) -> None:
    """Raise an error if `prefer` could not matter, because nothing looks for documents with the same words."""
    if not compares_texts(options):
        raise InputError(
            "prefer says which of several documents with the same words counts, but with this method, sharpness or "
            "cover nothing looks for them; pass distinct= too, or leave prefer out"
        )


def check_preference(prefer: Any) -> None:
    """Raise an error unless this is a field, or a function of metadata."""
    if prefer is not None and not (isinstance(prefer, str) or callable(prefer)):
        raise InputError(f"prefer must be a field of metadata, or a function of the metadata, got {prefer!r}")


def _check_field(name: str, field: str, view: View) -> None:
    if find_name(view.db, field) < 0:
        known = list_names(view.db)
        listed = ", ".join(known[:_LISTED]) + (f" and {len(known) - _LISTED} more" if len(known) > _LISTED else "")
        raise InputError(f"{name}: no document has the field {field!r}; there are {listed or 'none'}")


def read_label(metadata: Mapping[str, Any], field: str) -> Any:
    """The group of a document: the value of the field, None without it. Lists and dicts are groups by their content."""
    value = look_up(metadata, field)
    if value is MISSING:
        return None
    return json.dumps(value, sort_keys=True) if isinstance(value, (list, dict)) else value


def _find_rows(name: str, ids: Sequence[str], view: View, oracle: SegmentedOracle) -> Ids:
    """The rows of documents. One that is not among those to choose from cannot be pinned; excluding it is fine."""
    found = view.find_numbers(list(ids))
    unknown = [identity for identity in ids if identity not in found]
    if unknown:
        raise InputError(f"{name}: there is no document {unknown[0]!r}")
    numbers = np.array([found[identity] for identity in ids], dtype=np.int64)
    rows = np.minimum(np.searchsorted(oracle.numbers, numbers), oracle.size - 1)
    there = oracle.numbers[rows] == numbers
    if name == "pinned" and not there.all():
        missing = ids[int(np.argmin(there))]
        raise InputError(f"pinned: document {missing!r} is not among the documents that where or scores leave")
    return np.asarray(rows[there], dtype=np.int64)
