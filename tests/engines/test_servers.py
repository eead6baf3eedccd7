"""The servers of the tests end with the tests, whatever happens, and cannot be reached from elsewhere."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.engines.servers.child import accepts, free_port, running, temporary_folder, wait_until
from tests.engines.servers.enclosure import enclosed

ROOT = Path(__file__).parents[2]
START = """
import sys, time
from tests.engines.servers.postgres import postgres

with postgres() as server:
    print(server.process.pid, server.url, flush=True)
    time.sleep(600)
"""


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_a_server_ends_with_the_process_that_started_it(end):
    with temporary_folder() as folder:
        folder.chmod(0o755)
        process = subprocess.Popen(
            [sys.executable, "-c", START], cwd=ROOT, env={**os.environ, "TMPDIR": str(folder)}, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )  # fmt: skip
        assert process.stdout is not None
        pid, url = process.stdout.readline().split()
        port = int(url.split(b":")[-1].split(b"/")[0])
        assert accepts(port)
        process.send_signal(end)
        process.communicate(timeout=30)
        wait_for(lambda: not Path(f"/proc/{int(pid)}").exists() and not accepts(port))


def test_what_is_enclosed_is_reached_through_one_port_alone():
    with temporary_folder() as folder, socket.create_server(("127.0.0.1", 0)) as listener:
        port, inner = listener.getsockname()[1], free_port()
        serve = [sys.executable, "-m", "http.server", str(inner), "--bind", "0.0.0.0"]
        with running(
            enclosed(serve, listener, inner), folder, files=[listener.fileno()], stop=signal.SIGKILL
        ) as process:
            listener.close()
            wait_until(lambda: b"200" in fetch(port), process, folder)
            assert not accepts(inner)
    wait_for(lambda: not accepts(port))


def test_nothing_that_is_enclosed_reaches_outside():
    with socket.create_server(("127.0.0.1", 0)) as outside:
        port = outside.getsockname()[1]
        reach = f"import socket; socket.create_connection(('127.0.0.1', {port}), 2)"
        done = subprocess.run(enclosed([sys.executable, "-c", reach]), capture_output=True, text=True, check=False)
    assert "ConnectionRefusedError" in done.stderr


def test_what_an_enclosed_program_starts_ends_with_it():
    with temporary_folder() as folder:
        child = "import subprocess, sys, time; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])"
        with running(
            enclosed([sys.executable, "-c", f"{child}; time.sleep(600)"]), folder, stop=signal.SIGKILL
        ) as process:
            wait_for(lambda: len(descendants(process.pid)) >= 4)
            pids = descendants(process.pid)
    wait_for(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids))


def test_a_server_that_fails_to_start_says_why():
    with temporary_folder() as folder:
        command = [sys.executable, "-c", "raise SystemExit('no such thing')"]
        with (
            running(command, folder) as process,
            pytest.raises(RuntimeError, match=r"ended with code 1[\s\S]*no such thing"),
        ):
            wait_until(lambda: False, process, folder)


def descendants(pid: int) -> list[int]:
    children = [int(child) for f in Path(f"/proc/{pid}/task").glob("*/children") for child in f.read_text().split()]
    return [pid, *(one for child in children for one in descendants(child))]


def fetch(port: int) -> bytes:
    try:
        with socket.create_connection(("127.0.0.1", port), 2) as line:
            line.sendall(b"HEAD / HTTP/1.0\r\n\r\n")
            return line.recv(100)
    except OSError:
        return b""


def wait_for(condition, seconds: float = 15.0) -> None:
    limit = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < limit, "it took too long"
        time.sleep(0.05)
