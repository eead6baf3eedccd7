"""Runs the service: listens, reloads on SIGHUP, and stops on SIGTERM after all that was accepted is answered."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import logging.config
import os
import signal
import socket
import struct
import sys
import threading
import time
from types import FrameType
from typing import Any

import threadpoolctl
import uvicorn

from breadth.errors import InputError
from breadth.service.app import make_app
from breadth.service.logs import LOG_CONFIG, log_event
from breadth.service.settings import Settings
from breadth.service.state import Service

_BACKLOG = 2048
"""Connections that may wait to be accepted."""
_SWITCH = 0.001
"""Seconds after which a search lets the thread that talks to clients go on."""
_ONCE_MORE = 4.0
"""So many times `drain` a client that keeps its connection has time to ask once more. Who asks is told to close it; who
does not is disconnected then, perhaps while its next request is on the way."""
_SO_ATTACH_FILTER = 26
"""Linux's number of the option; Python's `socket` does not name it."""
_THREADS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "OMP_NUM_THREADS")
"""What people set who know better."""


class Server(uvicorn.Server):
    """A server that goes on for a moment after the signal to stop.

    In this moment it is no longer ready, still answers, and asks clients to close their connections. Then it stops to
    listen, and answers who is connected already. A second signal stops it at once.
    """

    def __init__(self, service: Service) -> None:
        config = uvicorn.Config(
            make_app(service),
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,  # nothing here depends on who asks
            lifespan="on",
            backlog=_BACKLOG,
            timeout_keep_alive=30,
        )
        super().__init__(config)
        self._service = service
        self._stop_at: float | None = None

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to stop, or stop at once if that has begun already."""
        if self._stop_at is None:
            self.begin_to_stop()
        else:
            super().handle_exit(sig, frame)

    def begin_to_stop(self) -> None:
        """Be no longer ready, and stop after a moment."""
        if self._stop_at is None:
            self._service.stopping = True
            self._stop_at = time.monotonic() + self._service.settings.drain

    def stop_at_once(self) -> None:
        """Stop without waiting for answers."""
        self.should_exit = self.force_exit = True

    async def on_tick(self, counter: int) -> bool:
        """Called ten times a second: whether the server shall stop."""
        if self._service.board is not None and self._service.board.is_due():
            self._service.post_metrics()
        if self._stop_at is not None and time.monotonic() >= self._stop_at:
            self.should_exit = True
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop to listen, let clients that are connected ask once more, and answer what was asked."""
        for taken in sockets or []:
            ignore_newcomers(taken)
            await self._accept_waiting(taken)
        for server in self.servers:
            server.close()
        until = time.monotonic() + _ONCE_MORE * self._service.settings.drain
        while self.server_state.connections and time.monotonic() < until and not self.force_exit:
            await asyncio.sleep(0.01)
        await super().shutdown(sockets)

    async def _accept_waiting(self, taken: socket.socket) -> None:
        """Accept the connections that the system holds for us: it would reset them when the socket is closed."""
        loop = asyncio.get_running_loop()
        while True:
            try:
                connection, _ = taken.accept()
            except OSError:  # none is left
                return
            connection.setblocking(False)
            await loop.connect_accepted_socket(self._make_protocol, sock=connection)

    def _make_protocol(self) -> asyncio.Protocol:
        kind: Any = self.config.http_protocol_class
        made: asyncio.Protocol = kind(config=self.config, server_state=self.server_state, app_state=self.lifespan.state)
        return made


def ignore_newcomers(taken: socket.socket) -> None:
    """Let the system drop attempts to connect to a socket that is about to be closed.

    Otherwise a client could connect after the last one was accepted and before the socket is closed, and the system
    would reset its connection with the request in it. A dropped attempt is made again by the client's system, and then
    refused. Only Linux has this: a socket filter of one instruction, "keep 0 bytes".
    """
    if not sys.platform.startswith("linux"):
        return
    keep_nothing = ctypes.create_string_buffer(struct.pack("HBBI", 0x06, 0, 0, 0))
    program = struct.pack("HP", 1, ctypes.addressof(keep_nothing))
    with contextlib.suppress(OSError):  # a sandbox may forbid it; the moment without it is short
        taken.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, program)


def listen(settings: Settings) -> socket.socket:
    """Take the address. Port 0 takes any free one.

    Several processes of one service each take the same address, and the system gives each of them its share of the
    connections.
    """
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    place = (settings.host.strip("[]"), settings.port)
    taken = socket.socket(family, socket.SOCK_STREAM)
    taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if settings.workers > 1:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    try:
        taken.bind(place)
    except OSError as error:
        taken.close()
        raise InputError(f"cannot listen on {settings.host}, port {settings.port}: {error.strerror}") from error
    taken.set_inheritable(True)
    return taken


def serve(settings: Settings) -> None:
    """Serve in this process until a signal to stop comes."""
    logging.config.dictConfig(LOG_CONFIG)
    limit_threads()
    taken = listen(settings)
    try:
        service = Service(settings)
    except BaseException:
        taken.close()
        raise
    _reload_on_signal(service)
    log_listening(settings, taken)
    Server(service).run(sockets=[taken])
    log_event("stopped")


def limit_threads() -> None:
    """Let requests be read while searches run, and the products of NumPy use one thread, unless the environment says.

    They are small here, and many searches run at the same time. The threads of a BLAS would take the cores from each
    other, and keep them busy while they wait. Scans of the collection have threads of their own.
    """
    sys.setswitchinterval(_SWITCH)
    if not any(name in os.environ for name in _THREADS):
        threadpoolctl.threadpool_limits(1, user_api="blas")


def log_listening(settings: Settings, taken: socket.socket) -> None:
    """Tell where the service listens."""
    host, port = taken.getsockname()[:2]
    facts: dict[str, Any] = {
        "collection": settings.name,
        "token": settings.token is not None,
        "workers": settings.workers,
    }
    log_event("listening", host=host, port=port, **facts)


def _reload_on_signal(service: Service) -> None:
    """Open the collection again whenever SIGHUP comes. Windows does not have it."""
    hangup: Any = getattr(signal, "SIGHUP", None)
    if hangup is not None:
        signal.signal(hangup, lambda *_: start_reload(service))


def start_reload(service: Service) -> None:
    """Open the collection again, in a thread of its own."""
    threading.Thread(target=service.reload, daemon=True).start()
