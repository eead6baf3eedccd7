"""What deploy/ says works: a user without rights, a file system that cannot be written to, and a hardened unit."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import breadth
from tests.release.building import build, copy_tree
from tests.release.pythons import VERSIONS, Environment, find_python

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
TOKEN = "a-token-for-this-test-only"
LEAST_RIGHTS = (
    *("setpriv", "--reuid=10001", "--regid=10001", "--clear-groups", "--no-new-privs", "--bounding-set=-all"),
    *("env", "--ignore-environment", "PATH=/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE=1"),
)
"""Before a command: the user of the image, without capabilities, a home, and an environment."""

READ_ONLY = 'mount --make-rprivate / && mount -o remount,bind,ro / && exec "$@"'


def read_instructions() -> list[tuple[str, str]]:
    """The instructions of the Containerfile, each in one line."""
    text = re.sub(r"^#.*\n", "", (DEPLOY / "Containerfile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    lines = re.sub(r"\\\n\s*", "", text).splitlines()
    return [(line.split()[0], line.split(maxsplit=1)[1]) for line in lines if line]


def find(instruction: str) -> str:
    (found,) = (rest for name, rest in read_instructions() if name == instruction)
    return found


def test_the_image_is_made_from_files_that_there_are_and_that_are_not_ignored():
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    kept = {line[1:] for line in ignored if line.startswith("!")}
    copied = [rest.split()[:-1] for name, rest in read_instructions() if name == "COPY" and "--from" not in rest]
    sources = {source for part in copied for source in part}
    assert "*" in ignored
    assert sources == kept
    assert all((ROOT / source).exists() for source in sources)


def test_the_image_runs_without_rights():
    user, group = find("USER").split(":")
    assert int(user) > 0
    assert int(group) > 0
    names = [name for name, _ in read_instructions()]
    assert names.index("USER") > max(place for place, name in enumerate(names) if name in {"RUN", "COPY"})


@contextmanager
def open_folder() -> Iterator[Path]:
    """A folder that every user can read: those of pytest are for one user only."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


def ask(url: str, data: dict[str, object] | None = None) -> dict[str, Any]:
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    body = None if data is None else json.dumps(data).encode()
    with urllib.request.urlopen(urllib.request.Request(url, body, headers), timeout=30) as answer:
        return dict(json.loads(answer.read()))


def wait_for_port(log: Path, process: subprocess.Popen[bytes]) -> int:
    until = time.monotonic() + 90
    while time.monotonic() < until and process.poll() is None:
        found = re.search(r'"listening".*"port": (\d+)', log.read_text(encoding="utf-8"))
        if found and answers(int(found[1])):
            return int(found[1])
        time.sleep(0.05)
    raise AssertionError(log.read_text(encoding="utf-8"))


def answers(port: int) -> bool:
    try:
        return ask(f"http://127.0.0.1:{port}/healthz") == {"status": "ok"}
    except urllib.error.URLError:
        return False


def test_the_service_runs_without_rights_on_a_read_only_file_system():
    """What the Containerfile does, without a container: a fresh environment, its user, and nothing to write to."""
    if os.geteuid() != 0 or shutil.which("unshare") is None or shutil.which("setpriv") is None:
        pytest.skip("only root can become another user and mount; this needs unshare and setpriv of util-linux")
    tried = subprocess.run(["unshare", "--mount", "sh", "-c", READ_ONLY, "sh", "true"], capture_output=True, text=True)
    if tried.returncode != 0:
        pytest.skip(f"this machine does not let us mount: {tried.stderr.strip()}")
    pythons = (find_python(version, LEAST_RIGHTS) for version in VERSIONS)
    python = next((path for path in pythons if path), None)
    if python is None:
        pytest.skip("other users cannot run any Python of this machine")
    with open_folder() as folder:
        environment = Environment(python, folder / "environment")
        environment.install(f"{build(copy_tree(folder / 'source'), folder / 'dist').wheel}[service]")
        with breadth.Index.create(folder / "index") as index:
            index.add([breadth.Document("a", "Asthma is treated."), breadth.Document("b", "Gout hurts.")])
        serve_without_rights(environment, folder)


def serve_without_rights(environment: Environment, folder: Path) -> None:
    command = ["unshare", "--mount", "sh", "-c", READ_ONLY, "sh", *LEAST_RIGHTS, f"BREADTH_TOKEN={TOKEN}"]
    entry, defaults = ast.literal_eval(find("ENTRYPOINT")), ast.literal_eval(find("CMD"))
    assert (entry, defaults[:2]) == (["breadth"], ["serve", "/data/index"])
    probe = ["sh", "-c", f'touch {folder}/x /tmp/x; exec "$@"', "sh"]
    serve = [str(environment.bin / "breadth"), "serve", str(folder / "index"), "--port", "0"]
    log = folder / "log"
    with log.open("wb") as stream:
        process = subprocess.Popen([*command, *probe, *serve], stderr=stream, cwd=folder)
    try:
        port = wait_for_port(log, process)
        assert log.read_text(encoding="utf-8").count("Read-only file system") == 2
        assert ask(f"http://127.0.0.1:{port}/readyz")["documents"] == 2
        (hit,) = ask(f"http://127.0.0.1:{port}/v1/select", {"query": "asthma", "k": 1})["hits"]
        assert hit["id"] == "a"
        health = [
            part.replace(":8000", f":{port}") for part in ast.literal_eval(find("HEALTHCHECK").partition("CMD ")[2])
        ]
        environment.output(environment.bin / health[0], *health[1:])
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0, log.read_text(encoding="utf-8")
        health = [part.replace(str(port), "1") for part in health]
        assert environment.run(environment.bin / health[0], *health[1:]).returncode != 0
    finally:
        if process.poll() is None:
            process.kill()
        process.wait(60)


def read_unit() -> dict[str, list[str]]:
    """The settings of the service, each with all its values."""
    values: dict[str, list[str]] = {}
    for line in (DEPLOY / "breadth.service").read_text(encoding="utf-8").splitlines():
        if "=" in line and not line.startswith("#"):
            name, _, value = line.partition("=")
            values.setdefault(name, []).append(value)
    return values


def test_the_unit_takes_rights_away():
    unit = read_unit()
    for name in ("DynamicUser", "NoNewPrivileges", "PrivateTmp", "PrivateDevices", "ProtectHome", "RestrictNamespaces"):
        assert unit[name] == ["yes"], name
    assert unit["ProtectSystem"] == ["strict"]
    assert unit["CapabilityBoundingSet"] == [""]
    assert unit["LoadCredential"] == ["token:/etc/breadth/token"]


def test_the_unit_calls_a_command_that_there_is(breadth_options):
    (command,) = read_unit()["ExecStart"]
    used = re.findall(r"(--[\w-]+)", command)
    assert used
    assert set(used) <= breadth_options


@pytest.fixture
def breadth_options() -> set[str]:
    command = [sys.executable, "-m", "breadth", "serve", "--help"]
    environment = {**os.environ, "COLUMNS": "200"}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return set(re.findall(r"--[\w-]+", done.stdout))


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not on this machine")
def test_systemd_understands_the_unit_and_finds_it_hardened(tmp_path):
    unit = tmp_path / "breadth.service"
    text = (DEPLOY / "breadth.service").read_text(encoding="utf-8")
    unit.write_text(text.replace("/opt/breadth/bin/breadth", sys.executable), encoding="utf-8")
    done = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True, timeout=60)
    assert "breadth.service" not in done.stderr
    assert done.returncode == 0, done.stderr
    command = ["systemd-analyze", "security", "--offline=true", "--threshold=20", "--no-pager", unit]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout[-300:] + done.stderr
