"""How much memory queries on an opened compact file take, measured in a separate process."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

_CODE = """
import json, sys, time
import numpy as np
from breadth import select
from breadth.oracles import CompactOracle

def kilobytes(name):
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name))

loaded = kilobytes("VmRSS:")
started = time.perf_counter()
oracle = CompactOracle.open(sys.argv[1])
opened = time.perf_counter() - started
rng = np.random.default_rng(0)
resident = 0
for _ in range(20):
    q = oracle.rows(rng.integers(oracle.size, size=1))[0] + 0.05 * rng.standard_normal(oracle.dim)
    select(oracle, (q / np.linalg.norm(q)).astype(np.float32), k=100, theta=0.7)
    resident = max(resident, kilobytes("VmRSS:"))
json.dump({"open_ms": 1000 * opened, "before": 1024 * loaded, "resident": 1024 * resident,
           "peak": 1024 * kilobytes("VmHWM:"), "numbers": oracle.size * oracle.dim}, sys.stdout)
"""


def of_queries(compact: Path) -> dict[str, Any]:
    """Open the file and ask 20 queries (k = 100, θ = 0.7). Return memory in bytes, and how long opening took."""
    done = subprocess.run([sys.executable, "-c", _CODE, str(compact)], capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found
