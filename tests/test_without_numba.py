"""Everything works without compiled code: the tests of oracles, solvers and trade-offs once more, without it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_oracles_and_solvers_without_compiled_code():
    parts = ["tests/methods", "tests/certified", "tests/oracles/test_array.py", "tests/oracles/test_segmented.py"]
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *parts]
    environment = {**os.environ, "BREADTH_COMPILED": "0"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:]
    assert " passed" in done.stdout
    assert "skipped" not in done.stdout
