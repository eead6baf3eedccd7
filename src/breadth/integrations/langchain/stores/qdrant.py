"""`QdrantVectorStore` of langchain-qdrant."""

from __future__ import annotations

from typing import Any

from breadth import oracles
from breadth.integrations.langchain.stores.filters import check_dict
from breadth.integrations.whole import Whole, empty, read_payloads


def open_qdrant(store: Any, condition: Any) -> Whole:
    """The fields of a filter are those of the metadata. Qdrant's own `Filter` is asked of the store itself."""
    where = check_dict(condition)
    fields = {"text": store.content_payload_key, "metadata": store.metadata_payload_key}
    if store.client.count(store.collection_name).count == 0:
        return empty()
    vectors = store.vector_name or None
    oracle = oracles.qdrant(store.client, store.collection_name, vectors=vectors, where=where, **fields)
    return Whole(oracle, read_payloads(oracle))
