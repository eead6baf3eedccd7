"""An engine, as a collection of the service. Its own ids are shown as text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from breadth import api
from breadth.arrays import Array, Ids
from breadth.checks import check_count, check_query
from breadth.encoders import Encoder
from breadth.errors import InputError
from breadth.index import Document, Hit, Results
from breadth.index.results import no_results
from breadth.index.wishes import count_words, read_label
from breadth.oracles.protocol import Payload
from breadth.selection import Selection
from breadth.service.collections.protocol import Curve
from breadth.service.inspection.inspect import Inspection, Wanted, inspect
from breadth.service.inspection.study import Studies, Study

_FRESH = 60.0
"""Seconds for which the searches of a query are remembered: the engine may change meanwhile."""


class ServedEngine:
    """An oracle, and an encoder if queries come as texts."""

    def __init__(self, oracle: Any, encoder: Encoder | None) -> None:
        if encoder is not None and encoder.dim != oracle.dim:
            raise InputError(f"the collection has {oracle.dim} dimensions, but {encoder.name} makes {encoder.dim}")
        self._oracle, self._encoder = oracle, encoder
        self._studies = Studies(_FRESH)

    @property
    def dim(self) -> int:
        return int(self._oracle.dim)

    def count(self) -> int:
        return int(self._oracle.size)

    def check(self, query: str | list[float]) -> None:
        if not isinstance(query, str):
            check_query(np.array(query, dtype=np.float64), self.dim)
        elif self._encoder is None:
            raise InputError(
                f"query is a text, but this collection has no encoder; pass a vector of {self.dim} numbers, or start "
                "the service with --encoder"
            )
        elif not query.strip():
            raise InputError("query is empty")

    def select(self, queries: Sequence[Any], arguments: Mapping[str, Any]) -> list[Results]:
        oracle, told = self._restrict(arguments)
        k = check_count(told.pop("k"), "k")
        if oracle.size == 0:
            return [no_results(_text(query), k, dict(arguments)) for query in queries]
        told = self._translate(oracle, told)
        vectors, size = self._encode(queries), min(k, oracle.size)
        if len(queries) == 1:
            found = [api.select(oracle, vectors[0], k=size, **told)]
        else:
            if "cover" in told:
                told = {**told, "method": "coverage"}
            found = api.select_many(oracle, vectors, k=size, **told)
        return [self._name(oracle, _text(query), one, k) for query, one in zip(queries, found, strict=True)]

    def frontier(self, query: Any, arguments: Mapping[str, Any]) -> Curve:
        oracle, told = self._restrict(arguments)
        k = check_count(told.pop("k"), "k")
        if oracle.size == 0:
            return Curve()
        curve = api.frontier(oracle, self._encode([query])[0], k=min(k, oracle.size), **told)
        points = tuple(self._name(oracle, None, replace(selection, copies=()), k) for selection in curve)
        return Curve(points, curve.knee().theta, curve.top_relevance)

    def inspect(self, query: Any, wanted: Wanted) -> Inspection:
        if self.count() == 0:
            raise InputError("the collection is empty; add rows to it")
        oracle = self._oracle
        study = self._studies.open(query, oracle, lambda: Study(oracle, self._encode([query])[0], self._read))
        return inspect(study, wanted)

    def get(self, identity: str) -> Document | None:
        for key in self._guess_keys(identity):
            try:
                (payload,) = _read_payloads(self._oracle, self._handles([key]))
            except InputError:  # there is no such row
                continue
            return _make_document(key, payload)
        return None

    def close(self) -> None:
        close: Callable[[], None] | None = getattr(self._oracle, "close", None)
        if close is not None:
            close()

    def _restrict(self, arguments: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
        """The rows that `where` leaves, and the other arguments."""
        told = dict(arguments)
        where = told.pop("where", None)
        if told.pop("hybrid", 0.0) > 0.0:
            raise InputError("hybrid needs an index of breadth; an engine searches by vectors alone")
        if where is None:
            return self._oracle, told
        if not hasattr(self._oracle, "filtered"):
            raise InputError("this collection has no metadata, so it takes no where")
        return self._oracle.filtered(where), told

    def _translate(self, oracle: Any, told: dict[str, Any]) -> dict[str, Any]:
        """The arguments of `breadth.select`: fields of documents become functions of rows, ids become the engine's."""
        told = dict(told)
        field, per_group = told.pop("group_by", None), told.pop("per_group", None)
        if field is None and per_group is not None:
            raise InputError("per_group needs group_by, the metadata field whose values are the groups")
        if field is not None:
            told["groups"] = lambda ids: [read_label(one.metadata, field) for one in self._payloads(oracle, ids)]
            told["per_group"] = 1 if per_group is None else per_group
        if "budget" in told:
            told["costs"] = lambda ids: [count_words(one.text or "") for one in self._payloads(oracle, ids)]
        for name in ("pinned", "excluded"):
            if told.get(name):
                told[name] = [self._find_key(name, identity) for identity in told[name]]
        return told

    def _read(self, ids: Ids) -> list[Document]:
        """The documents of rows."""
        keys = self._oracle.keys(ids) if hasattr(self._oracle, "keys") else ids
        payloads = _read_payloads(self._oracle, ids)
        return [_make_document(key, payload) for key, payload in zip(keys.tolist(), payloads, strict=True)]

    def _payloads(self, oracle: Any, ids: Any) -> Sequence[Payload]:
        """The payloads of rows that are named as `breadth.select` names them."""
        return _read_payloads(oracle, self._handles(ids))

    def _handles(self, keys: Any) -> Ids:
        if hasattr(self._oracle, "handles"):
            return np.asarray(self._oracle.handles(keys), dtype=np.int64)
        return np.asarray(keys, dtype=np.int64)

    def _find_key(self, name: str, identity: str) -> Any:
        for key in self._guess_keys(identity):
            try:
                self._oracle.rows(self._handles([key]))
            except (InputError, IndexError):
                continue
            return key
        raise InputError(f"{name}: there is no document {identity!r}")

    def _guess_keys(self, identity: str) -> list[Any]:
        """What the engine may call a row that is shown under this text."""
        number = [int(identity)] if identity.isdecimal() and identity.isascii() and len(identity) < 19 else []
        if hasattr(self._oracle, "handles"):
            return [*number, identity]
        return [n for n in number if n < self.count() or not hasattr(self._oracle, "scores")]

    def _encode(self, queries: Sequence[Any]) -> Array:
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

    def _name(self, oracle: Any, text: str | None, selection: Selection, asked: int) -> Results:
        """The results of a selection: its rows with what the engine holds beside them."""
        copies = [rows.tolist() for rows in selection.copies] or [[] for _ in selection.ids]
        keys = list(dict.fromkeys([*selection.ids.tolist(), *(key for rows in copies for key in rows)]))
        payloads = self._payloads(oracle, keys)
        documents = {key: _make_document(key, payload) for key, payload in zip(keys, payloads, strict=True)}
        hits = tuple(
            Hit(documents[key], score, tuple(documents[other] for other in others))
            for key, score, others in zip(selection.ids.tolist(), selection.scores.tolist(), copies, strict=True)
        )
        return Results(text, hits, selection, int(oracle.size), asked)


def _text(query: Any) -> str | None:
    return query if isinstance(query, str) else None


def _read_payloads(oracle: Any, ids: Ids) -> Sequence[Payload]:
    """What the engine holds beside rows; nothing, if it holds vectors alone or was opened without documents."""
    if not hasattr(oracle, "documents"):
        return [Payload() for _ in ids]
    found: Sequence[Payload] = oracle.documents(ids)
    return found


def _make_document(key: Any, payload: Payload) -> Document:
    return Document(str(key), payload.text or "", payload.metadata)
