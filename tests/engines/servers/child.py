"""A server as a child process: started, awaited, and stopped for sure."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

STARTING_SECONDS = 120.0
"""The longest that a server may take until it answers. Two cores may be busy with other tests."""
STOPPING_SECONDS = 15.0


@dataclass
class Server:
    """A running server. `url` is its address."""

    url: str
    process: subprocess.Popen[bytes]

    def kill(self) -> None:
        """End the server and all its processes at once, as a crash of the machine does."""
        _signal(_descendants(self.process.pid), signal.SIGKILL)
        self.process.wait()

    @contextmanager
    def halted(self) -> Iterator[None]:
        """Halt the server and all its processes: its port stays open, but it answers nothing."""
        processes = _descendants(self.process.pid)
        _signal(processes, signal.SIGSTOP)
        try:
            yield
        finally:
            _signal(processes, signal.SIGCONT)


def _signal(processes: list[int], number: signal.Signals) -> None:
    """Send a signal to processes, some of which may have ended meanwhile."""
    for pid in processes:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


def _descendants(pid: int) -> list[int]:
    """Return a process and all processes that it and they have started."""
    listed = Path(f"/proc/{pid}/task").glob("*/children")
    children = [int(child) for file in listed for child in file.read_text().split()]
    return [pid, *(one for child in children for one in _descendants(child))]


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Make a folder for a server's data, and remove it afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="breadth-server-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def free_port() -> int:
    """Return a port of 127.0.0.1 that nobody uses."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def running(
    command: Sequence[str | Path],
    folder: Path,
    *,
    user: str | None = None,
    environment: Mapping[str, str] | None = None,
    files: Sequence[int] = (),
    directory: Path | None = None,
    stop: signal.Signals = signal.SIGTERM,
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a command until the block ends. The kernel ends it too if this process dies.

    `user`: run it as this user. `files`: file descriptors that it inherits. `directory`: where it runs; the default is
    the folder. `stop`: the signal that asks it to stop. What it prints goes to `log` in the folder.
    """
    changed = [f"--reuid={user}", f"--regid={user}", "--clear-groups"] if user else []
    wrapped = ["setpriv", "--pdeathsig", "KILL", *changed, "--", *map(str, command)]
    with (folder / "log").open("ab") as log:
        process = subprocess.Popen(
            wrapped,
            cwd=directory or folder,
            env={**os.environ, **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            pass_fds=files,
        )
    try:
        yield process
    finally:
        _end(process, stop)


def _end(process: subprocess.Popen[bytes], stop: signal.Signals) -> None:
    if process.poll() is None:
        process.send_signal(stop)
        try:
            process.wait(STOPPING_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def wait_until(ready: Callable[[], bool], process: subprocess.Popen[bytes], folder: Path) -> None:
    """Wait until the server answers. Raise an error with its log if it ends, or takes too long."""
    limit = time.monotonic() + STARTING_SECONDS
    while not ready():
        if process.poll() is not None or time.monotonic() > limit:
            what = "took too long to start" if process.poll() is None else f"ended with code {process.returncode}"
            log = (folder / "log").read_text(errors="replace")[-4000:]
            raise RuntimeError(f"the server {what}: {process.args}\n{log}")
        time.sleep(0.05)


def accepts(port: int) -> bool:
    """Say whether a port of 127.0.0.1 accepts connections."""
    with socket.socket() as probe:
        probe.settimeout(1.0)
        return probe.connect_ex(("127.0.0.1", port)) == 0
