"""Run the questions that come with the project through all stages, and compare the scores with expected.json.

`python -m benchmarks check` prints OK or FAIL for every score. The exit code is 1 if one of them is off.
"""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.report import ROOT
from breadth.encoders import encoder
from breadth_experiments import encoding, pooling, retrieval, scores
from breadth_experiments.grid import Grid

EXPECTED = ROOT / "benchmarks" / "expected.json"
SHIPPED = ROOT / "examples" / "data" / "wikipedia"


@dataclass(frozen=True)
class ScoreCheck:
    """One score: its expected value, the tolerance and the value that was found."""

    name: str
    expected: float
    tolerance: float
    found: float

    @property
    def good(self) -> bool:
        return abs(self.found - self.expected) <= self.tolerance

    def __str__(self) -> str:
        verdict = "OK  " if self.good else "FAIL"
        return f"{verdict} {self.name}: {self.found:.4f}, expected {self.expected:.4f} ± {self.tolerance:g}"


def check(folder: Path | None = None) -> list[ScoreCheck]:
    """Run the slice, in `folder` or a temporary one, and compare every score."""
    data = json.loads(EXPECTED.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as temporary:
        found = run_slice(folder or Path(temporary), data["slice"])
    checked = []
    for line in data["scores"]:
        cell = found.cells[line["method"], line["k"], line["theta"]]
        name = f"{line['method']}, k = {line['k']}" + ("" if line["theta"] is None else f", θ = {line['theta']}")
        for measure, tolerance in data["tolerances"].items():
            value = float(cell[measure].mean())
            checked.append(ScoreCheck(f"{name}, {measure}", line[measure], tolerance, value))
    return checked


def run_slice(folder: Path, slice_: dict[str, Any]) -> scores.Scores:
    """Go through the stages pool, encode and retrieve, and return the scores."""
    run = pooling.pool_files(folder, "own", SHIPPED / "questions.jsonl", SHIPPED / "passages.jsonl")
    encoding.encode(run, encoder("builtin"))
    grid = Grid(tuple(slice_["methods"]), tuple(slice_["thetas"]), tuple(slice_["ks"]))
    retrieval.retrieve(run, grid, workers=1)
    return scores.read_run(run)
