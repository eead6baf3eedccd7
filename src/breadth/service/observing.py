"""Every request gets an id, is counted, and is one line of the log."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any
from uuid import uuid4

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from breadth.service.failures import answer_unforeseen
from breadth.service.logs import NOTES, REQUEST_ID, log_event
from breadth.service.metrics import Metrics

_QUIET = {"/healthz", "/readyz", "/metrics"}
"""Routes that machines ask all the time: they are counted, and logged only if they fail."""


class Observed:
    """Watches the requests of an application. While the service stops, it asks clients to close their connections."""

    def __init__(self, app: ASGIApp, metrics: Metrics, is_stopping: Callable[[], bool]) -> None:
        self._app, self._metrics, self._is_stopping = app, metrics, is_stopping

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        identity, notes, began, status = uuid4().hex, dict[str, Any](), time.perf_counter(), 0
        REQUEST_ID.set(identity)
        NOTES.set(notes)

        async def send_on(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                added = [(b"x-request-id", identity.encode())]
                added += [(b"connection", b"close")] if self._is_stopping() else []
                message = {**message, "headers": [*message.get("headers", []), *added]}
            await send(message)

        self._metrics.running.add()
        try:
            await self._app(scope, receive, send_on)
        except Exception:
            log_event("mistake", level="error", exc_info=True)
            if status:
                raise
            await answer_unforeseen()(scope, receive, send_on)
        finally:
            self._metrics.running.add(amount=-1.0)
            self._report(scope, status, time.perf_counter() - began, notes)

    def _report(self, scope: Scope, status: int, seconds: float, notes: dict[str, Any]) -> None:
        route = getattr(scope.get("route"), "path", "other")
        self._metrics.requests.add(route, str(status))
        self._metrics.seconds.observe(seconds, route)
        if route not in _QUIET or status >= 400:
            facts = {"method": scope["method"], "route": route, "status": status, "ms": round(1000 * seconds, 2)}
            log_event("request", **facts, **notes)
