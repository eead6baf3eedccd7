"""`Chroma` of langchain-chroma."""

from __future__ import annotations

from typing import Any

from breadth import oracles
from breadth.integrations.langchain.stores.filters import check_dict
from breadth.integrations.whole import Whole, empty, read_payloads


def open_chroma(store: Any, condition: Any) -> Whole:
    if store._collection.count() == 0:
        return empty()
    oracle = oracles.chroma(store._client, store._collection.name, where=check_dict(condition))
    return Whole(oracle, read_payloads(oracle))
