"""A real server on a free port of the loopback: in a thread of the test, or in a process of its own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from breadth.service.running import Server, listen
from breadth.service.settings import Settings
from breadth.service.state import Service

_PATIENCE = 60.0


@dataclass
class Running:
    """A server in a thread."""

    url: str
    service: Service
    server: Server


@contextmanager
def serving(settings: Settings, opened: Any = None) -> Iterator[Running]:
    taken = listen(settings)
    service = Service(settings, opened)
    server = Server(service)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [taken]})
    thread.start()
    try:
        host, port = taken.getsockname()[:2]
        _wait(lambda: server.started or not thread.is_alive())
        yield Running(f"http://{host}:{port}", service, server)
    finally:
        server.should_exit = True
        thread.join(_PATIENCE)
        assert not thread.is_alive()


@dataclass
class Process:
    """`breadth serve` in a process of its own."""

    url: str
    process: subprocess.Popen[bytes]
    log: Path

    def stop(self) -> int:
        """Send SIGTERM and return the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(_PATIENCE)


@contextmanager
def process(log: Path, *arguments: str, token: str | None = None) -> Iterator[Process]:
    environment = {name: value for name, value in os.environ.items() if name != "BREADTH_TOKEN"}
    if token is not None:
        environment["BREADTH_TOKEN"] = token
    command = [sys.executable, "-m", "breadth", "serve", *arguments, "--port", "0"]
    with log.open("wb") as stream:
        started = subprocess.Popen(command, stderr=stream, env=environment)
    try:
        _wait(lambda: started.poll() is not None or b'"listening"' in log.read_bytes())
        found = re.search(r'"port": (\d+)', log.read_text())
        assert found is not None, log.read_text()
        url = f"http://127.0.0.1:{found[1]}"
        _wait(lambda: _answers(url))
        yield Process(url, started, log)
    finally:
        if started.poll() is None:
            started.kill()
        started.wait(_PATIENCE)


def _answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/healthz").status_code == 200
    except httpx.TransportError:
        return False


def _wait(is_done: Any) -> None:
    until = time.monotonic() + _PATIENCE
    while not is_done():
        assert time.monotonic() < until, "the server does not start"
        time.sleep(0.01)
