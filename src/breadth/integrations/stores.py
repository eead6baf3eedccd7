"""LangChain's vector stores that can be searched as a whole, by the name of their class. Nothing of them is imported.

A vector store of LangChain gives the `fetch_k` most relevant documents, without their vectors. Where `breadth` has an
engine for what is behind the store, it chooses from all documents instead.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from breadth import oracles
from breadth.arrays import Ids
from breadth.errors import InputError
from breadth.filters import matches, read_filter
from breadth.integrations.candidates import Candidate
from breadth.integrations.options import PoolWarning
from breadth.integrations.whole import Read, read_payloads
from breadth.oracles import ArrayOracle, Payload


@dataclass(frozen=True, eq=False)
class Whole:
    """A store as an oracle, with a way to read its documents."""

    oracle: Any
    read: Read


def open_whole(store: Any, condition: Any) -> Whole | None:
    """The documents of a store that fulfil a filter, or None if they cannot be searched as a whole."""
    for kind in type(store).__mro__:
        opener = OPENERS.get(f"{kind.__module__}.{kind.__qualname__}")
        if opener is not None:
            try:
                return opener(store, condition)
            except InputError as error:
                warnings.warn(f"{kind.__qualname__} is not searched as a whole: {error}", PoolWarning, stacklevel=4)
                return None
    return None


def check_filtered(found: Sequence[Candidate], condition: Any) -> None:
    """Raise an error if a store has ignored a filter by equality: wrong documents must not reach a prompt."""
    if not isinstance(condition, Mapping):
        return
    plain = {name: value for name, value in condition.items() if isinstance(value, (str, int, float, bool))}
    for one in found:
        wrong = [name for name, value in plain.items() if name in one.metadata and one.metadata[name] != value]
        if wrong:
            raise InputError(
                f"the vector store ignores the filter: it returned a document with {wrong[0]} = "
                f"{one.metadata[wrong[0]]!r}, not {plain[wrong[0]]!r}; pass the filter as this store wants it"
            )


def _open_in_memory(store: Any, condition: Any) -> Whole | None:
    entries = list(store.store.values())
    if callable(condition):
        document = _document_class(store)
        entries = [
            one
            for one in entries
            if condition(document(id=one["id"], page_content=one["text"], metadata=one["metadata"]))
        ]
    elif condition is not None:
        wanted = read_filter(condition)
        entries = [one for one in entries if matches(wanted, one["metadata"])]
    if not entries:
        return Whole(_Nothing(), lambda ids: [])
    rows = np.array([one["vector"] for one in entries], dtype=np.float32)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    if not (lengths > 0.0).all():
        return None

    def read(ids: Ids) -> list[Candidate]:
        return [Candidate(e["id"], e["text"], e["metadata"]) for e in (entries[i] for i in ids.tolist())]

    return Whole(ArrayOracle(rows / lengths), read)


def _document_class(store: Any) -> Any:
    """LangChain's class of documents, found without importing it here."""
    return type(store).get_by_ids.__globals__["Document"]


def _open_faiss(store: Any, condition: Any) -> Whole | None:
    if condition is not None and not isinstance(condition, Mapping):
        return None
    shelf = _FaissShelf(store)
    if len(shelf) == 0:
        return Whole(_Nothing(), lambda ids: [])
    oracle = oracles.faiss(store.index, documents=shelf, where=condition)

    def read(ids: Ids) -> list[Candidate]:
        payloads = shelf.payloads(ids)
        names = (str(store.index_to_docstore_id[i]) for i in ids.tolist())
        return [Candidate(name, one.text or "", one.metadata) for name, one in zip(names, payloads, strict=True)]

    return Whole(oracle, read)


def _open_chroma(store: Any, condition: Any) -> Whole | None:
    if condition is not None and not isinstance(condition, Mapping):
        return None
    if store._collection.count() == 0:
        return Whole(_Nothing(), lambda ids: [])
    oracle = oracles.chroma(store._client, store._collection.name, where=condition)
    return Whole(oracle, read_payloads(oracle))


def _open_lancedb(store: Any, condition: Any) -> Whole | None:
    """LangChain keeps metadata in one column, so a filter asks for the fields of this column."""
    if condition is not None and not isinstance(condition, Mapping):
        return None
    table = store.get_table()
    if table is None or table.count_rows() == 0:
        return Whole(_Nothing(), lambda ids: [])
    columns = {"vectors": store._vector_key, "key": store._id_key, "text": store._text_key}
    where = None if condition is None else _rename(condition)
    oracle = oracles.lancedb(store._connection, store._table_name, where=where, **columns)
    read = read_payloads(oracle)

    def unwrap(ids: Ids) -> list[Candidate]:
        return [replace(one, metadata=one.metadata.get("metadata") or {}) for one in read(ids)]

    return Whole(oracle, unwrap)


def _rename(condition: Any) -> Any:
    """A filter whose fields are those of the column `metadata`."""
    if isinstance(condition, list):
        return [_rename(part) for part in condition]
    if not isinstance(condition, Mapping):
        return condition
    whole = [name for name in condition if name.startswith("metadata.")]  # already in LanceDB's own form
    return {
        name if name in whole or name.startswith("$") else f"metadata.{name}": (
            _rename(value) if name.startswith("$") else value
        )
        for name, value in condition.items()
    }


OPENERS: dict[str, Callable[[Any, Any], Whole | None]] = {
    "langchain_core.vectorstores.in_memory.InMemoryVectorStore": _open_in_memory,
    "langchain_community.vectorstores.faiss.FAISS": _open_faiss,
    "langchain_chroma.vectorstores.Chroma": _open_chroma,
    "langchain_community.vectorstores.lancedb.LanceDB": _open_lancedb,
}
"""How to search a store as a whole, by the name of its class. Its subclasses count."""


class _FaissShelf(Mapping[int, Payload]):
    """The documents of a FAISS store by their rows."""

    def __init__(self, store: Any) -> None:
        self._store = store

    def __getitem__(self, row: int) -> Payload:
        document = self._store.docstore.search(self._store.index_to_docstore_id[row])
        return Payload(document.page_content, document.metadata)

    def __iter__(self) -> Iterator[int]:
        return iter(self._store.index_to_docstore_id)

    def __len__(self) -> int:
        return len(self._store.index_to_docstore_id)

    def payloads(self, ids: Ids) -> list[Payload]:
        return [self[i] for i in ids.tolist()]


class _Nothing:
    """A collection without rows."""

    size = 0
