"""Queries to begin with, from the documents of a collection."""

from __future__ import annotations

import re
from collections.abc import Iterable

from breadth.index import Document

FIELDS = ("question", "title", "heading", "name", "subject")
"""Fields of metadata that can be asked for, the best first."""
LOOKED_AT, COUNT = 40, 4
"""Documents that are looked at, and queries that are made of them."""
_SENTENCE = re.compile(r"[^\n]+?(?:\?(?=\s|$)|(?=[.!](?:\s|$)|\n|$))")
_WORDS = range(2, 13)


def make_examples(documents: Iterable[Document]) -> list[str]:
    """A few queries: questions and titles of documents, or else their first sentences."""
    found: dict[str, None] = {}
    for document in documents:
        query = next((value for name in FIELDS if isinstance(value := document.metadata.get(name), str)), None)
        sentence = _SENTENCE.search(document.text)
        query = " ".join((query or (sentence[0] if sentence else "")).split()).lstrip("#*- ")
        if len(query.split()) in _WORDS:
            found.setdefault(query)
    every = list(found)
    return every[:: max(1, len(every) // COUNT)][:COUNT]
