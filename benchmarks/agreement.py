"""Does everything agree? Kernels with each other, every path with the best method, clocks with their limits."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

import numpy as np

from benchmarks.certified import OTHERS
from benchmarks.report import load, page, save, table
from benchmarks.timing import machine, progress
from breadth import ArrayOracle, CompactOracle, frontier, kernels, select, select_many
from tests.oracles.test_wrappers import SearchOnly
from tests.synthetic import SHAPES, isotropic, query_near

PARTS = ("kernels", "paths", "limits")
PATHS: dict[str, Callable[[np.ndarray], Any]] = {
    "array": ArrayOracle,
    "compact": CompactOracle.build,
    "search only": SearchOnly,
}
KERNEL_KS, KERNEL_THETAS = (3, 5, 10, 20, 40, 60), tuple(i / 10 for i in range(2, 10))
TRIALS = 540
TIE, SAME = 1e-7, 1e-6


def main(part: str | None = None) -> None:
    """Measure, and write results/agreement.json and docs/benchmarks/agreement.md; `part` measures one part anew."""
    data = {} if part is None else load("agreement")
    data["machine"] = machine()
    measures = {"kernels": compare_kernels, "paths": compare_paths, "limits": keep_limits}
    for name in PARTS if part is None else [part]:
        data[name] = measures[name]()
        save("agreement", data)
    render()


@contextmanager
def using(name: str):  # type: ignore[no-untyped-def]
    """Use one implementation of the kernels for a while."""
    before = kernels.choose
    kernels.choose = lambda: name  # type: ignore[assignment]
    try:
        yield
    finally:
        kernels.choose = before


def compare_kernels() -> dict[str, Any]:
    """The same instances with numba's and with NumPy's kernels."""
    different, instances, seconds = [], 0, dict.fromkeys(kernels.NAMES, 0.0)
    largest = {"objective": 0.0, "bound": 0.0}
    todo = [(shape, seed) for shape in SHAPES for seed in (0, 1)]
    for shape, seed in progress(todo, "kernels"):
        rng = np.random.default_rng(seed)
        rows = SHAPES[shape](rng, 1500, 48)
        oracle, query = ArrayOracle(rows), query_near(rng, rows).astype(np.float32)
        for k in KERNEL_KS:
            for theta in KERNEL_THETAS:
                found = {}
                for name in kernels.NAMES:
                    with using(name):
                        started = time.perf_counter()
                        found[name] = select(oracle, query, k=k, theta=theta, sharpness=1)
                        seconds[name] += time.perf_counter() - started
                one, other = found.values()
                instances += 1
                gaps = {
                    "objective": abs(one.objective - other.objective),
                    "bound": abs(one.certificate.bound - other.certificate.bound),
                }
                largest = {what: max(most, gaps[what]) for what, most in largest.items()}
                different += [[shape, seed, k, theta, what, gap] for what, gap in gaps.items() if gap > SAME]
    return {"instances": instances, "different": different, "largest": largest, "seconds": seconds}


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
        for kernel in kernels.NAMES:
            with using(kernel):
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
    info, same, paths = data["machine"], data["kernels"], data["paths"]
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

## With and without numba

{same["instances"]} instances ({", ".join(SHAPES)} rows, 1,500 × 48;
k ∈ {{{", ".join(map(str, KERNEL_KS))}}}, θ from 0.2 to 0.9), solved with numba's and with NumPy's kernels.
Objectives differ by {same["largest"]["objective"]:.1e} at the most, bounds by {same["largest"]["bound"]:.1e} (more than
1e-6 in {len({tuple(case[:4]) for case in same["different"]})} instances): numba's single call for an array relaxes on
other rows than the steps do, and may prove the set optimal. numba took {same["seconds"]["numba"]:.1f} s,
NumPy {same["seconds"]["numpy"]:.1f} s.

## On every path, against every method

{paths["trials"]} random instances (n from 600 to 40,000, d ∈ {{16, 48, 96}}, k from 2 to 60, θ from 0.1 to 0.9), each
on an array, on a compact oracle and through searches alone, against {len(OTHERS)} settings of the other methods on the
array. Lost (by more than 1e-7): {len(paths["lost"])} of {3 * paths["trials"] * len(OTHERS):,}. {lost}

Array and compact oracle differ by more than 1e-6 in {paths["apart"]} of {paths["trials"]}.

## Time limits

Isotropic rows, 40,000 × 128, k = 300, θ = 0.2 (`prove`: k = 30, θ = 0.5). Seconds beyond what is allowed, the largest
of three runs; a negative number means that it ended before.

{table(["", "allowed, s", *kernels.NAMES], limits)}
""",
    )
