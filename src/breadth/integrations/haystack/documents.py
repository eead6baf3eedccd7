"""Haystack's documents as candidates, and how the components are serialised."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from haystack import Document
from haystack.utils.callable_serialization import deserialize_callable, serialize_callable

from breadth.integrations.candidates import Candidate, Chosen


def dump(options: dict[str, Any]) -> dict[str, Any]:
    return {name: serialize_callable(value) if name == "count" else value for name, value in options.items()}


def load(data: dict[str, Any]) -> dict[str, Any]:
    given = data.get("init_parameters", {})
    if isinstance(given.get("count"), str):
        data = {**data, "init_parameters": {**given, "count": deserialize_callable(given["count"])}}
    return data


def make_candidate(document: Document, vector: Any) -> Candidate:
    return Candidate(document.id, document.content or "", document.meta, vector, document.score, document)


def make_documents(chosen: Chosen) -> list[Document]:
    found = []
    for rank, pick in enumerate(chosen.picks):
        one = pick.candidate
        made = one.document or Document(id=one.id or "", content=one.text)
        found.append(replace(made, meta=chosen.metadata(rank), score=pick.score))
    return found
