"""Recorded instances: what a commit found on 2,400 instances, so that the next solver can be held to it.

`python -m benchmarks.recorded record` writes results/recorded.json: for each instance the objective, the bound and
what was proved. `python -m benchmarks.recorded compare` solves the same instances again and lists every objective that
is lower, and what became of the gaps. The file in the repository was made on commit 87bd825.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import statistics
import time
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from breadth import ArrayOracle, CompactOracle, select
from tests.oracles.test_wrappers import SearchOnly
from tests.synthetic import SHAPES, isotropic, query_near, unit

FILE = Path(__file__).parent / "results" / "recorded.json"
INSTANCES = 2400
TIE = 1e-7
SIZES = (20, 60, 300, 1500, 6000, 40_000)
ORACLES: dict[str, Callable[[np.ndarray], Any]] = {
    "array": ArrayOracle,
    "compact": CompactOracle.build,
    "search only": SearchOnly,
}


def versions(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    """A sixth of the rows differ; the others are copies of them, one in three exact, the others nearly so."""
    base = isotropic(rng, max(2, n // 6), d)
    rows = base[rng.integers(len(base), size=n)]
    noise = rng.choice([0.0, 0.05, 0.25], size=n).astype(np.float32)
    return unit(rows + noise[:, None] * isotropic(rng, n, d)).astype(np.float32)


ALL_SHAPES = {**SHAPES, "versions": versions}


@lru_cache(maxsize=16)
def make_collection(shape: str, n: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng([seed, n, list(ALL_SHAPES).index(shape)])
    return np.ascontiguousarray(ALL_SHAPES[shape](rng, n, 24 if n < 1000 else 96), dtype=np.float32)


@lru_cache(maxsize=8)
def make_oracle(kind: str, shape: str, n: int, seed: int) -> Any:
    return ORACLES[kind](make_collection(shape, n, seed))


def make_constraints(rng: np.random.Generator, n: int, k: int) -> dict[str, Any]:
    """One to three constraints, drawn at random."""
    groups = rng.integers(max(2, n // 10), size=n)
    costs = rng.integers(1, 9, size=n).astype(float)
    some = rng.choice(n, size=min(4, n // 4), replace=False).tolist()
    choices: list[dict[str, Any]] = [
        {"distinct": float(rng.choice([0.5, 0.8, 0.95]))},
        {"groups": groups.tolist(), "per_group": int(rng.integers(1, 4))},
        {"pinned": some[:1]},
        {"excluded": some[1:]},
        {"on_topic": float(rng.choice([0.3, 0.8]))},
        {"keep_best": True},
        {"costs": costs.tolist(), "budget": float(4 * k)},
    ]
    picked = rng.choice(len(choices), size=int(rng.integers(1, 4)), replace=False)
    return {key: value for place in sorted(picked) for key, value in choices[place].items()}


def make_instance(number: int) -> tuple[str, tuple[str, str, int, int], np.ndarray, dict[str, Any]]:
    """The oracle's kind, its collection, the query and the arguments of `select`."""
    rng = np.random.default_rng([87, number])
    n = int(rng.choice(SIZES, p=[0.15, 0.15, 0.25, 0.2, 0.15, 0.1]))
    shape = str(rng.choice(list(ALL_SHAPES)))
    kind = str(rng.choice(list(ORACLES), p=[0.6, 0.2, 0.2]))
    seed = int(rng.integers(2))
    rows = make_collection(shape, n, seed)
    query = query_near(rng, rows).astype(np.float32)
    ks = [k for k in (2, 3, 5, 10, 25, 50, 100) if 2 * k <= n]
    k = int(rng.choice(ks))
    arguments: dict[str, Any] = {"k": k, "theta": float(rng.choice([0.1, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]))}
    mode = rng.random()
    if mode < 0.4:
        arguments["sharpness"] = 1
    elif mode < 0.65:
        arguments["sharpness"] = int(rng.choice([2, 8, 16]))
    if "sharpness" not in arguments:  # the default when it was recorded; θ = 1 was plain top-k
        plain = {"distinct": 1.0, "on_topic": 0.0, "keep_best": False}
        arguments |= plain if arguments["theta"] == 1.0 else {"distinct": 0.95}
    if rng.random() < 0.35:
        arguments |= make_constraints(rng, n, k)
    return kind, (shape, n, seed), query, arguments


def solve(number: int) -> list[Any]:
    """Objective, bound, labels (o: optimal, s: swap-optimal, e: exact) and the number of rows of an instance."""
    kind, collection, query, arguments = make_instance(number)
    oracle = make_oracle(kind, *collection)
    started = time.perf_counter()
    try:
        found = select(oracle, query, **arguments)
    except Exception as error:
        return [number, type(error).__name__, None, "", 0, 0.0]
    c = found.certificate
    assert c is not None
    labels = "o" * c.optimal + "s" * c.swap_optimal + "e" * c.exact
    seconds = round(time.perf_counter() - started, 4)
    return [number, round(found.objective, 10), round(c.bound, 10), labels, len(found.ids), seconds]


def solve_all(processes: int) -> list[list[Any]]:
    numbers = sorted(range(INSTANCES), key=lambda number: make_key(number))
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        return sorted(pool.imap_unordered(solve, numbers, chunksize=50))


def make_key(number: int) -> tuple[str, int, int]:
    return make_instance(number)[1]


def record(processes: int) -> None:
    lines = ",\n".join(json.dumps(row, separators=(",", ":")) for row in solve_all(processes))
    columns = '["number", "objective", "bound", "labels", "rows", "seconds"]'
    head = f'{{"made_on": "87bd825", "columns": {columns},\n"instances": [\n'
    FILE.write_text(head + lines + "\n]}\n", encoding="utf-8")


def compare(processes: int) -> dict[str, Any]:
    """Solve the recorded instances again; objectives that are lower, and gaps then and now."""
    before = json.loads(FILE.read_text(encoding="utf-8"))["instances"]
    now = solve_all(processes)
    worse, weaker, gaps, other, seconds = [], [], ([], []), [], [0.0, 0.0]  # type: ignore[var-annotated]
    for old, new in zip(before, now, strict=True):
        seconds[0], seconds[1] = seconds[0] + old[5], seconds[1] + new[5]
        if isinstance(old[1], str) or isinstance(new[1], str):
            if old[1] != new[1]:
                other.append((describe(old[0]), old[1], new[1]))
            continue
        if new[4] != old[4]:
            other.append((describe(old[0]), f"{old[4]} rows", f"{new[4]} rows"))
            if new[4] > old[4]:
                continue
        if new[1] < old[1] - TIE:
            worse.append((describe(old[0]), old[1], new[1], new[1] - old[1]))
        if not set(new[3]) >= set(old[3]) - {"o"}:
            weaker.append((describe(old[0]), old[3], new[3]))
        gaps[0].append(max(old[2] - old[1], 0.0))
        gaps[1].append(max(new[2] - new[1], 0.0))
    wider = sum(n > 1.1 * o + TIE for o, n in zip(*gaps, strict=True))
    return {
        "instances": len(now), "worse": worse, "weaker labels": weaker, "other": other, "seconds": seconds,
        "median gap": [statistics.median(g) for g in gaps], "mean gap": [statistics.mean(g) for g in gaps],
        "wider": wider, "narrower": sum(1.1 * n + TIE < o for o, n in zip(*gaps, strict=True)),
        "optimal": [sum("o" in row[3] for row in rows) for rows in (before, now)],
    }  # fmt: skip


def describe(number: int) -> str:
    kind, (shape, n, _), _, arguments = make_instance(number)
    shown = {key: value for key, value in arguments.items() if not isinstance(value, list)}
    more = [key for key, value in arguments.items() if isinstance(value, list)]
    return f"#{number} {kind} {shape} {n} {shown} {' '.join(more)}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.recorded")
    parser.add_argument("what", choices=["record", "compare"])
    parser.add_argument("--processes", type=int, default=2)
    arguments = parser.parse_args()
    if arguments.what == "record":
        record(arguments.processes)
        return
    for key, value in compare(arguments.processes).items():
        print(f"{key}: {len(value) if isinstance(value, list) and value and isinstance(value[0], tuple) else value}")
        for line in value if isinstance(value, list) and value and isinstance(value[0], tuple) else ():
            print("   ", *line)


if __name__ == "__main__":
    main()
