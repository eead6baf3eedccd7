"""`BreadthRetriever`: over a document store, a retriever, an index or an oracle."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

from haystack import Document, component, default_from_dict, default_to_dict
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.document_stores.types import FilterPolicy, apply_filter_policy

from breadth.checks import check_count
from breadth.errors import InputError
from breadth.index import Index
from breadth.integrations.candidates import Chosen, choose
from breadth.integrations.haystack.documents import dump, load, make_candidate, make_documents
from breadth.integrations.haystack.filters import read_filters
from breadth.integrations.haystack.stores import open_whole
from breadth.integrations.options import Options
from breadth.integrations.whole import choose_from, choose_from_index, read_payloads
from breadth.opening import open as open_collection

_FETCH = 100
"""How many documents to choose from, unless the user says."""


@component
class BreadthRetriever:
    """Retrieve the documents that together serve a query best.

    document_store   an `InMemoryDocumentStore`, `ChromaDocumentStore` or `QdrantDocumentStore`, which is searched as a
                     whole; an embedding retriever of Haystack over another store, whose `fetch_k` best documents are
                     chosen from; a `breadth.Index`, an oracle of breadth, or the address of a collection as
                     `breadth.open` takes it
    top_k            how many documents
    filters          filters of Haystack, which also an index and an oracle of breadth take
    filter_policy    what filters at run time do to these
    fetch_k          see document_store; at least top_k; 100 unless given
    options          theta, distinct, …: see `breadth.integrations.options.Options`
    """

    def __init__(
        self,
        document_store: Any,
        top_k: int = 10,
        filters: dict[str, Any] | None = None,
        filter_policy: FilterPolicy | str = FilterPolicy.REPLACE,
        fetch_k: int | None = None,
        **options: Any,
    ) -> None:
        self.document_store = document_store
        self.top_k = check_count(top_k, "top_k")
        self.filters = filters
        self.filter_policy = FilterPolicy.from_str(str(filter_policy))
        self.fetch_k = None if fetch_k is None else check_count(fetch_k, "fetch_k")
        self._pool(self.top_k)
        self.options = options
        Options.read(options)
        self._opened: Any = None

    def warm_up(self) -> None:
        """Open the collection, if an address was given."""
        if self._opened is None:
            source = self.document_store
            is_path = isinstance(source, (str, Path))
            self._opened = (
                (Index.open(source) if Index.exists(source) else open_collection(source)) if is_path else source
            )

    def to_dict(self) -> dict[str, Any]:
        """Serialise the component. An index is stored by its path; an oracle cannot be stored, its address can."""
        store = self.document_store
        if isinstance(store, (Path, Index)):
            store = str(store.path if isinstance(store, Index) else store)
        elif not isinstance(store, str) and not hasattr(store, "to_dict"):
            raise InputError(f"{type(store).__name__} cannot be serialised; pass its address, as breadth.open takes it")
        return default_to_dict(
            self,
            document_store=store,
            top_k=self.top_k,
            filters=self.filters,
            filter_policy=self.filter_policy.value,
            fetch_k=self.fetch_k,
            **dump(self.options),
        )

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> BreadthRetriever:
        """Make the component from what `to_dict` returned."""
        return default_from_dict(cls, load(data))

    @component.output_types(documents=list[Document])
    def run(
        self,
        query_embedding: list[float] | None = None,
        filters: dict[str, Any] | None = None,
        top_k: int | None = None,
        query: str | None = None,
    ) -> dict[str, list[Document]]:
        """Retrieve documents. An index of breadth can embed `query` itself; all others need `query_embedding`."""
        self.warm_up()
        wanted = apply_filter_policy(self.filter_policy, self.filters, filters)
        count = self.top_k if top_k is None else check_count(top_k, "top_k")
        options, pool = Options.read(self.options), self._pool(count)
        if isinstance(self._opened, Index):
            asked = query if query_embedding is None else query_embedding
            if asked is None:
                raise InputError("pass query_embedding, or query for an index that embeds it itself")
            chosen = choose_from_index(self._opened, asked, count, options, read_filters(wanted), pool)
        elif query_embedding is None:
            raise InputError("pass query_embedding: only an index of breadth can embed a query")
        else:
            chosen = self._choose(query_embedding, wanted, count, options, pool)
        return {"documents": make_documents(chosen)}

    def _pool(self, count: int) -> int:
        if self.fetch_k is None:
            return max(_FETCH, count)
        if self.fetch_k < count:
            raise InputError(f"fetch_k={self.fetch_k} is below top_k={count}: a set needs candidates")
        return self.fetch_k

    def _choose(self, vector: list[float], filters: Any, count: int, options: Options, pool: int) -> Chosen:
        """Choose from an oracle, from a whole store, or from what a store's own search returns."""
        if hasattr(self._opened, "top"):
            oracle = self._opened if not filters else self._opened.filtered(read_filters(filters))
            return choose_from(oracle, vector, count, options, read_payloads(oracle), pool=pool)
        whole = open_whole(self._opened, read_filters(filters))
        if whole is not None:
            return choose_from(whole.oracle, vector, count, options, whole.read, pool=pool)
        found, limit = _fetch(self._opened, vector, filters, pool)
        candidates = [make_candidate(replace(one, embedding=None), one.embedding) for one in found]
        return choose(candidates, vector, count, options, limit=limit)

    @component.output_types(documents=list[Document])
    async def run_async(
        self,
        query_embedding: list[float] | None = None,
        filters: dict[str, Any] | None = None,
        top_k: int | None = None,
        query: str | None = None,
    ) -> dict[str, list[Document]]:
        """`run` in a thread of its own."""
        return await asyncio.to_thread(self.run, query_embedding, filters, top_k, query)


def _fetch(store: Any, vector: list[float], filters: Any, pool: int) -> tuple[list[Document], int]:
    """Documents to choose from, and how many were asked for; 0 if they are all that there are."""
    if isinstance(store, InMemoryDocumentStore):
        count = store.count_documents_by_filter(filters) if filters else store.count_documents()
        if count == 0:
            return [], 0
        found = store.embedding_retrieval(vector, filters=filters, top_k=count, return_embedding=True)
        if len(found) < count:
            raise InputError(f"{count - len(found)} of {count} documents have no embedding; embed all of them")
        return found, 0
    if hasattr(store, "run"):
        found = store.run(query_embedding=vector, filters=filters, top_k=pool)["documents"]
    elif hasattr(store, "_embedding_retrieval"):
        found = store._embedding_retrieval(query_embedding=vector, filters=filters, top_k=pool)
    else:
        raise InputError(f"{type(store).__name__} cannot be searched by an embedding; pass its retriever instead")
    missing = sum(one.embedding is None for one in found)
    if missing:
        raise InputError(
            f"{type(store).__name__} returned {missing} of {len(found)} documents without their embeddings; make it "
            "with return_embedding=True, or use it and then BreadthRanker with document_embedder="
        )
    return list(found), pool
