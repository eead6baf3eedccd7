"""`Milvus` of langchain-milvus, over Milvus Lite or a server."""

from __future__ import annotations

from typing import Any

from breadth import oracles
from breadth.errors import InputError
from breadth.integrations.langchain.stores.filters import check_dict
from breadth.integrations.whole import Whole, empty, read_payloads


def open_milvus(store: Any, condition: Any) -> Whole:
    """An expression of Milvus is asked of the store itself: `search_kwargs={"expr": …}`."""
    if store.partition_names or len(store.vector_fields) > 1:
        raise InputError("it has several vectors for a document, or is one partition of a collection")
    if store.col is None:
        return empty()
    oracle = oracles.milvus(
        store.client, store.collection_name, vectors=store.vector_fields[0], text=store._text_field,
        metadata=store._metadata_field, consistency=store.consistency_level, where=check_dict(condition),
    )  # fmt: skip
    return Whole(oracle, read_payloads(oracle))
