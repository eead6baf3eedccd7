"""Everything works where the core was not built: the tests of solver, methods, oracles and the API once more."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests import cores

ROOT = Path(__file__).parent.parent
CHOSEN = [
    "tests/methods",
    "tests/solve/test_label.py",
    "tests/solve/test_constraints.py",
    "tests/oracles/test_array.py",
    "tests/oracles/test_compact_file.py",
    "tests/oracles/test_contract.py",
    "tests/oracles/test_segmented.py",
    "tests/test_api.py",
]
"""Tests that leave it open what does the work. Others choose it themselves, or do not use it."""


@cores.needs_compiled
def test_everything_works_without_the_compiled_core():
    assert all((ROOT / path).exists() for path in CHOSEN)
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *CHOSEN]
    environment = {**os.environ, "BREADTH_COMPILED": "0"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert " passed" in done.stdout


def test_numpy_takes_over():
    """Where the core is not there, as where BREADTH_COMPILED=0 says so."""
    code = """
import sys
sys.modules["breadth.native._core"] = None
import numpy as np, breadth
print(breadth.select(np.eye(4), [1.0, 0.0, 0.0, 0.0], k=2, theta=0.5).stats["core"])
"""
    for environment in ({"BREADTH_COMPILED": "1"}, {"BREADTH_COMPILED": "0"}):
        done = subprocess.run(
            [sys.executable, "-c", code], env=os.environ | environment, capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == "numpy"
