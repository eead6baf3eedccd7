"""`breadth experiment`: wrong calls are one line that says what to do; figures and tables come out at the end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.experiments.children import breadth_command, running
from tests.experiments.endpoint import serving

DATA = Path(__file__).parents[2] / "examples" / "data" / "wikipedia"
POOL = ("--dataset", "own", "--questions", DATA / "questions.jsonl", "--passages", DATA / "passages.jsonl")


def experiment(*arguments):
    command = [sys.executable, "-m", "breadth", "experiment", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True)


def test_from_files_to_tables(tmp_path):
    run = tmp_path / "run"
    done = experiment("pool", run, *POOL, "--limit", 4, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["questions"] == 4
    for command in (
        ("encode", run),
        ("retrieve", run, "--method", "topk", "--method", "certified", "--theta", 0.7, "-k", 3, "--sample", 1),
    ):
        done = experiment(*command)
        assert done.returncode == 0, done.stderr
    assert "8 new sets" in done.stdout
    with serving() as endpoint:
        arguments = ("generate", run, "--model", "tiny", "--url", endpoint.url, "--json")
        assert json.loads(experiment(*arguments).stdout) == {"answers": 8}
        assert json.loads(experiment(*arguments).stdout) == {"answers": 0}
    done = experiment("report", run, "--json")
    names = {Path(path).name for path in json.loads(done.stdout)["files"]}
    assert {"retrieval.png", "retrieval.svg", "retrieval.md", "generation.md", "generation.tex"} <= names


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("encode", "nowhere"), "is not a run folder"),
        (("pool", "r", "--dataset", "own"), "pass --folder"),
        (("pool", "r", "--dataset", "squad", *POOL[2:]), "dataset must be one of"),
        (("pool", "r", "--dataset", "asqa", *POOL[2:]), "questions.jsonl is not JSON"),
        (("pool", "r", *POOL[:4], "--passages", ".."), "there is no file"),
        (("figure", "r", *POOL, "-k", "1000"), "choose with -k"),
        (("pool", "r", "--dataset", "asqa", "--folder", "nowhere"), "there is no file"),
        (("pool", "r", *POOL, "--copies", "2"), "--copies goes with --folder"),
        (("report", "nowhere"), "is not a run folder"),
    ],
)
def test_wrong_calls(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = experiment(*arguments)
    assert done.returncode == 1
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_no_endpoint_is_asked_that_was_not_named(tmp_path, monkeypatch):
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    run = tmp_path / "run"
    for command in (
        ("pool", run, *POOL, "--limit", 1),
        ("encode", run),
        ("retrieve", run, "--method", "topk", "-k", 2, "--sample", 0),
    ):
        assert experiment(*command).returncode == 0
    assert "url must be the address of an endpoint" in experiment("generate", run, "--model", "tiny").stderr
    assert "url must be" in experiment("generate", run, "--model", "tiny", "--url", "localhost:1/v1").stderr


@pytest.mark.skipif(sys.platform == "win32", reason="signals of a process group are POSIX")
def test_ctrl_c_says_that_the_command_can_go_on(tmp_path):
    run = tmp_path / "run"
    experiment("pool", run, *POOL)
    experiment("encode", run)
    file = run / "retrieved.jsonl"
    command = breadth_command("experiment", "retrieve", run, "--workers", 2)
    with running(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline and not (file.exists() and file.stat().st_size):
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 130
        assert "the same command" in errors
        assert "Traceback" not in errors
        assert file.read_bytes().endswith(b"\n")


def test_a_dead_endpoint_is_one_line(tmp_path):
    run = tmp_path / "run"
    experiment("pool", run, *POOL, "--limit", 1)
    experiment("encode", run)
    experiment("retrieve", run, "--method", "topk", "-k", 2, "--sample", 0)
    done = experiment("generate", run, "--model", "tiny", "--url", "http://127.0.0.1:9/v1")
    assert done.returncode == 1
    assert "127.0.0.1:9" in done.stderr
    assert "Traceback" not in done.stderr
