"""The calls of both clients: what is sent, and how the answer is read."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from urllib.parse import quote

from breadth.errors import InputError
from breadth.service.client import answers
from breadth.service.client.answers import ServiceError

T = TypeVar("T")
Query = str | Sequence[float]
"""A text, or a unit vector: a list of numbers or an array."""


@dataclass(frozen=True)
class Call(Generic[T]):
    """A request, and how its answer is read."""

    method: str
    path: str
    read: Callable[[Any], T]
    body: Mapping[str, Any] | None = None

    def encode(self) -> bytes | None:
        """The body as JSON."""
        try:
            return None if self.body is None else json.dumps(self.body, allow_nan=False).encode()
        except (TypeError, ValueError) as error:
            raise InputError(f"{self.path}: the request cannot be written as JSON: {error}") from None

    def interpret(self, status: int, content: bytes) -> T:
        """Read the answer, or raise what the service says is wrong."""
        try:
            data = json.loads(content)
        except ValueError:
            raise ServiceError(f"the answer to {self.path} is not JSON; is this a breadth service?", status) from None
        if status != 200:
            told = data.get("error", {}) if isinstance(data, dict) else {}
            raise ServiceError(str(told.get("message", data)), status, str(told.get("type", "error")))
        return self.read(data)


def select(query: Query, options: Mapping[str, Any]) -> Call[answers.Chosen]:
    """`/v1/select`."""
    return Call("POST", "/v1/select", answers.read_chosen, {"query": _plain(query), **options})


def select_many(queries: Sequence[Query], options: Mapping[str, Any]) -> Call[list[answers.Chosen]]:
    """`/v1/select/batch`."""
    if isinstance(queries, str):
        raise InputError("queries must be a list of texts or vectors, got one text; use select")
    body = {"queries": [_plain(query) for query in queries], **options}
    return Call("POST", "/v1/select/batch", answers.read_batch, body)


def frontier(query: Query, options: Mapping[str, Any]) -> Call[answers.Curve]:
    """`/v1/frontier`."""
    return Call("POST", "/v1/frontier", answers.read_curve, {"query": _plain(query), **options})


def get(identity: str) -> Call[answers.DocumentFound]:
    """`/v1/documents/ID`."""
    return Call("GET", f"/v1/documents/{quote(identity, safe='')}", answers.read_document)


def ready() -> Call[answers.Ready]:
    """`/readyz`."""
    return Call("GET", "/readyz", answers.read_ready)


def make_headers(token: str | None) -> dict[str, str]:
    """The headers that every request has."""
    sent = {"Content-Type": "application/json"}
    return sent if token is None else {**sent, "Authorization": f"Bearer {token}"}


def _plain(query: Any) -> Any:
    """A query as JSON can write it: an array becomes a list."""
    return query.tolist() if hasattr(query, "tolist") else query
