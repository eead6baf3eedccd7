"""`breadth serve` in a process of its own, the clients in another one, and what the service takes of the machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.service.running import Process, process

_TICKS = os.sysconf("SC_CLK_TCK")
_WARM_UP = 2.0
"""Seconds of requests before anything is measured."""


@dataclass(frozen=True)
class Loaded:
    """A service, and the queries for it."""

    server: Process
    queries: Path

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.server.url.rpartition(":")[2])

    def start_clients(self, clients: int, *options: str) -> subprocess.Popen[bytes]:
        """Start clients in a process of their own."""
        command = [sys.executable, "-m", "benchmarks.load.client", str(self.port), str(self.queries)]
        return subprocess.Popen([*command, "--clients", str(clients), *options], stdout=subprocess.PIPE)

    def ask(self, clients: int, *options: str) -> dict[str, Any]:
        """Let clients ask, and return what they saw, and how much processor time each answer took the service."""
        before = self.processor_seconds()
        figures = read_figures(self.start_clients(clients, *options))
        spent = self.processor_seconds() - before
        return {**figures, "processor_ms": 1000 * spent / max(1, figures["answered"])}

    def processor_seconds(self) -> float:
        """Seconds of processor time that the service has used."""
        spent = [
            (Path("/proc") / pid / "stat").read_text().rpartition(")")[2].split() for pid in self._list_processes()
        ]
        return sum(int(fields[11]) + int(fields[12]) for fields in spent) / _TICKS

    def megabytes(self) -> float:
        """Memory that the service uses."""
        kilobytes = 0
        for pid in self._list_processes():
            lines = (Path("/proc") / pid / "status").read_text().splitlines()
            kilobytes += next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))
        return kilobytes / 1024

    def _list_processes(self) -> list[str]:
        first = self.server.process.pid
        return [str(first), *Path(f"/proc/{first}/task/{first}/children").read_text().split()]


def read_figures(clients: subprocess.Popen[bytes]) -> dict[str, Any]:
    """Wait for clients, and read what they saw."""
    printed, _ = clients.communicate()
    figures: dict[str, Any] = json.loads(printed)
    return figures


@contextmanager
def loaded(collection: Path, queries: Path, *options: str) -> Iterator[Loaded]:
    """A service that has answered for a moment, so that everything is in memory."""
    with (
        tempfile.TemporaryDirectory() as folder,
        process(Path(folder) / "log", str(collection), *options) as server,
    ):
        made = Loaded(server, queries)
        made.ask(8, "--seconds", str(_WARM_UP))
        yield made
