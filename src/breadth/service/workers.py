"""Runs the service in several processes: each opens the collection and answers its share of the connections.

The first process answers nothing. It starts the others, tells them to open the collection again or to stop, and starts
another one where one has ended without being told to.
"""

from __future__ import annotations

import logging.config
import multiprocessing
import signal
import socket
import tempfile
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from types import FrameType
from typing import Any

from breadth.errors import BreadthError, InputError
from breadth.service.board import Board
from breadth.service.logs import LOG_CONFIG, log_event
from breadth.service.running import Server, limit_threads, listen, log_listening, start_reload
from breadth.service.settings import Settings
from breadth.service.state import Service

_READY, _STOP, _STOP_AT_ONCE, _RELOAD = "ready", "stop", "stop at once", "reload"
_PAUSE = 1.0
"""Seconds between the starts of two processes where the first has ended."""


def serve_together(settings: Settings) -> None:
    """Serve in several processes until a signal to stop comes."""
    logging.config.dictConfig(LOG_CONFIG)
    if not hasattr(socket, "SO_REUSEPORT"):
        raise InputError("workers must be 1: this system cannot share a port among processes")
    listen(replace(settings, workers=1)).close()  # it must be free
    with tempfile.TemporaryDirectory(prefix="breadth-") as folder, listen(settings) as taken:
        crew = Crew(replace(settings, port=taken.getsockname()[1]), folder)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, crew.handle_stop)
        if hasattr(signal, "SIGHUP"):
            signal.signal(signal.SIGHUP, crew.handle_reload)
        crew.start()
        log_listening(settings, taken)
        crew.watch()
    log_event("stopped")


@dataclass(frozen=True, eq=False)
class _Worker:
    """A process, and the line over which it is told what to do."""

    process: BaseProcess
    orders: Connection
    started: float

    def tell(self, order: str) -> None:
        """Send an order; a process that has ended gets none."""
        with suppress(OSError):
            self.orders.send(order)


class Crew:
    """The processes of a service."""

    def __init__(self, settings: Settings, folder: str) -> None:
        self._settings, self._folder = settings, folder
        self._workers: list[_Worker] = []
        self._stopping = False

    def start(self) -> None:
        """Start all processes, and wait until each of them can answer. If one cannot, raise an error that says why."""
        self._workers = [self._hire() for _ in range(self._settings.workers)]
        try:
            for worker in self._workers:
                self._await_ready(worker)
        except BaseException:
            self._tell(_STOP_AT_ONCE)
            for worker in self._workers:
                worker.process.join()
            raise

    def watch(self) -> None:
        """Replace processes that end, until they are told to stop and have ended."""
        while self._workers:
            wait([worker.process.sentinel for worker in self._workers], timeout=_PAUSE)
            for worker in [worker for worker in self._workers if worker.process.exitcode is not None]:
                self._workers.remove(worker)
                if not self._stopping:
                    self._replace(worker)

    def handle_stop(self, number: int, frame: FrameType | None) -> None:
        """Let all processes stop; at once if that has begun already."""
        self._tell(_STOP_AT_ONCE if self._stopping else _STOP)
        self._stopping = True

    def handle_reload(self, number: int, frame: FrameType | None) -> None:
        """Let all processes open the collection again."""
        self._tell(_RELOAD)

    def _tell(self, order: str) -> None:
        for worker in list(self._workers):
            worker.tell(order)

    def _hire(self) -> _Worker:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=work, args=(self._settings, theirs, self._folder))
        process.start()
        theirs.close()  # the process has its own; it sees the end of the line when this one is gone
        return _Worker(process, ours, time.monotonic())

    def _await_ready(self, worker: _Worker) -> None:
        try:
            told = worker.orders.recv()
        except EOFError:
            told = "a process of the service ended before it could answer"
        if told != _READY and not self._stopping:
            raise InputError(str(told))

    def _replace(self, ended: _Worker) -> None:
        log_event("worker ended", level="error", process=ended.process.pid, code=ended.process.exitcode)
        time.sleep(max(0.0, ended.started + _PAUSE - time.monotonic()))
        if not self._stopping:
            self._workers.append(self._hire())
        if self._stopping:  # the signal came just now
            self._tell(_STOP)


def work(settings: Settings, orders: Connection, folder: str) -> None:
    """Serve in this process until the order to stop comes, or until nobody is there to give orders."""
    logging.config.dictConfig(LOG_CONFIG)
    for number in (signal.SIGINT, getattr(signal, "SIGHUP", signal.SIGINT)):  # a terminal sends them to all processes
        signal.signal(number, signal.SIG_IGN)
    limit_threads()
    try:
        service = Service(settings, board=Board(folder))
        taken = listen(settings)
    except BreadthError as error:
        log_event("failed", level="error", error=f"{type(error).__name__}: {error}")
        orders.send(str(error))
        raise SystemExit(1) from None
    server = Worker(service, orders)
    threading.Thread(target=_obey, args=(orders, server, service), daemon=True).start()
    server.run(sockets=[taken])


class Worker(Server):
    """A server that the first process looks after. A signal to stop that reaches all processes is no second one."""

    def __init__(self, service: Service, orders: Connection) -> None:
        super().__init__(service)
        self._orders = orders

    async def startup(self, sockets: Any = None) -> None:
        """Begin to listen, and say so."""
        await super().startup(sockets)
        self._orders.send(_READY)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to stop."""
        if sig != signal.SIGINT:
            self.begin_to_stop()


def _obey(orders: Connection, server: Worker, service: Service) -> None:
    while True:
        gone = False
        try:
            order: Any = orders.recv()
        except (EOFError, OSError):  # the first process has gone
            order, gone = _STOP, True
        if order == _RELOAD:
            start_reload(service)
        elif order == _STOP:
            server.begin_to_stop()
        else:
            server.stop_at_once()
        if order == _STOP_AT_ONCE or gone:
            return
