"""`BreadthCompressor`: after any retriever or reranker."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from langchain_core.callbacks import Callbacks
from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.embeddings import Embeddings
from pydantic import ConfigDict, model_validator

from breadth.checks import check_choice
from breadth.integrations.candidates import RELEVANCE, choose
from breadth.integrations.langchain.documents import Wishes, make_candidate, make_documents


class BreadthCompressor(Wishes, BaseDocumentCompressor):
    """Choose from the documents of any retriever or reranker, for example in a `ContextualCompressionRetriever`.

    embeddings   what turns documents and the query into vectors
    relevance    where the relevance of documents comes from: see `breadth.integrations.candidates.RELEVANCE`
    score_key    the field of metadata that holds a document's score, as rerankers write it
    k, lambda_mult, theta, distinct, …   see `breadth.integrations.options.Options`
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    embeddings: Embeddings
    relevance: str = "auto"
    score_key: str = "relevance_score"

    @model_validator(mode="after")
    def _check_relevance(self) -> Any:
        check_choice(self.relevance, "relevance", RELEVANCE)
        return self

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> list[Document]:
        """Choose from documents."""
        vectors = self.embeddings.embed_documents([one.page_content for one in documents]) if documents else []
        return self._choose(documents, vectors, self.embeddings.embed_query(query))

    async def acompress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> list[Document]:
        """Choose from documents."""
        texts = [one.page_content for one in documents]
        vectors = await self.embeddings.aembed_documents(texts) if documents else []
        vector = await self.embeddings.aembed_query(query)
        return await asyncio.to_thread(self._choose, documents, vectors, vector)

    def _choose(self, documents: Sequence[Document], vectors: Any, vector: Any) -> list[Document]:
        candidates = [
            make_candidate(one, row, one.metadata.get(self.score_key))
            for one, row in zip(documents, vectors, strict=True)
        ]
        return make_documents(choose(candidates, vector, self.k, self.read_options({}), self.relevance))
