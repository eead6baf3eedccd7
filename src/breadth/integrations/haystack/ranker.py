"""`BreadthRanker`: after any retriever or ranker."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from haystack import Document, component, default_from_dict, default_to_dict

from breadth.checks import check_choice, check_count
from breadth.integrations.candidates import RELEVANCE, choose
from breadth.integrations.haystack.documents import dump, load, make_candidate, make_documents
from breadth.integrations.options import Options


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
            **dump(self.options),
        )

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> BreadthRanker:
        """Make the component from what `to_dict` returned."""
        return default_from_dict(cls, load(data))

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
        candidates = [make_candidate(one, other.embedding) for one, other in zip(documents, embedded, strict=True)]
        return {
            "documents": make_documents(choose(candidates, vector, count, Options.read(self.options), self.relevance))
        }

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
