"""Clients that ask as fast as they are answered, in a process of their own: `python -m benchmarks.load.client …`.

Each client keeps a connection, sends a request, reads the answer, and sends the next one. The requests are written
before the clock starts, and answers are only cut out of the stream: the machine's time is for the service.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

_HEAD = b"\r\n\r\n"


@dataclass
class Tally:
    """What the clients have seen: seconds of each answer, and how often each outcome was."""

    seconds: list[float] = field(default_factory=list)
    outcomes: Counter[str] = field(default_factory=Counter)

    def summary(self, elapsed: float) -> dict[str, Any]:
        """The figures."""
        answered = self.outcomes["200"]
        p50, p99 = np.quantile(self.seconds, [0.5, 0.99]) if self.seconds else (np.nan, np.nan)
        return {
            "answered": answered,
            "per_second": answered / elapsed,
            "p50_ms": 1000 * float(p50),
            "p99_ms": 1000 * float(p99),
            "outcomes": dict(self.outcomes),
            "seconds": elapsed,
        }


class EndError(Exception):
    """There is nothing more to ask, or nobody to ask."""


class Client:
    """One client. It ends at a time, after so many answers, or when nobody listens any more."""

    def __init__(self, port: int, requests: list[bytes], tally: Tally, until: float, left: list[int]) -> None:
        self._port, self._requests, self._tally = port, requests, tally
        self._until, self._left = until, left

    async def run(self, place: int) -> None:
        """Ask until the end."""
        while True:
            try:
                reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
            except OSError:  # a request that could not be sent is not lost
                self._tally.outcomes["refused"] += 1
                return
            try:
                place = await self._use(reader, writer, place)
            except EndError:
                return
            finally:
                writer.close()

    async def _use(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, place: int) -> int:
        """Ask over one connection until the service closes it."""
        closing = False
        while not closing:
            if time.perf_counter() >= self._until or self._left[0] <= 0:
                raise EndError
            self._left[0] -= 1
            place += 1
            started = time.perf_counter()
            try:
                writer.write(self._requests[place % len(self._requests)])
                status, closing = await _read_answer(reader)
            except (OSError, asyncio.IncompleteReadError):
                self._tally.outcomes["lost"] += 1
                return place
            self._tally.seconds.append(time.perf_counter() - started)
            self._tally.outcomes[status] += 1
        return place


async def _read_answer(reader: asyncio.StreamReader) -> tuple[str, bool]:
    """The status of an answer, and whether the service wants to close the connection."""
    head = (await reader.readuntil(_HEAD)).lower()
    length = head.partition(b"content-length:")[2].partition(b"\r\n")[0]
    await reader.readexactly(int(length))
    return head[9:12].decode(), b"connection: close" in head


def write_requests(queries: Path, port: int) -> list[bytes]:
    """The requests as bytes: ten passages for each vector."""
    requests = []
    for query in np.load(queries):
        body = json.dumps({"query": [round(float(number), 7) for number in query], "k": 10}).encode()
        head = f"POST /v1/select HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
        requests.append(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
    return requests


async def ask(port: int, requests: list[bytes], clients: int, seconds: float, most: int) -> dict[str, Any]:
    """Let so many clients ask for so many seconds, but at most so often."""
    tally, started = Tally(), time.perf_counter()
    left = [most]
    every = [Client(port, requests, tally, started + seconds, left) for _ in range(clients)]
    await asyncio.gather(*(client.run(17 * number) for number, client in enumerate(every)))
    return tally.summary(time.perf_counter() - started)


def main() -> None:
    """Read the arguments, ask, and print the figures as JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("queries", type=Path)
    parser.add_argument("--clients", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--most", type=int, default=10**9)
    given = parser.parse_args()
    requests = write_requests(given.queries, given.port)
    print(json.dumps(asyncio.run(ask(given.port, requests, given.clients, given.seconds, given.most))))


if __name__ == "__main__":
    main()
