"""`Client`: waits for each answer."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Any, TypeVar

from breadth.errors import MissingExtraError
from breadth.service.client import calls
from breadth.service.client.answers import Chosen, Curve, DocumentFound, Ready, ServiceError
from breadth.service.client.calls import Call, Query

try:
    import httpx
except ImportError:
    raise MissingExtraError("httpx", "client") from None

T = TypeVar("T")


class Client:
    """A client of `breadth serve`. Several threads may use it.

    url       where the service is: http://127.0.0.1:8000
    token     what it wants as a bearer token
    timeout   seconds to wait for an answer

    A refusal is a `ServiceError` with the message of the service.
    """

    def __init__(self, url: str, token: str | None = None, timeout: float = 60.0) -> None:
        self._http = httpx.Client(base_url=url, headers=calls.make_headers(token), timeout=timeout)

    def select(self, query: Query, k: int = 10, **options: Any) -> Chosen:
        """Choose the k passages that serve a query best. `options` are the fields of `/v1/select`: theta, where, …."""
        return self._send(calls.select(query, {"k": k, **options}))

    def select_many(self, queries: Sequence[Query], k: int = 10, **options: Any) -> list[Chosen]:
        """Choose a set for each of several queries, in one request."""
        return self._send(calls.select_many(queries, {"k": k, **options}))

    def frontier(self, query: Query, k: int = 10, **options: Any) -> Curve:
        """Choose sets for several θ."""
        return self._send(calls.frontier(query, {"k": k, **options}))

    def get(self, identity: str) -> DocumentFound:
        """Return the document with this id."""
        return self._send(calls.get(identity))

    def ready(self) -> Ready:
        """Say what is served; an error if the service is not ready."""
        return self._send(calls.ready())

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _send(self, call: Call[T]) -> T:
        try:
            answer = self._http.request(call.method, call.path, content=call.encode())
        except httpx.HTTPError as error:
            raise ServiceError(f"{self._http.base_url} does not answer: {error}") from error
        return call.interpret(answer.status_code, answer.content)
