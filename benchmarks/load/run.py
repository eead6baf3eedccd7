"""`python -m benchmarks load [--part NAME]`: put the service under load, and write docs/benchmarks/load.md.

A new part is a function that gets the paths of the index and of the queries and returns its figures, a line in `PARTS`,
and a section of the page, in `page.py`. All is bounded: the whole takes about ten minutes.
"""

from __future__ import annotations

import json
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.load.collection import prepare
from benchmarks.load.page import render
from benchmarks.load.schema import ask_by_schema
from benchmarks.load.server import Loaded, loaded, read_figures
from benchmarks.report import RESULTS, load, save
from benchmarks.timing import machine, progress
from breadth.index import Index
from tests.service.passages import documents
from tests.service.running import process

CLIENTS = (1, 4, 16, 32, 64)
BATCHING = {"with batching": (), "without batching": ("--together", "1", "--window", "0")}
WORKERS = (1, 2)
_ROUNDS = 3
_SECONDS = 3.0
_MANY = 10_000
_STOPS = 5
_EXAMPLES = 300

Figures = dict[str, Any]


def measure_clients(index: Path, queries: Path) -> Figures:
    """Throughput and latency with and without batching, by the number of clients."""
    seen: dict[str, dict[str, list[Figures]]] = {name: {str(count): [] for count in CLIENTS} for name in BATCHING}
    for name, options in BATCHING.items():
        with loaded(index, queries, *options) as service:
            for _ in range(_ROUNDS):
                for count in CLIENTS:
                    seen[name][str(count)].append(service.ask(count, "--seconds", str(_SECONDS)))
    return {name: {count: _middle(runs) for count, runs in by_count.items()} for name, by_count in seen.items()} | {
        "ratio": _compare(seen["with batching"], "32", "1")
    }


def measure_workers(index: Path, queries: Path) -> Figures:
    """The same with several processes."""
    figures: Figures = {}
    for workers in WORKERS:
        with loaded(index, queries, "--workers", str(workers)) as service:
            seen: dict[str, list[Figures]] = {str(count): [] for count in (1, 32, 64)}
            for _ in range(_ROUNDS):
                for count in seen:
                    seen[count].append(service.ask(int(count), "--seconds", str(_SECONDS)))
            figures[str(workers)] = {
                "clients": {count: _middle(runs) for count, runs in seen.items()},
                "ratio": _compare(seen, "32", "1"),
                "megabytes": service.megabytes(),
            }
    return figures


def measure_memory(index: Path, queries: Path) -> Figures:
    """Memory before and after many requests."""
    with loaded(index, queries) as service:
        service.ask(32, "--most", str(_MANY // 10))
        sizes = [service.megabytes()]
        outcomes: Counter[str] = Counter()
        for _ in range(4):
            outcomes += Counter(service.ask(32, "--most", str(_MANY // 4))["outcomes"])
            sizes.append(service.megabytes())
    return {"requests": _MANY, "megabytes": sizes, "outcomes": dict(outcomes)}


def stop_under_load(index: Path, queries: Path) -> Figures:
    """SIGTERM while clients ask: how many requests were lost."""
    figures: Figures = {}
    for workers in WORKERS:
        totals = {"stops": 0, "answered": 0, "lost": 0, "refused": 0, "other": 0, "longest_seconds": 0.0}
        for _ in range(_STOPS):
            with loaded(index, queries, "--workers", str(workers)) as service:
                seen, seconds = _stop(service)
            totals["stops"] += 1
            totals["longest_seconds"] = max(totals["longest_seconds"], seconds)
            for name, count in seen["outcomes"].items():
                known = {"200": "answered", "lost": "lost", "refused": "refused"}.get(name, "other")
                totals[known] += count
        figures[str(workers)] = totals
    return figures


def _stop(service: Loaded) -> tuple[Figures, float]:
    clients = service.start_clients(32)
    time.sleep(2.0)
    started = time.perf_counter()
    code = service.server.stop()
    seconds = time.perf_counter() - started
    assert code == 0
    return read_figures(clients), seconds


def ask_all(index: Path, queries: Path) -> Figures:
    """What schemathesis finds on an index of texts."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with Index.create(folder / "medical.index") as made:
            made.add(documents())
        with process(folder / "log", str(folder / "medical.index")) as server:
            known = {"name": "medical", "identity": "asthma/treatment"}
            return ask_by_schema(server.url, _EXAMPLES, folder, known, 600.0)


PARTS: dict[str, Callable[[Path, Path], Figures]] = {
    "clients": measure_clients,
    "workers": measure_workers,
    "memory": measure_memory,
    "stop": stop_under_load,
    "schema": ask_all,
}


def _middle(runs: list[Figures]) -> Figures:
    """The median of each figure, and all outcomes."""
    outcomes: dict[str, int] = {}
    for run in runs:
        outcomes = {
            name: outcomes.get(name, 0) + run["outcomes"].get(name, 0) for name in {**outcomes, **run["outcomes"]}
        }
    names = ("per_second", "p50_ms", "p99_ms", "processor_ms")
    return {name: statistics.median(run[name] for run in runs) for name in names} | {"outcomes": dict(outcomes)}


def _compare(seen: dict[str, list[Figures]], many: str, few: str) -> Figures:
    """The throughput with many clients over that with few in the same round: the median, the lowest, the highest."""
    ratios = sorted(a["per_second"] / b["per_second"] for a, b in zip(seen[many], seen[few], strict=True))
    return {"median": statistics.median(ratios), "low": ratios[0], "high": ratios[-1]}


def main(folder: Path, part: str | None) -> None:
    """Measure all parts, or one; write the results after each."""
    index, queries = prepare(folder)
    data = load("load") if (RESULTS / "load.json").exists() else {}
    data["machine"] = machine()
    for name in progress(list(PARTS) if part is None else [part], "load"):
        data[name] = PARTS[name](index, queries)
        save("load", data)
        print(json.dumps({name: data[name]}))
        render()
