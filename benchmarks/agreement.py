"""Does everything agree? The compiled core and NumPy, every path with the best method, clocks with their limits."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from benchmarks.certified import OTHERS
from benchmarks.report import load, page, save, table
from benchmarks.timing import machine, progress
from breadth import ArrayOracle, CompactOracle, frontier, select, select_many
from tests import cores
from tests.oracles.test_wrappers import SearchOnly
from tests.synthetic import SHAPES, isotropic, query_near

PARTS = ("cores", "paths", "limits")
PATHS: dict[str, Callable[[np.ndarray], Any]] = {
    "array": ArrayOracle,
    "compact": CompactOracle.build,
    "search only": SearchOnly,
}
KS, THETAS = (3, 5, 10, 20, 40, 60), tuple(i / 10 for i in range(2, 10))
TRIALS = 540
TIE, SAME = 1e-7, 1e-6


def main(part: str | None = None) -> None:
    """Measure, and write results/agreement.json and docs/benchmarks/agreement.md; `part` measures one part anew."""
    data = {} if part is None else load("agreement")
    data["machine"] = machine()
    measures = {"cores": compare_cores, "paths": compare_paths, "limits": keep_limits}
    for name in PARTS if part is None else [part]:
        data[name] = measures[name]()
        save("agreement", data)
    render()


@contextmanager
def using(name: str) -> Iterator[None]:
    """Let the compiled core, or NumPy instead, do the work for a while."""
    with pytest.MonkeyPatch.context() as patch:
        cores.use(name, patch)
        yield


def compare_cores() -> dict[str, Any]:
    """The same instances with the compiled core and with NumPy instead: sets are allowed, and bounds hold for both."""
    invalid, instances, seconds = [], 0, dict.fromkeys(cores.NAMES, 0.0)
    worse, gaps = [], {name: [] for name in cores.NAMES}  # type: ignore[var-annotated]
    todo = [(shape, seed, sharpness) for shape in SHAPES for seed in (0, 1) for sharpness in (1, 12)]
    for shape, seed, sharpness in progress(todo, "cores"):
        rng = np.random.default_rng(seed)
        rows = SHAPES[shape](rng, 1500, 48)
        oracle, query = ArrayOracle(rows), query_near(rng, rows).astype(np.float32)
        for k in KS:
            for theta in THETAS:
                asked = {"k": k, "theta": theta, "sharpness": sharpness, "distinct": 0.95, "keep_best": sharpness > 1}
                found = {}
                for name in cores.NAMES:
                    with using(name):
                        started = time.perf_counter()
                        found[name] = select(oracle, query, **asked)
                        seconds[name] += time.perf_counter() - started
                    gaps[name].append(found[name].certificate.gap)
                    cosines = rows[found[name].ids] @ rows[found[name].ids].T
                    if np.triu(cosines, 1).max(initial=-1.0) > 0.95 + 1e-6:
                        invalid.append([shape, seed, k, theta, sharpness, name, "copies"])
                for one, other in (cores.NAMES, cores.NAMES[::-1]):
                    if found[one].certificate.bound < found[other].objective - SAME:
                        invalid.append([shape, seed, k, theta, sharpness, one, "bound"])
                worse.append(found["compiled"].objective - found["numpy"].objective)
                instances += 1
    return {
        "instances": instances, "invalid": invalid, "seconds": seconds,
        "worse": sum(gap > TIE for gap in worse), "better": sum(gap < -TIE for gap in worse),
        "largest": max(worse), "mean": float(np.mean(worse)),
        "gaps": {name: float(np.median(values)) for name, values in gaps.items()},
    }  # fmt: skip


def compare_paths() -> dict[str, Any]:
    """Random instances on every path, against every method on the array."""
    rng = np.random.default_rng(11)
    lost, apart, seconds = [], 0, dict.fromkeys(PATHS, 0.0)
    for _ in progress(list(range(TRIALS)), "paths"):
        shape = str(rng.choice(list(SHAPES), p=[0.25, 0.45, 0.15, 0.15]))
        n, d = int(math.exp(rng.uniform(math.log(600), math.log(40_000)))), int(rng.choice([16, 48, 96]))
        k, theta = int(math.exp(rng.uniform(math.log(2), math.log(61)))), float(rng.integers(1, 10)) / 10
        rows = SHAPES[shape](rng, n, d)
        query = query_near(rng, rows).astype(np.float32)
        found = {}
        for name, make in PATHS.items():
            oracle = make(rows)
            started = time.perf_counter()
            found[name] = select(oracle, query, k=k, theta=theta, sharpness=1).objective
            seconds[name] += time.perf_counter() - started
        apart += abs(found["array"] - found["compact"]) > SAME
        array = ArrayOracle(rows)
        for label, (method, options) in OTHERS.items():
            theirs = select(array, query, k=k, theta=theta, method=method, **options, sharpness=1).objective
            below = {path: ours - theirs for path, ours in found.items() if ours < theirs - TIE}
            lost += [[shape, n, d, k, theta, path, label, gap] for path, gap in below.items()]
    return {"trials": TRIALS, "lost": lost, "apart": apart, "seconds": seconds}


def keep_limits() -> list[list[Any]]:
    """What a time limit of 0.05 s is exceeded by, on a hard case: isotropic 40,000 × 128, k = 300, θ = 0.2."""
    rng = np.random.default_rng(0)
    rows = isotropic(rng, 40_000, 128)
    query = query_near(rng, rows).astype(np.float32)
    oracles = {name: make(rows) for name, make in PATHS.items()}
    limit, asked = 0.05, {"k": 300, "time_limit": 0.05}
    array = oracles["array"]
    cases: dict[str, Callable[[], Any]] = {
        f"certified, {name}": lambda oracle=oracle: select(oracle, query, theta=0.2, **asked, sharpness=1)
        for name, oracle in oracles.items()
    }
    methods = ("frank_wolfe", "greedy", "mmr", "dpp", "msd", "vrsd", "muss")
    for method in methods:
        cases[method] = lambda method=method: select(array, query, theta=0.2, method=method, **asked, sharpness=1)
    cases["keep"] = lambda: select(array, query, keep=0.9, **asked, sharpness=1)
    cases["auto"] = lambda: select(array, query, theta="auto", **asked, sharpness=1)
    cases["frontier"] = lambda: frontier(array, query, **asked, sharpness=1)
    cases["select_many, 8 queries"] = lambda: select_many(
        array, np.repeat(query[None], 8, 0), theta=0.2, **asked, sharpness=1
    )
    cases["prove=0.05"] = lambda: select(array, query, k=30, theta=0.5, prove=0.05, time_limit=0.3, sharpness=1)
    out = []
    for name, work in cases.items():
        allowed = {"select_many, 8 queries": 8 * limit, "prove=0.05": 0.3}.get(name, limit)
        row: list[Any] = [name, allowed]
        for name_of_core in cores.NAMES:
            with using(name_of_core):
                work()
                times = []
                for _ in range(3):
                    started = time.perf_counter()
                    work()
                    times.append(time.perf_counter() - started - allowed)
            row.append(max(times))
        print(row, flush=True)
        out.append(row)
    return out


def render() -> None:
    """Write the page from results/agreement.json."""
    data = load("agreement")
    info, same, paths = data["machine"], data["cores"], data["paths"]
    lost = "; ".join(
        f"{shape} {n:,} × {d}, k = {k}, θ = {theta}, {path}: {method} by {-gap:.1e}"
        for shape, n, d, k, theta, path, method, gap in paths["lost"]
    )
    limits = [[name, f"{allowed:g}", *(f"{over:+.3f}" for over in overs)] for name, allowed, *overs in data["limits"]]
    page(
        "agreement",
        f"""# What agrees with what

Written by `python -m benchmarks agreement`; do not edit. {info["cpu"]}, {info["cores"]} cores, Python {info["python"]},
NumPy {info["numpy"]}.

## With and without the compiled core

{same["instances"]} instances ({", ".join(SHAPES)} rows, 1,500 × 48; k ∈ {{{", ".join(map(str, KS))}}}, θ from 0.2 to
0.9, sharpness 1 and 12, `distinct=0.95`), solved by the compiled core and by NumPy instead of it. Sets that are not
allowed, and bounds below the other one's set: {len(same["invalid"])}. NumPy's set is worse in {same["worse"]} instances
(by {same["largest"]:.1e} at the most, {same["mean"]:.1e} in the mean) and better in {same["better"]}. The median gap is
{same["gaps"]["compiled"]:.1e} with the core and {same["gaps"]["numpy"]:.1e} with NumPy. The core took
{same["seconds"]["compiled"]:.1f} s, NumPy {same["seconds"]["numpy"]:.1f} s.

## On every path, against every method

{paths["trials"]} random instances (n from 600 to 40,000, d ∈ {{16, 48, 96}}, k from 2 to 60, θ from 0.1 to 0.9), each
on an array, on a compact oracle and through searches alone, against {len(OTHERS)} settings of the other methods on the
array. Lost (by more than 1e-7): {len(paths["lost"])} of {3 * paths["trials"] * len(OTHERS):,}. {lost}

Array and compact oracle differ by more than 1e-6 in {paths["apart"]} of {paths["trials"]}.

## Time limits

Isotropic rows, 40,000 × 128, k = 300, θ = 0.2 (`prove`: k = 30, θ = 0.5). Seconds beyond what is allowed, the largest
of three runs; a negative number means that it ended before.

{table(["", "allowed, s", *cores.NAMES], limits)}
""",
    )
