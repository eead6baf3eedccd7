"""Who may ask: clients with the token. Without a token, only programs on this machine.

A web page of a stranger can make a browser on this machine send requests to it, under a name that the stranger owns.
So without a token, requests must name this machine as their host.
"""

from __future__ import annotations

import hmac

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from breadth.errors import InputError
from breadth.service.failures import answer_error
from breadth.service.routes.page import FILES as PAGE
from breadth.service.settings import is_loopback

OPEN = {"/healthz", "/readyz", *(f"/{path}" for path in PAGE)}
"""What needs no token: machines that look after the service ask for it, and the page that asks people for a token."""


class Guard:
    """Lets requests through that bear the token, or that come to this machine's own name if there is none."""

    def __init__(self, app: ASGIApp, token: str | None, open_paths: frozenset[str] = frozenset(OPEN)) -> None:
        self._app, self._open = app, open_paths
        self._token = None if token is None else token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] not in self._open:
            headers = Headers(scope=scope)
            if self._token is None and not is_loopback(_strip_port(headers.get("host", ""))):
                reason = "the Host must be localhost or 127.0.0.1; start the service with a token to use other names"
                await answer_error(InputError(reason), 403)(scope, receive, send)
                return
            if self._token is not None and not self._knows(headers.get("authorization", "")):
                refusal = answer_error(InputError("send the token as `Authorization: Bearer TOKEN`"), 401)
                refusal.headers["WWW-Authenticate"] = "Bearer"
                await refusal(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _knows(self, header: str) -> bool:
        kind, _, given = header.partition(" ")
        assert self._token is not None
        return kind.lower() == "bearer" and hmac.compare_digest(given.strip().encode("latin-1"), self._token)


def _strip_port(host: str) -> str:
    if host.startswith("["):
        return host.partition("]")[0] + "]"
    return host.partition(":")[0]
