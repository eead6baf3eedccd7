"""`BreadthPostprocessor`: after any retriever or reranker."""

from __future__ import annotations

import asyncio
from typing import Any

from llama_index.core.bridge.pydantic import Field, model_validator
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle

from breadth.checks import check_choice, check_count
from breadth.integrations.candidates import RELEVANCE, choose
from breadth.integrations.llama_index.nodes import Embedded, make_nodes
from breadth.integrations.options import Options


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
    prefer: Any = Field(default=None, exclude=True)
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
        check_choice(self.relevance, "relevance", RELEVANCE)
        self._options()
        return self

    def _options(self) -> Options:
        return Options(**{name: getattr(self, name) for name in Options.names()})

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        return self._choose(Embedded(nodes, query_bundle, self.embed_model).complete())

    async def _apostprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        embedded = await Embedded(nodes, query_bundle, self.embed_model).acomplete()
        return await asyncio.to_thread(self._choose, embedded)

    def _choose(self, embedded: Embedded) -> list[NodeWithScore]:
        found = choose(embedded.candidates(), embedded.query, self.top_n, self._options(), self.relevance)
        return make_nodes(found)
