"""Haystack (extra `haystack`): a ranker and a retriever, as components."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from breadth.checks import check_choice, check_count
from breadth.errors import InputError, MissingExtraError
from breadth.index import Index
from breadth.integrations.candidates import RELEVANCE, Candidate, Chosen, choose
from breadth.integrations.options import Options
from breadth.integrations.whole import choose_from, choose_from_index, read_payloads
from breadth.opening import open as open_collection

try:
    from haystack import Document, component, default_from_dict, default_to_dict
    from haystack.document_stores.in_memory import InMemoryDocumentStore
    from haystack.document_stores.types import FilterPolicy, apply_filter_policy
    from haystack.utils.callable_serialization import deserialize_callable, serialize_callable
except ImportError:
    raise MissingExtraError("haystack-ai", "haystack") from None


@component
class BreadthRanker:
    """Choose from the documents of any retriever or ranker.

    top_k               how many documents
    text_embedder       what embeds the query, where relevance comes from it
    document_embedder   what embeds documents without an embedding
    relevance           where the relevance of documents comes from: see `breadth.integrations.candidates.RELEVANCE`
    options             theta, distinct, …: see `breadth.integrations.options.Options`

    A document's `meta["breadth"]` says how it was chosen.
    """

    def __init__(
        self,
        top_k: int = 10,
        text_embedder: Any = None,
        document_embedder: Any = None,
        relevance: str = "auto",
        **options: Any,
    ) -> None:
        self.top_k = check_count(top_k, "top_k")
        self.text_embedder, self.document_embedder = text_embedder, document_embedder
        self.relevance = check_choice(relevance, "relevance", RELEVANCE)
        self.options = options
        Options.read(options)

    def warm_up(self) -> None:
        """Load the models of the embedders."""
        for embedder in (self.text_embedder, self.document_embedder):
            if hasattr(embedder, "warm_up"):
                embedder.warm_up()

    def to_dict(self) -> dict[str, Any]:
        """Serialise the component."""
        return default_to_dict(
            self,
            top_k=self.top_k,
            text_embedder=self.text_embedder,
            document_embedder=self.document_embedder,
            relevance=self.relevance,
            **_dump(self.options),
        )

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> BreadthRanker:
        """Make the component from what `to_dict` returned."""
        return default_from_dict(cls, _load(data))

    @component.output_types(documents=list[Document])
    def run(
        self,
        query: str,
        documents: list[Document],
        top_k: int | None = None,
        query_embedding: list[float] | None = None,
    ) -> dict[str, list[Document]]:
        """Choose from documents. Pass `query_embedding` if you have it."""
        if not documents:
            return {"documents": []}
        embedded = self._embed(documents)
        vector = query_embedding
        if vector is None and self.text_embedder is not None and self._needs_query(documents):
            vector = self.text_embedder.run(text=query)["embedding"]
        count = self.top_k if top_k is None else check_count(top_k, "top_k")
        candidates = [_candidate(one, other.embedding) for one, other in zip(documents, embedded, strict=True)]
        return {"documents": _documents(choose(candidates, vector, count, Options.read(self.options), self.relevance))}

    @component.output_types(documents=list[Document])
    async def run_async(
        self,
        query: str,
        documents: list[Document],
        top_k: int | None = None,
        query_embedding: list[float] | None = None,
    ) -> dict[str, list[Document]]:
        """`run` in a thread of its own."""
        return await asyncio.to_thread(self.run, query, documents, top_k, query_embedding)

    def _needs_query(self, documents: Sequence[Document]) -> bool:
        return self.relevance == "query" or (self.relevance == "auto" and any(one.score is None for one in documents))

    def _embed(self, documents: list[Document]) -> list[Document]:
        missing = [place for place, one in enumerate(documents) if one.embedding is None]
        if not missing or self.document_embedder is None:
            return documents
        made = self.document_embedder.run(documents=[documents[place] for place in missing])["documents"]
        filled = list(documents)
        for place, one in zip(missing, made, strict=True):
            filled[place] = one
        return filled


@component
class BreadthRetriever:
    """Retrieve the documents that together serve a query best.

    document_store   an `InMemoryDocumentStore`, which is searched as a whole; another store of Haystack with
                     `_embedding_retrieval`, whose `fetch_k` best documents are chosen from; a `breadth.Index`, an
                     oracle of breadth, or the address of a collection as `breadth.open` takes it
    top_k            how many documents
    filters          filters of Haystack, which also an index and an oracle of breadth take
    filter_policy    what filters at run time do to these
    fetch_k          see document_store; at least top_k
    options          theta, distinct, …: see `breadth.integrations.options.Options`
    """

    def __init__(
        self,
        document_store: Any,
        top_k: int = 10,
        filters: dict[str, Any] | None = None,
        filter_policy: FilterPolicy | str = FilterPolicy.REPLACE,
        fetch_k: int = 100,
        **options: Any,
    ) -> None:
        self.document_store = document_store
        self.top_k = check_count(top_k, "top_k")
        self.filters = filters
        self.filter_policy = FilterPolicy.from_str(str(filter_policy))
        self.fetch_k = check_count(fetch_k, "fetch_k")
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
            **_dump(self.options),
        )

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> BreadthRetriever:
        """Make the component from what `to_dict` returned."""
        return default_from_dict(cls, _load(data))

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
        options, pool = Options.read(self.options), max(self.fetch_k, count)
        if isinstance(self._opened, Index) and query_embedding is None and query is not None:
            chosen = choose_from_index(self._opened, query, count, options, read_filters(wanted), pool)
        elif query_embedding is None:
            raise InputError("pass query_embedding: only an index of breadth can embed a query")
        elif isinstance(self._opened, Index):
            chosen = choose_from_index(self._opened, query_embedding, count, options, read_filters(wanted), pool)
        elif hasattr(self._opened, "top"):
            oracle = self._opened if not wanted else self._opened.filtered(read_filters(wanted))
            chosen = choose_from(oracle, query_embedding, count, options, read_payloads(oracle), pool=pool)
        else:
            found, limit = _fetch(self._opened, query_embedding, wanted, pool)
            candidates = [_candidate(replace(one, embedding=None), one.embedding) for one in found]
            chosen = choose(candidates, query_embedding, count, options, limit=limit)
        return {"documents": _documents(chosen)}

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
    if not hasattr(store, "_embedding_retrieval"):
        raise InputError(
            f"{type(store).__name__} cannot be searched by an embedding; use its retriever and BreadthRanker"
        )
    return list(store._embedding_retrieval(query_embedding=vector, filters=filters, top_k=pool)), pool


_OPERATORS = {
    "==": "$eq",
    "!=": "$ne",
    ">": "$gt",
    ">=": "$gte",
    "<": "$lt",
    "<=": "$lte",
    "in": "$in",
    "not in": "$nin",
}
_CONDITIONS: dict[str, Callable[[list[Any]], Any]] = {
    "AND": lambda parts: {"$and": parts},
    "OR": lambda parts: {"$or": parts},
    "NOT": lambda parts: {"$not": {"$and": parts}},
}


def read_filters(filters: dict[str, Any] | None) -> Any:
    """Haystack's filters as a filter of breadth."""
    if not filters:
        return None
    operator = filters.get("operator")
    if "conditions" in filters and operator in _CONDITIONS:
        return _CONDITIONS[str(operator)]([read_filters(part) for part in filters["conditions"]])
    if "field" not in filters or operator not in _OPERATORS:
        known = ", ".join((*_OPERATORS, *_CONDITIONS))
        raise InputError(f"filters must be in Haystack's form, with one of the operators {known}; got {filters!r}")
    return {str(filters["field"]).removeprefix("meta."): {_OPERATORS[str(operator)]: filters["value"]}}


def _dump(options: dict[str, Any]) -> dict[str, Any]:
    return {name: serialize_callable(value) if name == "count" else value for name, value in options.items()}


def _load(data: dict[str, Any]) -> dict[str, Any]:
    given = data.get("init_parameters", {})
    if isinstance(given.get("count"), str):
        data = {**data, "init_parameters": {**given, "count": deserialize_callable(given["count"])}}
    return data


def _candidate(document: Document, vector: Any) -> Candidate:
    return Candidate(document.id, document.content or "", document.meta, vector, document.score, document)


def _documents(chosen: Chosen) -> list[Document]:
    found = []
    for rank, pick in enumerate(chosen.picks):
        one = pick.candidate
        made = one.document or Document(id=one.id or "", content=one.text)
        found.append(replace(made, meta=chosen.metadata(rank), score=pick.score))
    return found
