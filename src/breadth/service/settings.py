"""How the service is set up."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field

from breadth.errors import InputError
from breadth.service.limits import Limits

TOKEN_VARIABLE = "BREADTH_TOKEN"
"""The environment variable that holds the token."""

_SHORTEST = 16
"""Characters of the shortest token: a shorter one can be guessed."""


@dataclass(frozen=True)
class Settings:
    """What `breadth serve` is told.

    collection    the folder of an index, or the address of an engine
    name          the name of the collection in `/v1/vector_stores/NAME/search`
    encoder       what turns texts into vectors, where the collection does not record it
    host, port    where to listen
    token         what clients must send as `Authorization: Bearer TOKEN`; None asks for nothing
    limits        what a request may ask for
    window        seconds that a query waits for others to share a search with
    together      how many queries share a search at most
    threads       how many searches run at the same time, in each process
    workers       how many processes answer
    log_queries   whether the log shows what was asked
    drain         seconds between the signal to stop and the end of listening
    """

    collection: str
    name: str = "default"
    encoder: str | None = None
    host: str = "127.0.0.1"
    port: int = 8000
    token: str | None = field(default=None, repr=False)
    limits: Limits = field(default_factory=Limits)
    window: float = 0.002
    together: int = 32
    threads: int = 2
    workers: int = 1
    log_queries: bool = False
    drain: float = 0.5

    def __post_init__(self) -> None:
        if self.token is None and not is_loopback(self.host):
            raise InputError(
                f"host is {self.host}, which other machines can reach, and there is no token; set {TOKEN_VARIABLE}, or "
                "listen on 127.0.0.1"
            )
        if self.token is not None and (len(self.token) < _SHORTEST or not _is_plain(self.token)):
            raise InputError(
                f"the token must have at least {_SHORTEST} characters, all of them ASCII and none of them a space"
            )
        if not 0 <= self.port <= 65535:
            raise InputError(f"port must be in 0 … 65535, got {self.port}")
        for name in ("window", "drain"):
            if not 0.0 <= getattr(self, name) <= 60.0:
                raise InputError(f"{name} must be in 0 … 60 seconds, got {getattr(self, name)}")
        for name in ("together", "threads", "workers"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} must be at least 1, got {getattr(self, name)}")


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address. A name other than `localhost` could mean anything."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _is_plain(token: str) -> bool:
    return token.isascii() and token.isprintable() and " " not in token
