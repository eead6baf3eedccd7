"""`InMemoryVectorStore` of langchain-core."""

from __future__ import annotations

from typing import Any

import numpy as np
from langchain_core.documents import Document

from breadth.arrays import Ids
from breadth.errors import InputError
from breadth.filters import matches, read_filter
from breadth.integrations.candidates import Candidate
from breadth.integrations.whole import Whole, empty
from breadth.oracles import ArrayOracle


def open_in_memory(store: Any, condition: Any) -> Whole:
    """Its filter may also be a function of a document."""
    entries = list(store.store.values())
    if callable(condition):
        entries = [one for one in entries if condition(_make_document(one))]
    elif condition is not None:
        wanted = read_filter(condition)
        entries = [one for one in entries if matches(wanted, one["metadata"])]
    if not entries:
        return empty()
    rows = np.array([one["vector"] for one in entries], dtype=np.float32)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    if not (lengths > 0.0).all():
        raise InputError(f"the vector of {entries[int(lengths.argmin())]['id']!r} is all zeros")

    def read(ids: Ids) -> list[Candidate]:
        return [Candidate(e["id"], e["text"], e["metadata"]) for e in (entries[i] for i in ids.tolist())]

    return Whole(ArrayOracle(rows / lengths), read)


def _make_document(entry: dict[str, Any]) -> Document:
    return Document(id=entry["id"], page_content=entry["text"], metadata=entry["metadata"])
