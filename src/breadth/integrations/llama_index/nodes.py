"""LlamaIndex's nodes as candidates, with embeddings for those that have none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llama_index.core.schema import BaseNode, MetadataMode, NodeWithScore, QueryBundle, TextNode
from llama_index.core.settings import Settings
from llama_index.core.vector_stores.utils import metadata_dict_to_node

from breadth.arrays import Ids
from breadth.integrations.candidates import KEY, Candidate, Chosen
from breadth.integrations.whole import Read


class Embedded:
    """Nodes and a query with their embeddings; a model makes those that are missing.

    The model is the one that is given, or the one that the user has set for all of LlamaIndex.
    """

    def __init__(self, nodes: Sequence[NodeWithScore], bundle: QueryBundle | None, model: Any) -> None:
        self._nodes, self._bundle = nodes, bundle
        self._model = Settings._embed_model if model is None else model
        self._vectors = [one.node.embedding for one in nodes]
        self.query = None if bundle is None else bundle.embedding

    def complete(self) -> Embedded:
        if self._model is None:
            return self
        if self._missing():
            self._fill(self._model.get_text_embedding_batch(self._texts()))
        if self._bundle is not None and self.query is None:
            self.query = self._model.get_agg_embedding_from_queries(self._bundle.embedding_strs)
        return self

    async def acomplete(self) -> Embedded:
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
            make_candidate(one.node, vector, one.score) for one, vector in zip(self._nodes, self._vectors, strict=True)
        ]


def make_candidate(node: BaseNode, vector: Any = None, score: float | None = None) -> Candidate:
    return Candidate(node.node_id, node.get_content(MetadataMode.NONE), node.metadata, vector, score, node)


def restore_nodes(read: Read) -> Read:
    """Read nodes that LlamaIndex has written: it keeps a node in a field of the metadata that its engine holds."""

    def restore(one: Candidate) -> Candidate:
        if "_node_content" not in one.metadata:
            return one
        return make_candidate(metadata_dict_to_node(dict(one.metadata), one.text or None))

    def restored(ids: Ids) -> list[Candidate]:
        return [restore(one) for one in read(ids)]

    return restored


def make_nodes(chosen: Chosen) -> list[NodeWithScore]:
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
