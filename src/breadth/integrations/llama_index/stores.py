"""LlamaIndex's vector stores that can be searched as a whole, by the names of their classes. None is imported here.

`SimpleVectorStore`, the one in memory, is not among them: it hands out all its nodes.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from llama_index.core.indices.vector_store.base import VectorStoreIndex

from breadth import oracles
from breadth.arrays import Ids
from breadth.errors import EngineError, InputError
from breadth.integrations.candidates import Candidate
from breadth.integrations.llama_index.filters import read_filters
from breadth.integrations.llama_index.nodes import make_candidate, restore_nodes
from breadth.integrations.options import PoolWarning
from breadth.integrations.whole import Whole, empty, read_payloads
from breadth.oracles import Payload

Opener = Callable[[VectorStoreIndex, Any], Whole]
"""Opens the nodes of an index that fulfil a filter of breadth. What it cannot open is an `InputError`."""


def open_whole(index: VectorStoreIndex, filters: Any, dim: int) -> Whole | None:
    """The nodes of an index that fulfil a filter, or None if only its own search can be asked.

    A store that is listed here, but cannot be opened as it is, gives a `PoolWarning` that says why.
    """
    names = (f"{kind.__module__}.{kind.__qualname__}" for kind in type(index.vector_store).__mro__)
    opener = next((STORES[name] for name in names if name in STORES), None)
    if opener is None:
        return None
    try:
        opened = opener(index, read_filters(filters))
        if opened.oracle.size == 0 or opened.oracle.dim == dim:
            return opened
        reason = f"its vectors have {opened.oracle.dim} dimensions, and the query {dim}"
    except (InputError, EngineError) as error:
        reason = str(error)
    name = type(index.vector_store).__name__
    warnings.warn(f"{name} is not searched as a whole, but through its own search: {reason}", PoolWarning, stacklevel=4)
    return None


def _open_chroma(index: VectorStoreIndex, where: Any) -> Whole:
    collection: Any = index.vector_store.client
    if collection.count() == 0:
        return empty()
    oracle = oracles.chroma(_Known(collection), collection.name, where=where)
    return Whole(oracle, restore_nodes(read_payloads(oracle)))


def _open_faiss(index: VectorStoreIndex, where: Any) -> Whole:
    shelf, rows = _Shelf(index), index.vector_store.client
    if rows.ntotal == 0:
        return empty()
    if len(shelf) != rows.ntotal or "0" not in index.index_struct.nodes_dict:
        raise InputError("FAISS holds no texts, and this index does not know the nodes of its rows")
    oracle = oracles.faiss(rows, documents=shelf, where=where)

    def read(ids: Ids) -> list[Candidate]:
        return [make_candidate(shelf.node(row)) for row in ids.tolist()]

    return Whole(oracle, read)


def _open_qdrant(index: VectorStoreIndex, where: Any) -> Whole:
    store: Any = index.vector_store
    if store.client.count(store.collection_name).count == 0:
        return empty()
    oracle = oracles.qdrant(store.client, store.collection_name, where=where)
    return Whole(oracle, restore_nodes(read_payloads(oracle)))


STORES: dict[str, Opener] = {
    "llama_index.vector_stores.chroma.base.ChromaVectorStore": _open_chroma,
    "llama_index.vector_stores.faiss.base.FaissVectorStore": _open_faiss,
    "llama_index.vector_stores.qdrant.base.QdrantVectorStore": _open_qdrant,
}
"""How to search a store as a whole, by the name of its class. Its subclasses count."""


class _Known:
    """A client of Chroma that has one collection: a store holds no other."""

    def __init__(self, collection: Any) -> None:
        self._collection = collection

    def get_collection(self, name: str, **settings: Any) -> Any:
        return self._collection


class _Shelf(Mapping[int, Payload]):
    """The nodes of a FAISS store by their rows: the index knows their ids, its docstore the nodes."""

    def __init__(self, index: VectorStoreIndex) -> None:
        self._names, self._docstore = index.index_struct.nodes_dict, index.docstore

    def node(self, row: int) -> Any:
        return self._docstore.get_node(self._names[str(row)])

    def __getitem__(self, row: int) -> Payload:
        found = make_candidate(self.node(row))
        return Payload(found.text, found.metadata)

    def __iter__(self) -> Iterator[int]:
        return map(int, self._names)

    def __len__(self) -> int:
        return len(self._names)
