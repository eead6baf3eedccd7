"""Everything works without numba: the tests of kernels, methods, the certified solver and oracles once more."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FOLDERS = ["tests/kernels", "tests/methods", "tests/certified", "tests/oracles"]
ALIKE = [
    "tests/certified/test_kernels_agree.py",
    "tests/certified/test_time_limits.py",
    "tests/certified/test_constraints.py",
    "tests/oracles/test_torch.py",
    "tests/kernels/test_compiling.py",
]
"""These choose their kernels themselves, or use none: they are the same once more."""


def test_everything_works_without_numba():
    pytest.importorskip("numba", reason="numba is not installed, so all other tests have already run without it")
    ignored = [f"--ignore={path}" for path in ALIKE]
    assert all((ROOT / path).exists() for path in (*FOLDERS, *ALIKE))
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *FOLDERS, *ignored]
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
