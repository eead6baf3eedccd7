"""The stores that can be searched as a whole, by the names of their classes."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from breadth.errors import EngineError, InputError
from breadth.integrations.candidates import Candidate
from breadth.integrations.langchain.stores.chroma import open_chroma
from breadth.integrations.langchain.stores.faiss import open_faiss
from breadth.integrations.langchain.stores.in_memory import open_in_memory
from breadth.integrations.langchain.stores.lancedb import open_lancedb
from breadth.integrations.langchain.stores.milvus import open_milvus
from breadth.integrations.langchain.stores.postgres import open_pgvector, open_pgvectorstore
from breadth.integrations.langchain.stores.qdrant import open_qdrant
from breadth.integrations.options import PoolWarning
from breadth.integrations.whole import Whole

Opener = Callable[[Any, Any], Whole]
"""Opens the documents of a store that fulfil a filter. What it cannot open is an `InputError` that says why."""


@dataclass(frozen=True)
class Store:
    """How a store is opened, and how its own search calls a filter."""

    open: Opener
    filter: str = "filter"


STORES: dict[str, Store] = {
    "langchain_core.vectorstores.in_memory.InMemoryVectorStore": Store(open_in_memory),
    "langchain_community.vectorstores.faiss.FAISS": Store(open_faiss),
    "langchain_community.vectorstores.lancedb.LanceDB": Store(open_lancedb),
    "langchain_chroma.vectorstores.Chroma": Store(open_chroma),
    "langchain_milvus.vectorstores.milvus.Milvus": Store(open_milvus, filter="expr"),
    "langchain_postgres.v2.vectorstores.PGVectorStore": Store(open_pgvectorstore),
    "langchain_postgres.vectorstores.PGVector": Store(open_pgvector),
    "langchain_qdrant.qdrant.QdrantVectorStore": Store(open_qdrant),
}
"""The stores by the names of their classes. Subclasses count."""


def open_whole(store: Any, condition: Any, dim: int) -> Whole | None:
    """The documents of a store that fulfil a filter, or None if only its own search can be asked.

    A store that is listed here, but cannot be opened as it is, gives a `PoolWarning` that says why.
    """
    known = _find(store)
    if known is None:
        return None
    try:
        opened = known.open(store, condition)
        if opened.oracle.size == 0 or opened.oracle.dim == dim:
            return opened
        opened.close()
        reason = f"its vectors have {opened.oracle.dim} dimensions, and the query {dim}"
    except (InputError, EngineError) as error:
        reason = str(error)
    text = f"{type(store).__name__} is not searched as a whole, but through its own search: {reason}"
    warnings.warn(text, PoolWarning, stacklevel=4)
    return None


def name_filter(store: Any) -> str:
    """The name of the argument of a store's own search that is a filter."""
    known = _find(store)
    return "filter" if known is None else known.filter


def _find(store: Any) -> Store | None:
    return next((STORES[name] for name in map(_name, type(store).__mro__) if name in STORES), None)


def _name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


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
