"""A collection in any engine, searched by text or vector: it answers with documents, as an index does.

An engine knows rows and its own ids. Here these become documents, whose ids are texts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from types import TracebackType
from typing import Any
from uuid import UUID

import numpy as np

from breadth import api
from breadth.arrays import Array, Ids
from breadth.checks import check_count, check_query
from breadth.curve import Frontier
from breadth.encoders import Encoder
from breadth.errors import InputError
from breadth.filters.meaning import make_reader
from breadth.filters.values import check_text
from breadth.index import Document, Results
from breadth.index.documents import list_rows, make_hits
from breadth.index.results import no_results
from breadth.index.wishes import check_preferable, check_preference, count_words, read_label
from breadth.near import NOTHING_NEAR
from breadth.oracles.protocol import Payload
from breadth.selection import Selection
from breadth.settings import compares_texts

_NUMBER = re.compile(r"-?[0-9]{1,18}")
"""A number that can be an id."""


class Searcher:
    """An oracle, which `breadth.open` opens, with the encoder that made its vectors. Several threads may use it.

    Its arguments are those of `Index.search`, without `hybrid` and `scores`, which need an index. The engine must hold
    texts or metadata for what is asked of them: `group_by` and `budget` need `documents`.
    """

    def __init__(self, oracle: Any, encoder: Encoder | None) -> None:
        if encoder is not None and oracle.size and encoder.dim != oracle.dim:
            raise InputError(
                f"encoder: {encoder.name} makes vectors of {encoder.dim} dimensions, but the collection has "
                f"{oracle.dim}; pass the encoder that made them"
            )
        self._oracle, self._encoder = oracle, encoder

    @property
    def oracle(self) -> Any:
        """The engine's rows."""
        return self._oracle

    def documents(self, ids: Ids) -> list[Document]:
        """The documents of rows of the oracle."""
        keys = self._oracle.keys(ids) if hasattr(self._oracle, "keys") else ids
        return _Rows(self._oracle).documents(keys.tolist())

    def __enter__(self) -> Searcher:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of files and connections."""
        if hasattr(self._oracle, "close"):
            self._oracle.close()

    def __len__(self) -> int:
        return int(self._oracle.size)

    @property
    def dim(self) -> int:
        """The number of dimensions of the vectors."""
        return int(self._oracle.dim)

    def check(self, query: Any) -> None:
        """Raise an error if it can be seen without searching that a query is wrong."""
        if not isinstance(query, str):
            check_query(query, self.dim)
        elif self._encoder is None:
            raise InputError(
                "query: a text needs the encoder that made the vectors of the collection; pass encoder (--encoder), or "
                f"a vector of {self.dim} numbers"
            )
        elif not check_text(query, "query").strip():
            raise InputError("query is empty")

    def search(self, query: Any, k: int = 10, theta: float | str | None = None, **options: Any) -> Results:
        """Choose the k documents that together serve the query best."""
        return self.search_many([query], k, theta, **options)[0]

    def search_many(
        self,
        queries: Sequence[Any],
        k: int = 10,
        theta: float | str | None = None,
        *,
        where: Mapping[str, Any] | None = None,
        group_by: str | None = None,
        budget: float | None = None,
        count: Callable[[str], float] | None = None,
        prefer: str | Callable[[Mapping[str, Any]], Any] | None = None,
        hybrid: float = 0.0,
        scores: Any = None,
        **options: Any,
    ) -> list[Results]:
        """`search` for several queries, which share searches of the engine."""
        if hybrid or scores is not None:
            name = "hybrid" if hybrid else "scores"
            raise InputError(f"{name} needs an index made by `breadth index`; an engine searches by vectors alone")
        rows = _Rows(self._filter(where))
        asked, told = check_count(k, "k"), {"theta": theta, **options}
        texts = [query if isinstance(query, str) else None for query in queries]
        if rows.size == 0:
            return [no_results(text, asked, told) for text in texts]
        told |= rows.read_groups(group_by, told.get("per_group")) | rows.read_costs(budget, count)
        if told.get("texts") is not None:
            raise InputError("texts: the texts are those of the engine; leave the argument out")
        if rows.has_texts and compares_texts(told):
            told["texts"] = rows.read_texts
        if prefer is not None:
            check_preference(prefer)
            check_preferable(told)
            told["prefer"] = rows.read_values(make_reader(prefer))
        for name in ("pinned", "excluded"):
            if told.get(name):
                told[name] = rows.find_keys(name, told[name], self._kind)
        vectors, size = self.encode(queries), min(asked, rows.size)
        if len(queries) == 1:
            found = [api.select(rows.oracle, vectors[0], k=size, **told)]
        else:
            found = api.select_many(rows.oracle, vectors, k=size, **told)
        return [rows.describe(text, one, asked) for text, one in zip(texts, found, strict=True)]

    def frontier(
        self, query: Any, k: int = 10, *, where: Mapping[str, Any] | None = None, **options: Any
    ) -> tuple[Frontier | None, list[Results]]:
        """`breadth.frontier` with the documents of each set; None and no sets where there is nothing to choose from.

        Near-copies are left out: they would be those of one search for each θ.
        """
        rows, asked = _Rows(self._filter(where)), check_count(k, "k")
        if rows.size == 0:
            return None, []
        if rows.has_texts and compares_texts(options):
            options["texts"] = rows.read_texts
        curve = api.frontier(rows.oracle, self.encode([query])[0], k=min(asked, rows.size), **options)
        return curve, [rows.describe(None, replace(selection, near=NOTHING_NEAR), asked) for selection in curve]

    def get(self, identity: str) -> Document | None:
        """The document with this id, or None."""
        rows = _Rows(self._oracle)
        key = read_key(identity, self._kind) if rows.size else None
        return rows.documents([key])[0] if key is not None and rows.holds([key]) else None

    @cached_property
    def _kind(self) -> type:
        """The type of the engine's own ids, as a row shows it."""
        if not hasattr(self._oracle, "keys"):
            return int
        (key,) = self._oracle.keys(self._oracle.top(np.eye(1, self.dim), 1)[0][0]).tolist()
        return type(key)

    def _filter(self, where: Mapping[str, Any] | None) -> Any:
        if where is None:
            return self._oracle
        if not hasattr(self._oracle, "filtered"):
            raise InputError(f"where: {type(self._oracle).__name__} has no metadata to filter by")
        return self._oracle.filtered(where)

    def encode(self, queries: Sequence[Any]) -> Array:
        """Texts and vectors as rows of unit length."""
        rows = np.empty((len(queries), self.dim))
        for place, query in enumerate(queries):
            self.check(query)
            if not isinstance(query, str):
                rows[place] = query
        texts = [place for place, query in enumerate(queries) if isinstance(query, str)]
        if texts:
            assert self._encoder is not None
            encoded = self._encoder.encode([queries[place] for place in texts], "query")
            if not encoded.any(axis=1).all():
                raise InputError(f"query holds no word that the encoder {self._encoder.name} knows")
            rows[texts] = encoded
        return rows


class _Rows:
    """The rows of an oracle as documents. Each is read once; the engine's own ids are shown as text."""

    def __init__(self, oracle: Any) -> None:
        self.oracle = oracle
        self.size = int(oracle.size)
        self._known: dict[Any, Payload] = {}

    def describe(self, text: str | None, selection: Selection, asked: int) -> Results:
        """The results of a selection."""
        keys = list_rows(selection)
        documents = dict(zip(keys, self.documents(keys), strict=True))
        given_up = tuple(documents[row].id for row in selection.given_up)
        return Results(text, make_hits(selection, documents), selection, self.size, asked, given_up)

    @property
    def has_texts(self) -> bool:
        """Whether the engine may hold texts."""
        return hasattr(self.oracle, "documents")

    def read_texts(self, keys: Any) -> list[str]:
        """The texts of rows; empty where there is none."""
        return [entry.text or "" for entry in self._read(keys)]

    def read_values(self, value: Callable[[Mapping[str, Any]], Any]) -> Callable[[Any], list[Any]]:
        """What a function says of the metadata of rows."""
        return lambda keys: [value(entry.metadata) for entry in self._read(keys)]

    def documents(self, keys: Iterable[Any]) -> list[Document]:
        """The documents with these keys."""
        wanted = list(keys)
        entries = zip(wanted, self._read(wanted), strict=True)
        return [Document(str(key), entry.text or "", entry.metadata) for key, entry in entries]

    def read_groups(self, field: str | None, per_group: int | None) -> dict[str, Any]:
        """The arguments of `breadth.select` for groups by the values of a field."""
        if field is None:
            if per_group is not None:
                raise InputError("per_group needs group_by, the metadata field whose values are the groups")
            return {}
        return {
            "groups": lambda names: [read_label(entry.metadata, field) for entry in self._read(names)],
            "per_group": 1 if per_group is None else per_group,
        }

    def read_costs(self, budget: float | None, count: Callable[[str], float] | None) -> dict[str, Any]:
        """The arguments of `breadth.select` for a budget of words, or of what `count` counts."""
        if budget is None:
            if count is not None:
                raise InputError("count needs budget: it says how a text is counted against the budget")
            return {}
        measure = count or count_words
        return {"costs": lambda names: [measure(entry.text or "") for entry in self._read(names)], "budget": budget}

    def find_keys(self, name: str, identities: Any, kind: type) -> list[Any]:
        """The engine's ids, of this kind, of documents that must be there."""
        wanted = [identities] if isinstance(identities, str) else list(identities)
        read = [read_key(identity, kind) for identity in wanted]
        if None not in read and self.holds(read):  # one request for all, as a rule
            return read
        missing = next(text for text, key in zip(wanted, read, strict=True) if key is None or not self.holds([key]))
        raise InputError(f"{name}: there is no document {missing!r}")

    def holds(self, keys: Sequence[Any]) -> bool:
        """Whether the engine has all of these rows."""
        if not hasattr(self.oracle, "handles") and min(keys) < 0:  # arrays would count from their end
            return False
        try:
            self.oracle.rows(self._number(keys))
        except (InputError, IndexError):  # there is no such row
            return False
        return True

    def _number(self, keys: Sequence[Any]) -> Ids:
        ids = self.oracle.handles(keys) if hasattr(self.oracle, "handles") else keys
        return np.asarray(ids, dtype=np.int64)

    def _read(self, keys: Any) -> list[Payload]:
        """What the engine holds beside rows; nothing, if it holds vectors alone or was opened without documents."""
        wanted = keys.tolist() if isinstance(keys, np.ndarray) else list(keys)
        missing = [key for key in dict.fromkeys(wanted) if key not in self._known]
        if missing and hasattr(self.oracle, "documents"):
            self._known.update(zip(missing, self.oracle.documents(self._number(missing)), strict=True))
        return [self._known.get(key, Payload()) for key in wanted]


def read_key(identity: Any, kind: type) -> Any:
    """The engine's id of this kind that is shown as a text; None if there can be none."""
    if isinstance(identity, kind):
        return identity
    text = str(identity)
    if kind is int:
        return int(text) if _NUMBER.fullmatch(text) else None
    if kind is UUID:
        try:
            return UUID(text)
        except ValueError:
            return None
    return None
