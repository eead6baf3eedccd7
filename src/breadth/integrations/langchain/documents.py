"""LangChain's documents as candidates, encoders as its embeddings, and the settings that the adapters share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from pydantic import BaseModel, model_validator

from breadth.checks import check_count
from breadth.integrations.candidates import Candidate, Chosen
from breadth.integrations.options import Options
from breadth.integrations.whole import Read


class Wishes(BaseModel):
    """What can be asked for, by the names of LangChain (`k`, `lambda_mult`) and of `breadth.integrations.options`."""

    k: int = 4
    """How many documents."""
    lambda_mult: float | None = None
    """The weight of relevance in [0, 1], LangChain's name of `theta`: 1 is plain top-k, 0 looks at copies alone."""
    theta: float | str | None = None
    sharpness: int | None = None
    distinct: float | None = None
    floor: float | None = None
    on_topic: float | None = None
    keep_best: bool | None = None
    group_by: str | None = None
    per_group: int | None = None
    prefer: Any = None
    budget: float | None = None
    count: Any = None
    method: str = "certified"
    time_limit: float | None = None

    @model_validator(mode="after")
    def _check(self) -> Any:
        check_count(self.k, "k")
        self.read_options({})
        return self

    def read_options(self, changes: Mapping[str, Any]) -> Options:
        """The options, with changes for one call. A change of theta or lambda_mult replaces both."""
        given = {name: getattr(self, name) for name in (*Options.names(), "lambda_mult")}
        if {"theta", "lambda_mult"} & changes.keys():
            given["theta"] = given["lambda_mult"] = None
        return Options.read({**given, **changes})


class EncoderEmbeddings(Embeddings):
    """An encoder of breadth, or of a `breadth.Index`, as LangChain's embeddings."""

    def __init__(self, encoder: Any) -> None:
        self._encoder = encoder

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Turn documents into vectors."""
        return [row.tolist() for row in self._encoder.encode(texts, "document")]

    def embed_query(self, text: str) -> list[float]:
        """Turn a query into a vector."""
        return [float(x) for x in self._encoder.encode([text], "query")[0]]


def make_candidate(document: Document, vector: Any, score: Any = None) -> Candidate:
    return Candidate(document.id, document.page_content, document.metadata, vector, score)


def read_documents(documents: Any) -> Read:
    """Read candidates from LangChain documents by their rows."""

    def read(ids: Any) -> list[Candidate]:
        return [make_candidate(documents[i], None) for i in ids.tolist()]

    return read


def make_documents(chosen: Chosen) -> list[Document]:
    return [
        Document(id=pick.candidate.id, page_content=pick.candidate.text, metadata=chosen.metadata(rank))
        for rank, pick in enumerate(chosen.picks)
    ]
