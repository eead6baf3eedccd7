"""`BreadthRetriever`: over a `VectorStoreIndex`, another retriever, an index or an oracle."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.indices.vector_store.base import VectorStoreIndex
from llama_index.core.schema import NodeWithScore, QueryBundle

from breadth.checks import check_count
from breadth.errors import InputError
from breadth.index import Index
from breadth.integrations.candidates import Chosen, choose
from breadth.integrations.llama_index.filters import read_filters
from breadth.integrations.llama_index.nodes import Embedded, make_nodes, restore_nodes
from breadth.integrations.llama_index.stores import open_whole
from breadth.integrations.options import Options
from breadth.integrations.whole import choose_from, choose_from_index, read_payloads


class BreadthRetriever(BaseRetriever):
    """Retrieve the nodes that together serve a query best.

    source             a `VectorStoreIndex` of LlamaIndex, which is searched as a whole if its store is in memory, or in
                       FAISS, Chroma or Qdrant; a `breadth.Index`, an oracle of breadth (`breadth.open(…)`), or
                       another retriever of LlamaIndex
    similarity_top_k   how many nodes
    fetch_k            how many nodes to choose from, where the source cannot be searched as a whole; at least
                       similarity_top_k
    filters            `MetadataFilters`, or a dict as `breadth.filters` says for an index or an oracle of breadth
    embed_model        what embeds the query, and nodes without an embedding; the default is that of the source, or
                       `Settings.embed_model`, if you have set it
    options            theta, distinct, …: see `breadth.integrations.options.Options`
    """

    def __init__(
        self,
        source: Any,
        similarity_top_k: int = 4,
        *,
        fetch_k: int | None = None,
        filters: Any = None,
        embed_model: Any = None,
        callback_manager: Any = None,
        verbose: bool = False,
        **options: Any,
    ) -> None:
        self.similarity_top_k = check_count(similarity_top_k, "similarity_top_k")
        if fetch_k is not None and check_count(fetch_k, "fetch_k") < similarity_top_k:
            raise InputError(f"fetch_k={fetch_k} is below similarity_top_k={similarity_top_k}: a set needs candidates")
        self._source, self._filters = source, filters
        self._fetch_k = max(100, similarity_top_k) if fetch_k is None else fetch_k
        self._options = Options.read(options)
        self._model = embed_model or getattr(source, "_embed_model", None)
        super().__init__(callback_manager=callback_manager, verbose=verbose)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        if isinstance(self._source, BaseRetriever):
            asked = replace(query_bundle)  # the source embeds it with its own model
            found = self._inner().retrieve(asked)
            return self._choose(Embedded(found, self._own(query_bundle, asked), self._model).complete())
        asked = replace(query_bundle, embedding=Embedded([], query_bundle, self._model).complete().query)
        chosen = self._choose_from_whole(asked)
        if chosen is not None:
            return make_nodes(chosen)
        return self._choose(Embedded(self._inner().retrieve(asked), asked, self._model).complete())

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        if isinstance(self._source, BaseRetriever):
            asked = replace(query_bundle)
            found = await self._inner().aretrieve(asked)
            embedded = await Embedded(found, self._own(query_bundle, asked), self._model).acomplete()
            return await asyncio.to_thread(self._choose, embedded)
        asked = replace(query_bundle, embedding=(await Embedded([], query_bundle, self._model).acomplete()).query)
        chosen = await asyncio.to_thread(self._choose_from_whole, asked)
        if chosen is not None:
            return make_nodes(chosen)
        embedded = await Embedded(await self._inner().aretrieve(asked), asked, self._model).acomplete()
        return await asyncio.to_thread(self._choose, embedded)

    def _own(self, given: QueryBundle, asked: QueryBundle) -> QueryBundle:
        """The query for nodes that our model embeds; without a model, the one that the source has embedded."""
        return asked if self._model is None else given

    def _choose_from_whole(self, bundle: QueryBundle) -> Chosen | None:
        """Choose from all nodes of the source, or return None if only its own search can be asked."""
        k, options, pool, vector = self.similarity_top_k, self._options, self._fetch_k, bundle.embedding
        if isinstance(self._source, VectorStoreIndex):
            whole = None if vector is None else open_whole(self._source, self._filters, len(vector))
            return None if whole is None else choose_from(whole.oracle, vector, k, options, whole.read, pool=pool)
        where = read_filters(self._filters)
        if isinstance(self._source, Index):
            return choose_from_index(
                self._source, bundle.query_str if vector is None else vector, k, options, where, pool
            )
        if vector is None:
            raise InputError(
                "an oracle needs the embedding of the query: pass embed_model=, or set Settings.embed_model"
            )
        oracle = self._source if where is None else self._source.filtered(where)
        return choose_from(oracle, vector, k, options, restore_nodes(read_payloads(oracle)), pool=pool)

    def _inner(self) -> BaseRetriever:
        if isinstance(self._source, BaseRetriever):
            if self._filters is not None:
                raise InputError("filters go to the retriever that is the source; pass them there")
            return self._source
        return _VectorsToo(self._source, max(self._fetch_k, self._count()), self._filters)

    def _count(self) -> int:
        """How many nodes a store in memory has: it is searched as a whole."""
        data = getattr(self._source.vector_store, "data", None)
        return len(getattr(data, "embedding_dict", ()))

    def _choose(self, embedded: Embedded) -> list[NodeWithScore]:
        k, relevance, limit = self.similarity_top_k, "auto", 0
        if isinstance(self._source, VectorStoreIndex):
            relevance, limit = "query", 0 if self._count() else self._fetch_k
        return make_nodes(choose(embedded.candidates(), embedded.query, k, self._options, relevance, limit))


class _VectorsToo(BaseRetriever):
    """The most relevant nodes of a vector store, with their embeddings where the store gives them."""

    def __init__(self, index: VectorStoreIndex, count: int, filters: Any) -> None:
        self._index = index
        self._retriever = index.as_retriever(similarity_top_k=count, filters=filters)
        super().__init__()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return self._add(self._retriever.retrieve(query_bundle))

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return self._add(await self._retriever.aretrieve(query_bundle))

    def _add(self, found: list[NodeWithScore]) -> list[NodeWithScore]:
        known = getattr(getattr(self._index.vector_store, "data", None), "embedding_dict", {})
        return [
            one if one.node.embedding is not None or one.node_id not in known
            else NodeWithScore(node=one.node.model_copy(update={"embedding": known[one.node_id]}), score=one.score)
            for one in found
        ]  # fmt: skip
