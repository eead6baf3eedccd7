"""`BreadthRetriever`: over any vector store of LangChain, any oracle, or an index."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import VectorStore
from pydantic import ConfigDict, Field

from breadth.checks import check_count
from breadth.errors import InputError
from breadth.index import Index
from breadth.integrations.candidates import Chosen, choose
from breadth.integrations.langchain.documents import Wishes, make_candidate, make_documents, read_documents
from breadth.integrations.langchain.stores.registry import check_filtered, name_filter, open_whole
from breadth.integrations.whole import choose_from, choose_from_index, read_payloads


class BreadthRetriever(Wishes, BaseRetriever):
    """Retrieve the k documents that together serve a query best: relevant, without copies.

    source        a LangChain `VectorStore`, a `breadth.Index`, or an oracle of breadth (`breadth.open(…)`)
    embeddings    what turns a query into a vector; the default is the store's, or the index's encoder
    documents     for an oracle that holds no texts: LangChain documents, a list or a mapping from ids
    fetch_k       how many documents to choose from, where the store cannot be searched as a whole; at least k
    filter        a filter on metadata, in the store's own form. A dict is read as `breadth.filters` says where the
                  whole store is searched
    search_kwargs   further arguments of the store's own search. With them, `fetch_k` documents are asked for
    k, lambda_mult, theta, distinct, …   see `breadth.integrations.options.Options`

    `invoke(query, k=3, filter=…)` changes any of k, fetch_k, filter and the options for one call.
    A document's `metadata["breadth"]` says how it was chosen.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    source: Any
    embeddings: Any = None
    documents: Any = None
    fetch_k: int = 100
    filter: Any = None
    search_kwargs: dict[str, Any] = Field(default_factory=dict)

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, **changes: Any
    ) -> list[Document]:
        asked = _Asked(self, query, changes)
        if not isinstance(self.source, VectorStore):
            return make_documents(asked.choose_from_collection(None if asked.encoder is None else asked.embed()))
        vector = asked.embed()
        chosen = asked.choose_from_store(vector)
        if chosen is None:
            found = asked.fetch(vector)
            vectors = asked.need_encoder().embed_documents([one.page_content for one in found])
            chosen = asked.choose_from_pool(vector, found, vectors)
        return make_documents(chosen)

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, **changes: Any
    ) -> list[Document]:
        asked = _Asked(self, query, changes)
        vector = None if asked.encoder is None else await asked.encoder.aembed_query(query)
        if not isinstance(self.source, VectorStore):
            return make_documents(await asyncio.to_thread(asked.choose_from_collection, vector))
        asked.need_encoder()
        chosen = await asyncio.to_thread(asked.choose_from_store, vector)
        if chosen is None:
            found = await asked.afetch(vector)
            vectors = await asked.need_encoder().aembed_documents([one.page_content for one in found])
            chosen = await asyncio.to_thread(asked.choose_from_pool, vector, found, vectors)
        return make_documents(chosen)


class _Asked:
    """One call of a retriever: its settings, with the changes for this call."""

    def __init__(self, retriever: BreadthRetriever, query: str, changes: dict[str, Any]) -> None:
        own = {name: changes.pop(name) for name in ("k", "fetch_k", "filter", "search_kwargs") if name in changes}
        self.source, self.query = retriever.source, query
        self.k = check_count(own.get("k", retriever.k), "k")
        self.options = retriever.read_options(changes)
        self.filter = own.get("filter", retriever.filter)
        self.search_kwargs = own.get("search_kwargs", retriever.search_kwargs)
        self.documents = retriever.documents
        self.encoder: Embeddings | None = retriever.embeddings or getattr(self.source, "embeddings", None)
        given = "fetch_k" in own or "fetch_k" in retriever.model_fields_set
        fetch_k = check_count(own.get("fetch_k", retriever.fetch_k), "fetch_k")
        if given and fetch_k < self.k:
            raise InputError(f"fetch_k={fetch_k} is below k={self.k}: a set of {self.k} needs as many candidates")
        self.fetch_k = max(fetch_k, self.k)

    def need_encoder(self) -> Embeddings:
        if self.encoder is None:
            raise InputError(f"{type(self.source).__name__} has no embeddings; pass embeddings= to the retriever")
        return self.encoder

    def embed(self) -> list[float]:
        return self.need_encoder().embed_query(self.query)

    def choose_from_collection(self, vector: Any) -> Chosen:
        """Choose from an index or an oracle."""
        if self.search_kwargs:
            raise InputError("search_kwargs are for a vector store of LangChain; pass filter=, or other options")
        if isinstance(self.source, Index):
            asked = self.query if vector is None else vector
            return choose_from_index(self.source, asked, self.k, self.options, self.filter, self.fetch_k)
        vector = self.embed() if vector is None else vector
        oracle = self.source
        if self.filter is not None:
            if not hasattr(oracle, "filtered"):
                raise InputError(f"{type(oracle).__name__} takes no filter")
            oracle = oracle.filtered(self.filter)
        read = read_payloads(oracle) if self.documents is None else read_documents(self.documents)
        return choose_from(oracle, vector, self.k, self.options, read, pool=self.fetch_k)

    def choose_from_store(self, vector: Any) -> Chosen | None:
        """Choose from all documents of a vector store, or return None if only its own search can be asked."""
        index = getattr(self.source, "index", None)
        if isinstance(index, Index):
            return choose_from_index(index, vector, self.k, self.options, self.filter, self.fetch_k)
        whole = None if self.search_kwargs else open_whole(self.source, self.filter, len(vector))
        if whole is None:
            return None
        try:
            return choose_from(whole.oracle, vector, self.k, self.options, whole.read, pool=self.fetch_k)
        finally:
            whole.close()

    def fetch(self, vector: Any) -> list[Document]:
        """The `fetch_k` most relevant documents of a vector store."""
        try:
            return list(self.source.similarity_search_by_vector(vector, **self._search()))
        except NotImplementedError:
            return list(self.source.similarity_search(self.query, **self._search()))

    async def afetch(self, vector: Any) -> list[Document]:
        try:
            return list(await self.source.asimilarity_search_by_vector(vector, **self._search()))
        except NotImplementedError:
            return list(await self.source.asimilarity_search(self.query, **self._search()))

    def _search(self) -> dict[str, Any]:
        given = {} if self.filter is None else {name_filter(self.source): self.filter}
        return {"k": self.fetch_k, **given, **self.search_kwargs}

    def choose_from_pool(self, vector: Any, found: Sequence[Document], vectors: Any) -> Chosen:
        candidates = [make_candidate(one, row) for one, row in zip(found, vectors, strict=True)]
        check_filtered(candidates, self.filter)
        return choose(candidates, vector, self.k, self.options, limit=self.fetch_k)
