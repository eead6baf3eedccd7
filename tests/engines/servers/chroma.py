"""A Chroma server: the command `chroma run` of the package `chromadb`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.engines.servers.child import Server, accepts, free_port, running, temporary_folder, wait_until


@contextmanager
def chroma() -> Iterator[Server]:
    """Run an empty Chroma server."""
    with temporary_folder() as folder:
        port = free_port()
        command = [Path(sys.executable).with_name("chroma"), "run", "--path", folder / "data"]
        with running([*command, "--host", "127.0.0.1", "--port", str(port)], folder) as process:
            wait_until(lambda: accepts(port), process, folder)
            yield Server(f"http://127.0.0.1:{port}", process)
