"""`EncoderEmbedding`: an encoder of breadth as an embedding model."""

from __future__ import annotations

import asyncio
from typing import Any

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.bridge.pydantic import PrivateAttr


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
