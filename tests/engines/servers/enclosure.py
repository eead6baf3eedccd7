"""Run a program in a network and a process space of its own, with at most one way in.

Some servers listen on every address. In a private network namespace "every address" is only a loopback device that
nobody else can reach. A relay lets clients in: it listens on a socket that was opened outside, and hands the bytes to
a port inside. The process space makes sure that nothing survives: when its first process ends, the kernel ends all.

Run as a script, this file is that first process.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import socket
import struct
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

_SET_FLAGS, _UP = 0x8914, 0x1 | 0x40
"""Linux: the request that sets the flags of a network device, and the flags "up" and "running"."""
_MARK = "BREADTH_ENCLOSED"
"""The environment variable that tells a program that it is inside."""


def enclosed(command: Sequence[str], listener: socket.socket | None = None, port: int = 0) -> list[str]:
    """Return the command that runs a command enclosed.

    What comes to `listener`, which the process must inherit, is handed to `port` inside. Without a listener nothing
    inside can reach, or be reached from, outside.
    """
    privileges = [] if os.geteuid() == 0 else ["--map-root-user"]
    spaces = ["unshare", *privileges, "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]
    file = -1 if listener is None else listener.fileno()
    return [*spaces, sys.executable, str(Path(__file__)), str(file), str(port), *command]


def is_inside() -> bool:
    """Say whether this process runs in an enclosure."""
    return _MARK in os.environ


def _raise_loopback() -> None:
    with socket.socket() as device:
        fcntl.ioctl(device, _SET_FLAGS, struct.pack("16sH14x", b"lo", _UP))


async def _relay(listener: socket.socket, port: int) -> None:
    async def connect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            writer.close()
            return
        await asyncio.gather(_pipe(reader, inner_writer), _pipe(inner_reader, writer))

    async with await asyncio.start_server(connect, sock=listener) as server:
        await server.serve_forever()


async def _pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(1 << 16):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()


async def _relay_while(server: subprocess.Popen[bytes], file: int, port: int) -> None:
    relay = asyncio.create_task(_relay(socket.socket(fileno=file), port))
    while server.poll() is None:
        await asyncio.sleep(0.2)
    relay.cancel()


def main(file: str, port: str, *command: str) -> None:
    """Run the command, and relay until it ends."""
    _raise_loopback()
    server = subprocess.Popen(command, env={**os.environ, _MARK: "1"})
    if int(file) >= 0:
        asyncio.run(_relay_while(server, int(file), int(port)))
    sys.exit(server.wait())


if __name__ == "__main__":
    main(*sys.argv[1:])
