"""What each constant of `breadth.solve.effort` costs and gains: halve and double one at a time, on one panel."""

from __future__ import annotations

import subprocess
import time
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from benchmarks.report import load, page, save, table
from benchmarks.timing import machine, progress
from breadth import ArrayOracle, CompactOracle, select
from breadth.settings import DEFAULT
from breadth.solve.effort import EFFORT, Effort
from tests.oracles.test_wrappers import SearchOnly
from tests.synthetic import SHAPES, query_near

KS, THETAS = (3, 10, 40), (0.3, 0.5, 0.7, 0.9)
SIZES = ((150, 24), (1500, 48), (5_000, 32))
TIE = 1e-7
_FIRST = "8b5a4d1"
"""The commit of lines that do not name theirs."""


@dataclass(frozen=True)
class Instance:
    """One query on one kind of oracle."""

    oracle: Any
    query: np.ndarray
    k: int
    theta: float
    sharpness: int


def main(rounds: int = 3, only: list[str] | None = None) -> None:
    """Measure, and write results/effort.json and docs/benchmarks/effort.md; `only`: these constants anew."""
    panel = make_panel(np.random.default_rng(0))
    before = {} if only is None else load("effort")["variants"]
    data: dict[str, Any] = {"machine": machine(), "instances": len(panel), "rounds": rounds}
    variants = {"as it is": EFFORT} | make_variants(only)
    times: dict[str, list[float]] = {name: [] for name in variants}
    values: dict[str, list[float]] = {}
    for _ in range(rounds):
        for name in progress(list(variants), "effort"):
            seconds, values[name] = run_panel(panel, variants[name])
            times[name].append(seconds)
    base = np.array(values["as it is"])
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    data["variants"] = before | {
        name: {
            "commit": commit,
            "time": float(np.median(np.array(times[name]) / np.array(times["as it is"]))),
            "worse": int(np.sum(np.array(values[name]) < base - TIE)),
            "better": int(np.sum(np.array(values[name]) > base + TIE)),
            "mean": float(np.mean(np.array(values[name]) - base)),
        }
        for name in variants
    }
    save("effort", data)
    render()


def make_panel(rng: np.random.Generator) -> list[Instance]:
    """Combine every shape, size, k and θ. Shapes alternate between an array, a compact oracle and searches alone."""
    kinds = (ArrayOracle, CompactOracle.build, SearchOnly)
    panel = []
    for turn, (n, d) in enumerate(SIZES):
        for number, shape in enumerate(SHAPES):
            rows = SHAPES[shape](rng, n, d)
            oracle = kinds[(turn + number) % len(kinds)](rows)
            query = query_near(rng, rows).astype(np.float32)
            asked = [(k, theta, sharpness) for k in KS for theta in THETAS for sharpness in (1, DEFAULT.sharpness)]
            panel += [Instance(oracle, query, *one) for one in asked]
    return panel


def make_variants(only: list[str] | None) -> dict[str, Effort]:
    """Set each constant to half and to twice its value."""
    variants = {}
    for field in fields(Effort):
        value = getattr(EFFORT, field.name)
        for label, factor in (("half", 0.5), ("double", 2.0)):
            changed = value * factor if isinstance(value, float) else max(1, round(value * factor))
            if only is None or field.name in only:
                variants[f"{field.name} {label}"] = replace(EFFORT, **{field.name: changed})
    return variants


def run_panel(panel: list[Instance], effort: Effort) -> tuple[float, list[float]]:
    """Return the seconds of processor time, and the objective of every instance."""
    values = []
    started = time.process_time()
    for case in panel:
        asked = {"k": case.k, "theta": case.theta, "sharpness": case.sharpness}
        if case.sharpness > 1:
            asked |= {"distinct": DEFAULT.distinct, "keep_best": True}
        values.append(select(case.oracle, case.query, effort=effort, **asked).objective)
    return time.process_time() - started, values


def render() -> None:
    """Write the page from results/effort.json."""
    data = load("effort")
    info, variants = data["machine"], data["variants"]
    rows = []
    for field in fields(Effort):
        cells = [f"`{field.name}`", str(getattr(EFFORT, field.name))]
        for label in ("half", "double"):
            cell = variants[f"{field.name} {label}"]
            cells += [f"{cell['time']:.2f}", str(cell["worse"]), str(cell["better"]), f"{cell['mean']:+.1e}"]
        rows.append([*cells, cell.get("commit", _FIRST)])
    head = ["constant", "value", "½: time", "worse", "better", "mean", "×2: time", "worse", "better", "mean", "commit"]
    page(
        "effort",
        f"""# How hard the certified method works

`python -m benchmarks effort` writes this page; do not edit it. {info["cpu"]}, {info["cores"]} cores,
Python {info["python"]}, NumPy {info["numpy"]}.

We halved and doubled every constant of `breadth.solve.effort`, one at a time, on {data["instances"]} instances: {
            ", ".join(SHAPES)
        } rows ({", ".join(f"{n:,} × {d}" for n, d in SIZES)}), on arrays, compact oracles and through
searches alone, with k ∈ {{{", ".join(map(str, KS))}}}, θ ∈ {{{", ".join(map(str, THETAS))}}}, for the paper's
sharpness 1 and for the default's {DEFAULT.sharpness}, the latter with `distinct` and `keep_best`. "Time" is processor
time, divided by that of the unchanged constants (median of {data["rounds"]} rounds). "Worse" and "better"
count the instances whose objective changed by more than 1e-7. "Mean" is the mean change of the objective over all
instances. "Commit" is the one that a line was measured on: a constant is measured again when it changes
(`--again NAME`).

{table(head, rows)}
""",
    )
