"""Ray listens on every address, so its tests run in a process with a network of its own: tests/engines/enclosed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import breadth
from breadth import InputError
from tests.engines.servers.child import running, temporary_folder
from tests.engines.servers.enclosure import enclosed
from tests.synthetic import clustered

ROOT = Path(__file__).parents[2]
SECONDS = 300


def test_the_enclosed_tests_pass(record_property):
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
    with temporary_folder() as folder:
        tests = enclosed([*command, "--rootdir", str(ROOT), str(ROOT / "tests/engines/enclosed")])
        # NumPy's kernels: a worker starts in half the time, and numba's have tests of their own.
        with running(tests, folder, directory=ROOT, environment={"BREADTH_COMPILED": "0"}) as process:
            try:
                code = process.wait(SECONDS)
            except subprocess.TimeoutExpired:
                code = None
        log = (folder / "log").read_text(errors="replace")
    assert code == 0, log[-20_000:]
    record_property("engine", "ray")


def test_a_cluster_is_never_started(rng):
    with pytest.raises(InputError, match=r"this process has joined no Ray cluster; call ray.init\(\)"):
        breadth.oracles.ray(clustered(rng, 20, 4))
