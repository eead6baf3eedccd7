"""`Chroma` of langchain-chroma."""

from __future__ import annotations

from typing import Any

from breadth import oracles
from breadth.integrations.langchain.stores.opened import Whole, check_dict, empty, with_payloads


def open_chroma(store: Any, condition: Any) -> Whole:
    if store._collection.count() == 0:
        return empty()
    return with_payloads(oracles.chroma(store._client, store._collection.name, where=check_dict(condition)))
