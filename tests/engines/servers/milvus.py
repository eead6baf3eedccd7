"""A Milvus server (standalone) from the package `milvus`, in an enclosure: it listens on every address."""

from __future__ import annotations

import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.engines.servers.child import Server, running, temporary_folder, wait_until
from tests.engines.servers.enclosure import enclosed

_PORT = 19530
"""Its port inside the enclosure: nobody else is there."""
_NOTES = Path("/tmp/milvus")
"""It leaves files here, whatever folder it is given. Inside the enclosure this is a file system in memory."""
_SETTINGS = {
    "queryCoord.checkInterval": 50,
    "queryCoord.distPullInterval": 50,
    "proxy.timeTickInterval": 20,
}
"""In milliseconds, for tests: with its own settings Milvus takes three seconds to load a small collection."""
_START = f"""
import subprocess
import sys
from pathlib import Path

import milvus

subprocess.run(["mount", "-t", "tmpfs", "notes", "{_NOTES}"], check=True)
server = milvus.MilvusServer(data_dir=sys.argv[1])
for name, value in {_SETTINGS}.items():
    server.config.set(name, value)
server.start()  # returns when the server is healthy
Path(sys.argv[1], "ready").touch()
server.wait()
"""


@contextmanager
def milvus() -> Iterator[Server]:
    """Run an empty Milvus server."""
    with _folder_for_notes(), temporary_folder() as folder, socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        command = enclosed([sys.executable, "-c", _START, str(folder / "data")], listener, _PORT)
        with running(command, folder, files=[listener.fileno()], stop=signal.SIGKILL) as process:
            listener.close()  # it has been inherited; only the server holds the port now
            wait_until((folder / "data" / "ready").exists, process, folder)
            yield Server(address, process)


@contextmanager
def _folder_for_notes() -> Iterator[None]:
    _NOTES.mkdir(exist_ok=True)
    try:
        yield
    finally:
        with suppress(OSError):  # somebody else's files are in it
            _NOTES.rmdir()
