"""Start the measurements, each in a process of its own, and write the page."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from typing import Any

from benchmarks.report import ROOT, save
from benchmarks.shards import page, scans
from benchmarks.shards.simulate import simulate
from benchmarks.timing import machine, progress
from tests.engines.servers.enclosure import enclosed

WORKERS = (1, 2, 4)


def main(rounds: int) -> None:
    """Measure scans, then clusters with 1, 2 and 4 workers, and simulate. Dask is measured if it is installed."""
    kinds = ["alone", "ray", *(["dask"] if find_spec("distributed") else [])]
    found: dict[str, Any] = {"machine": machine(), "scans": scans.measure(rounds), "rounds": {}}
    cells = [(kind, count) for count in WORKERS for kind in kinds]
    for kind, count in progress(cells, "shards"):
        found["rounds"].setdefault(kind, {})[str(count)] = _run_enclosed(kind, count, rounds)
    for count in progress(list(scans.SHARDS), "driver"):
        found.setdefault("drivers", {})[str(count)] = _run_enclosed("echo", count, rounds)
    found["simulated"] = simulate(found)
    save("shards", found)
    page.render()


def _run_enclosed(kind: str, workers: int, rounds: int) -> dict[str, Any]:
    """Run one measurement where Ray's ports cannot be reached."""
    command = [sys.executable, "-m", "benchmarks.shards.workers", kind, str(workers), str(rounds)]
    done = subprocess.run(enclosed(command), cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stderr[-4000:]}")
    figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return figures
