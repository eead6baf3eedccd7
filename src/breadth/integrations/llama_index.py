"""LlamaIndex (extra `llama-index`): a node postprocessor and a retriever."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from breadth.checks import check_count
from breadth.errors import InputError, MissingExtraError
from breadth.index import Index
from breadth.integrations.candidates import KEY, Candidate, Chosen, choose
from breadth.integrations.options import Options
from breadth.integrations.whole import choose_from, choose_from_index, read_payloads

try:
    from llama_index.core.base.base_retriever import BaseRetriever
    from llama_index.core.base.embeddings.base import BaseEmbedding
    from llama_index.core.bridge.pydantic import Field, PrivateAttr, model_validator
    from llama_index.core.indices.vector_store.base import VectorStoreIndex
    from llama_index.core.postprocessor.types import BaseNodePostprocessor
    from llama_index.core.schema import BaseNode, MetadataMode, NodeWithScore, QueryBundle, TextNode
    from llama_index.core.settings import Settings
    from llama_index.core.vector_stores.types import FilterCondition, FilterOperator, MetadataFilters
except ImportError:
    raise MissingExtraError("llama-index-core", "llama-index") from None


class BreadthPostprocessor(BaseNodePostprocessor):
    """Choose from the nodes of any retriever or reranker.

    top_n         how many nodes
    embed_model   what embeds nodes without an embedding, and the query; the default is `Settings.embed_model`, if you
                  have set it
    relevance     where the relevance of nodes comes from: see `breadth.integrations.candidates.RELEVANCE`
    theta, distinct, …   see `breadth.integrations.options.Options`

    A node's `metadata["breadth"]` says how it was chosen. It is left out of prompts and of texts that are embedded.
    """

    top_n: int = 4
    embed_model: Any = Field(default=None, exclude=True)
    relevance: str = "auto"
    theta: float | str | None = None
    sharpness: int | None = None
    distinct: float | None = None
    floor: float | None = None
    on_topic: float | None = None
    keep_best: bool | None = None
    group_by: str | None = None
    per_group: int | None = None
    budget: float | None = None
    count: Any = Field(default=None, exclude=True)
    method: str = "certified"
    time_limit: float | None = None

    @classmethod
    def class_name(cls) -> str:
        """The name under which LlamaIndex stores it."""
        return "BreadthPostprocessor"

    @model_validator(mode="after")
    def _check(self) -> Any:
        check_count(self.top_n, "top_n")
        self._options()
        return self

    def _options(self) -> Options:
        return Options(**{name: getattr(self, name) for name in Options.names()})

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        return self._choose(_Embedded(nodes, query_bundle, self.embed_model).complete())

    async def _apostprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        embedded = await _Embedded(nodes, query_bundle, self.embed_model).acomplete()
        return await asyncio.to_thread(self._choose, embedded)

    def _choose(self, embedded: _Embedded) -> list[NodeWithScore]:
        found = choose(embedded.candidates(), embedded.query, self.top_n, self._options(), self.relevance)
        return _nodes(found)


class BreadthRetriever(BaseRetriever):
    """Retrieve the nodes that together serve a query best.

    source             a `VectorStoreIndex` of LlamaIndex, a `breadth.Index`, an oracle of breadth (`breadth.open(…)`),
                       or another retriever of LlamaIndex
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
        if self._is_whole():
            return _nodes(self._choose_from_collection(query_bundle))
        found = self._inner().retrieve(query_bundle)
        return self._choose(_Embedded(found, query_bundle, self._model).complete())

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        if self._is_whole():
            return await asyncio.to_thread(self._retrieve, query_bundle)
        found = await self._inner().aretrieve(query_bundle)
        embedded = await _Embedded(found, query_bundle, self._model).acomplete()
        return await asyncio.to_thread(self._choose, embedded)

    def _is_whole(self) -> bool:
        return not isinstance(self._source, (VectorStoreIndex, BaseRetriever))

    def _choose_from_collection(self, bundle: QueryBundle) -> Chosen:
        vector = _Embedded([], bundle, self._model).complete().query
        where = read_filters(self._filters)
        if isinstance(self._source, Index):
            asked = bundle.query_str if vector is None else vector
            return choose_from_index(self._source, asked, self.similarity_top_k, self._options, where, self._fetch_k)
        if vector is None:
            raise InputError(
                "an oracle needs the embedding of the query: pass embed_model=, or set Settings.embed_model"
            )
        oracle = self._source if where is None else self._source.filtered(where)
        return choose_from(
            oracle, vector, self.similarity_top_k, self._options, read_payloads(oracle), pool=self._fetch_k
        )

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

    def _choose(self, embedded: _Embedded) -> list[NodeWithScore]:
        k, relevance, limit = self.similarity_top_k, "auto", 0
        if isinstance(self._source, VectorStoreIndex):
            relevance, limit = "query", 0 if self._count() else self._fetch_k
        return _nodes(choose(embedded.candidates(), embedded.query, k, self._options, relevance, limit))


class _Embedded:
    """Nodes and a query with their embeddings; a model makes those that are missing.

    The model is the one that is given, or the one that the user has set for all of LlamaIndex.
    """

    def __init__(self, nodes: Sequence[NodeWithScore], bundle: QueryBundle | None, model: Any) -> None:
        self._nodes, self._bundle = nodes, bundle
        self._model = Settings._embed_model if model is None else model
        self._vectors = [one.node.embedding for one in nodes]
        self.query = None if bundle is None else bundle.embedding

    def complete(self) -> _Embedded:
        if self._model is None:
            return self
        if self._missing():
            self._fill(self._model.get_text_embedding_batch(self._texts()))
        if self._bundle is not None and self.query is None:
            self.query = self._model.get_agg_embedding_from_queries(self._bundle.embedding_strs)
        return self

    async def acomplete(self) -> _Embedded:
        if self._model is None:
            return self
        if self._missing():
            self._fill(await self._model.aget_text_embedding_batch(self._texts()))
        if self._bundle is not None and self.query is None:
            self.query = await self._model.aget_agg_embedding_from_queries(self._bundle.embedding_strs)
        return self

    def _missing(self) -> list[int]:
        return [place for place, vector in enumerate(self._vectors) if vector is None]

    def _texts(self) -> list[str]:
        return [self._nodes[place].node.get_content(MetadataMode.EMBED) for place in self._missing()]

    def _fill(self, vectors: Sequence[Any]) -> None:
        for place, vector in zip(self._missing(), vectors, strict=True):
            self._vectors[place] = vector

    def candidates(self) -> list[Candidate]:
        """The nodes as candidates."""
        return [
            Candidate(one.node_id, one.node.get_content(MetadataMode.NONE), one.metadata, vector, one.score, one.node)
            for one, vector in zip(self._nodes, self._vectors, strict=True)
        ]


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


class EncoderEmbedding(BaseEmbedding):
    """An encoder of breadth as LlamaIndex's embedding model."""

    _encoder: Any = PrivateAttr()

    def __init__(self, encoder: Any, **settings: Any) -> None:
        super().__init__(model_name=encoder.name, **settings)
        self._encoder = encoder

    @classmethod
    def class_name(cls) -> str:
        """The name under which LlamaIndex stores it."""
        return "EncoderEmbedding"

    def _get_query_embedding(self, query: str) -> list[float]:
        return [float(x) for x in self._encoder.encode([query], "query")[0]]

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return await asyncio.to_thread(self._get_query_embedding, query)

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return [row.tolist() for row in self._encoder.encode(texts, "document")]


_OPERATORS = {
    FilterOperator.EQ: "$eq",
    FilterOperator.NE: "$ne",
    FilterOperator.GT: "$gt",
    FilterOperator.GTE: "$gte",
    FilterOperator.LT: "$lt",
    FilterOperator.LTE: "$lte",
    FilterOperator.IN: "$in",
    FilterOperator.NIN: "$nin",
    FilterOperator.CONTAINS: "$contains",
}
_CONDITIONS = {FilterCondition.AND: "$and", FilterCondition.OR: "$or"}


def read_filters(filters: Any) -> Any:
    """LlamaIndex's filters as a filter of breadth; a dict is one already."""
    if not isinstance(filters, MetadataFilters):
        return filters
    parts = [read_filters(one) if isinstance(one, MetadataFilters) else _read_filter(one) for one in filters.filters]
    if filters.condition == FilterCondition.NOT:
        return {"$and": [{"$not": part} for part in parts]}
    return {_CONDITIONS[filters.condition or FilterCondition.AND]: parts}


def _read_filter(one: Any) -> dict[str, Any]:
    if one.operator not in _OPERATORS:
        raise InputError(f"breadth has no filter {one.operator.value!r}; it has {', '.join(_OPERATORS)}")
    return {one.key: {_OPERATORS[one.operator]: one.value}}


def _nodes(chosen: Chosen) -> list[NodeWithScore]:
    return [
        NodeWithScore(node=_tell(pick.candidate, chosen.metadata(rank)), score=pick.score)
        for rank, pick in enumerate(chosen.picks)
    ]


def _tell(candidate: Candidate, metadata: dict[str, Any]) -> BaseNode:
    """A copy of the node whose metadata say how it was chosen; prompts and embeddings do not show it."""
    node = candidate.document
    if node is None:
        node = TextNode(id_=candidate.id, text=candidate.text)
    hidden = {
        name: [*(key for key in getattr(node, name) if key != KEY), KEY]
        for name in ("excluded_llm_metadata_keys", "excluded_embed_metadata_keys")
    }
    copy: BaseNode = node.model_copy(update={"metadata": metadata, **hidden})
    return copy
