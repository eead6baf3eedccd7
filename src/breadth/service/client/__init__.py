"""Clients of the service (extra `client`): `Client`, and `AsyncClient` with coroutines. They import no server code."""

from __future__ import annotations

from breadth.service.client.answers import (
    Certificate,
    Chosen,
    Curve,
    DocumentFound,
    HitFound,
    Point,
    Ready,
    ServiceError,
)
from breadth.service.client.asynchronous import AsyncClient
from breadth.service.client.synchronous import Client

__all__ = [
    "AsyncClient",
    "Certificate",
    "Chosen",
    "Client",
    "Curve",
    "DocumentFound",
    "HitFound",
    "Point",
    "Ready",
    "ServiceError",
]
