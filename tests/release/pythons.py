"""The interpreters of this machine, and empty environments of theirs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

VERSIONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
"""What pyproject.toml says that breadth works on."""

PLACES = "PATH, the versions of pyenv, or BREADTH_PYTHONS (paths of interpreters)"

_TELL = """
import os, sys
program = "/proc/self/exe" if os.path.exists("/proc/self/exe") else sys.executable
print("%d.%d" % sys.version_info[:2], os.path.realpath(program))
"""
"""The program that runs may be another than the one that was called: pyenv has scripts that choose one."""


def find_python(version: str, through: tuple[str, ...] = ()) -> Path | None:
    """An interpreter of this version that runs, if there is one; `through` a command, if that is given."""
    for candidate in _candidates(version):
        try:
            done = subprocess.run([*through, candidate, "-c", _TELL], capture_output=True, text=True, timeout=60)
        except OSError:
            continue
        found, _, path = done.stdout.strip().partition(" ")
        if done.returncode == 0 and found == version:
            return Path(path)
    return None


def _candidates(version: str) -> Iterator[Path]:
    yield Path(sys.executable)
    yield from (Path(path) for path in os.environ.get("BREADTH_PYTHONS", "").split(os.pathsep) if path)
    for folder in os.get_exec_path():
        on_path = shutil.which(f"python{version}", path=folder)
        if on_path:
            yield Path(on_path)
    yield from sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))


class Environment:
    """An environment with nothing in it, apart from what is installed into it."""

    def __init__(self, python: Path, folder: Path) -> None:
        subprocess.run([python, "-m", "venv", "--without-pip", folder], check=True, timeout=120)
        self.folder = folder
        self.bin = folder / "bin"

    def install(self, *what: str) -> None:
        """Install with uv, which is quick, or else with pip, which may know of other package indexes."""
        python = str(self.bin / "python")
        uv = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", python]
        pip = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-compile"]
        if self.run(*uv, *what).returncode != 0:
            done = self.run(*pip, *what)
            assert done.returncode == 0, done.stderr

    def run(self, *command: str | Path) -> subprocess.CompletedProcess[str]:
        """Run a command outside of the repository, without settings that lead Python back into it."""
        known = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
        return subprocess.run(
            [str(part) for part in command],
            capture_output=True,
            text=True,
            encoding="utf-8",
            cwd=self.folder,
            env={**known, "PYTHONUTF8": "1"},
            timeout=300,
        )

    def output(self, *command: str | Path) -> str:
        """What a command writes. It must end well."""
        done = self.run(*command)
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        return done.stdout
