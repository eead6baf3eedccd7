"""Other packages add commands to `breadth`; one that is broken is reported in a line and breaks nothing else."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

GOOD = """
import typer
app = typer.Typer()
@app.command()
def hello(): print('hello')
@app.command()
def bye(): ...
"""
BROKEN = {
    "raises": ("raise RuntimeError('made for\\nanother version')", "(RuntimeError: made for another version)"),
    "imports": ("from breadth.solvers import Solver", "No module named 'breadth.solvers'"),
    "lacks": ("", "has no attribute 'app'"),
    "other": ("app = 3", "plugged:app must be a typer.Typer, got int"),
    "untyped": ("import typer\napp = typer.Typer()\n@app.command()\ndef f(x: int | str): ...", "Union"),
}


@pytest.fixture
def breadth(tmp_path):
    """Runs a command in an environment where the package `plugged` adds the group `plug`."""

    def run(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        (tmp_path / "plugged.py").write_text(code)
        folder = tmp_path / "plugged-1.0.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: plugged\nVersion: 1.0\n")
        (folder / "entry_points.txt").write_text("[breadth.commands]\nplug = plugged:app\n")
        path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
        command = [sys.executable, "-m", "breadth", *arguments]
        return subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path})

    return run


def test_the_commands_of_a_package_are_added(breadth):
    done = breadth(GOOD, "plug", "hello")
    assert (done.returncode, done.stdout, done.stderr) == (0, "hello\n", "")


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_package_is_one_line_and_the_other_commands_work(breadth, name):
    code, reason = BROKEN[name]
    done = breadth(code, "--help")
    assert done.returncode == 0
    assert "diagnose" in done.stdout
    assert "plug" not in done.stdout
    (line,) = done.stderr.splitlines()
    assert line.startswith("warning: `breadth plug` is not available, because plugged cannot be loaded (")
    assert reason in line


def test_the_experiments_are_found_when_they_are_installed():
    done = subprocess.run([sys.executable, "-m", "breadth", "experiment", "--help"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for stage in ("pool", "encode", "retrieve", "generate", "report"):
        assert stage in done.stdout


def test_a_command_of_no_package_is_a_wrong_call(breadth):
    done = breadth(GOOD, "unplugged")
    assert done.returncode == 2
    assert "No such command" in done.stderr
