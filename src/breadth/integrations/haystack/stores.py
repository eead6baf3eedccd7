"""Haystack's document stores that can be searched as a whole, by the names of their classes. None is imported here.

`InMemoryDocumentStore` is not among them: it hands out all its documents with their embeddings.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from breadth import oracles
from breadth.arrays import Ids
from breadth.errors import InputError
from breadth.integrations.candidates import Candidate
from breadth.integrations.fields import prefix_fields
from breadth.integrations.whole import Whole, empty, read_payloads

Opener = Callable[[Any, Mapping[str, Any] | None], Whole]
"""Opens the documents of a store that fulfil a filter of breadth."""


def open_whole(store: Any, where: Mapping[str, Any] | None) -> Whole | None:
    """The documents of a store that fulfil a filter, or None if only its own search can be asked."""
    names = (f"{kind.__module__}.{kind.__qualname__}" for kind in type(store).__mro__)
    opener = next((STORES[name] for name in names if name in STORES), None)
    if opener is None:
        return None
    try:
        return empty() if store.count_documents() == 0 else opener(store, where)
    except InputError as error:
        raise InputError(
            f"{type(store).__name__} cannot be searched as a whole: {error}. Its own retriever with BreadthRanker can"
        ) from error


def _open_chroma(store: Any, where: Mapping[str, Any] | None) -> Whole:
    oracle = oracles.chroma(store._client, store._collection_name, where=where)
    return Whole(oracle, read_payloads(oracle))


def _open_qdrant(store: Any, where: Mapping[str, Any] | None) -> Whole:
    """A point holds a document as a dict: its id and its metadata are fields of it."""
    vectors = "text-dense" if store.use_sparse_embeddings else None
    below = None if where is None else prefix_fields(where, "meta.")
    oracle = oracles.qdrant(store._client, store.index, vectors=vectors, text="content", where=below)
    read = read_payloads(oracle)

    def unwrap(ids: Ids) -> list[Candidate]:
        return [Candidate(one.metadata["id"], one.text, one.metadata.get("meta") or {}) for one in read(ids)]

    return Whole(oracle, unwrap)


STORES: dict[str, Opener] = {
    "haystack_integrations.document_stores.chroma.document_store.ChromaDocumentStore": _open_chroma,
    "haystack_integrations.document_stores.qdrant.document_store.QdrantDocumentStore": _open_qdrant,
}
"""How to search a store as a whole, by the name of its class. Its subclasses count."""
