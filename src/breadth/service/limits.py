"""What a request may ask for, and how large it may be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from breadth.errors import InputError, TooLargeError
from breadth.service.failures import answer_error

_DISCARDED = 16
"""A body that is at most so many times too large is read to its end: a client that still sends reads no answer."""


@dataclass(frozen=True)
class Limits:
    """The most that one request may ask for.

    body       bytes of its body
    k          passages of a set
    batch      queries of a batch
    pool       passages that a method may be restricted to
    thetas     points of a frontier
    seconds    of searching, for one query
    patience   seconds that a request may take in all, waiting included
    waiting    queries that wait at the same time
    """

    body: int = 4_000_000
    k: int = 1000
    batch: int = 64
    pool: int = 10_000
    thetas: int = 64
    seconds: float = 10.0
    patience: float = 30.0
    waiting: int = 1000

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not value > 0:
                raise InputError(f"the limit {name} must be above 0, got {value}")

    def check(self, **asked: Any) -> None:
        """Raise an error if a value is above the limit of its name; None asks for nothing."""
        for name, value in asked.items():
            most = getattr(self, name)
            if value is not None and value > most:
                raise TooLargeError(f"{_CALLED.get(name, name)} is {value}; this service allows at most {most:g}")


_CALLED = {"batch": "the number of queries", "seconds": "time_limit or prove", "thetas": "the number of thetas"}


class BodyLimit:
    """Refuses requests with a larger body than allowed, and never holds more than that in memory."""

    def __init__(self, app: ASGIApp, most: int) -> None:
        self._app, self._most = app, most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        body = await self._read(receive)
        if body is None:
            failure = TooLargeError(f"the request is too large; its body may have {self._most:,} bytes")
            await answer_error(failure, 413)(scope, receive, send)
            return
        given = False

        async def replay() -> Message:
            nonlocal given
            if given:
                return await receive()
            given = True
            return {"type": "http.request", "body": body, "more_body": False}

        await self._app(scope, replay, send)

    async def _read(self, receive: Receive) -> bytes | None:
        """The whole body, or None if it is too large."""
        parts: list[bytes] = []
        size, more = 0, True
        while more and size <= _DISCARDED * self._most:
            message = await receive()
            if message["type"] != "http.request":  # the client has gone
                break
            part = message.get("body", b"")
            size, more = size + len(part), message.get("more_body", False)
            if size <= self._most:
                parts.append(part)
            else:
                parts.clear()
        return None if size > self._most else b"".join(parts)
