"""Everything works without numba: tests of methods, the certified solver, oracles and the API once more."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CHOSEN = [
    "tests/methods",
    "tests/certified/test_bench.py",
    "tests/certified/test_label.py",
    "tests/oracles/test_array.py",
    "tests/oracles/test_compact.py",
    "tests/oracles/test_compact_file.py",
    "tests/oracles/test_contract.py",
    "tests/oracles/test_segmented.py",
    "tests/test_api.py",
]
"""Tests that leave the choice of the kernels to the package. All others choose them, or use none."""


def test_everything_works_without_numba():
    pytest.importorskip("numba", reason="numba is not installed, so all other tests have already run without it")
    assert all((ROOT / path).exists() for path in CHOSEN)
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *CHOSEN]
    environment = {**os.environ, "BREADTH_COMPILED": "0"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert " passed" in done.stdout
    assert "skipped" not in done.stdout


@pytest.mark.parametrize("missing", [True, False])
def test_numpy_takes_over(missing):
    """Where numba cannot be imported, and where BREADTH_COMPILED=0 forbids it: then nobody tries."""
    code = f"""
import sys
{"sys.modules['numba'] = None" if missing else ""}
import numpy as np, breadth
found = breadth.select(np.eye(4), [1.0, 0.0, 0.0, 0.0], k=2, theta=0.5)
print(found.stats["kernels"], sorted(m for m in sys.modules if m.split(".")[0] == "numba" and sys.modules[m]))
"""
    environment = {**os.environ, "BREADTH_COMPILED": "1" if missing else "0"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "numpy []"
