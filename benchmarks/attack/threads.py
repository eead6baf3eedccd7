"""Many threads search one index: is the throughput that of the cores, and does anything freeze or fail?

Both run in a process of their own, so that a freeze can be seen from outside, with one core for each search.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.attack.collection import build, make_documents, make_rows
from breadth.index import Index

ROWS, SEARCHES, ROUNDS = 200_000, 150, 5
SOAK_THREADS, SOAK_SEARCHES = 8, 1000
FILTERS: dict[str, dict[str, Any] | None] = {
    "no filter": None,
    "half of the documents": {"year": {"$gte": 2013}},
    "a tenth of them": {"tenant": "t3"},
}
_LIMIT = 1800.0


def throughput(folder: Path) -> dict[str, Any]:
    """Searches in a second with one, two and eight threads."""
    return _run("throughput", folder)


def soak(folder: Path) -> dict[str, Any]:
    """Eight threads of searches beside a writer and threads that call len, get, lookup and documents."""
    return _run("soak", folder)


def _run(name: str, folder: Path) -> dict[str, Any]:
    """Run a part in a new process. One that freezes is ended and reported."""
    environment = {**os.environ, "BREADTH_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "benchmarks.attack.threads", name, str(folder)]
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=_LIMIT, check=True)
    except subprocess.TimeoutExpired:
        return {"frozen": 1, "after_seconds": _LIMIT}
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def _measure_throughput(folder: Path) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    rows = make_rows(rng, ROWS)
    build(folder / "threads.index", rows)
    queries = rows[rng.integers(ROWS, size=400)]
    figures: dict[str, Any] = {"rows": ROWS, "searches": SEARCHES, "rounds": ROUNDS, "filters": {}}
    with Index.open(folder / "threads.index") as index:
        figures["machine"] = _measure_machine(index, queries[:40])
        for name, where in FILTERS.items():
            _search_at_once(index, queries, where, 1, 10)
            rates: dict[int, list[float]] = {1: [], 2: [], 8: []}
            for _ in range(ROUNDS):
                for count, seen in rates.items():
                    seen.append(_search_at_once(index, queries, where, count, SEARCHES // count))
            ratios = np.array(rates[2]) / np.array(rates[1])
            figures["filters"][name] = {
                "rates": {count: float(np.median(seen)) for count, seen in rates.items()},
                "ratio": float(np.median(ratios)),
                "low": float(ratios.min()),
                "high": float(ratios.max()),
            }
    return figures


def _measure_machine(index: Index, queries: Any) -> float:
    """What two threads gain over one if they do nothing but scan the codes, without Python's lock."""
    oracle = index.oracle()
    out = [np.empty((1, ROWS), dtype=np.float32) for _ in range(2)]

    def scan(own: int) -> None:
        part = oracle._parts[0]
        for query in queries:
            part.score(slice(0, ROWS), query[None], out[own])

    ratios = []
    for _ in range(ROUNDS):
        alone = _time_threads([scan])
        ratios.append(2.0 * alone / _time_threads([scan, scan]))
    return float(np.median(ratios))


def _time_threads(works: list[Callable[[int], None]]) -> float:
    running = [threading.Thread(target=work, args=(own,)) for own, work in enumerate(works)]
    started = time.perf_counter()
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    return time.perf_counter() - started


def _search_at_once(index: Index, queries: Any, where: Any, threads: int, each: int) -> float:
    """Searches in a second if so many threads make so many of them each."""

    def work(own: int) -> None:
        for number in range(each):
            index.search(queries[(own * each + number) % len(queries)], k=10, where=where)

    return threads * each / _time_threads([work] * threads)


class _Soak:
    """Threads that work until the searches are done, what they did, and how long any of them was stuck."""

    def __init__(self) -> None:
        self.stop = threading.Event()
        self.errors: list[str] = []
        self.calls: dict[str, int] = {}
        self.longest: dict[str, float] = {}
        self._mutex = threading.Lock()

    def repeat(self, name: str, work: Callable[[int], Any], most: int | None = None, pause: float = 0.0) -> Any:
        """A thread that calls `work` again and again, so many times or until the end."""

        def run() -> None:
            count, longest = 0, 0.0
            while (most is None and not self.stop.is_set()) or (most is not None and count < most):
                started = time.perf_counter()
                try:
                    work(count)
                except Exception as error:  # whatever it is, it counts
                    self.errors.append(f"{name}: {error!r}")
                longest = max(longest, time.perf_counter() - started)
                count += 1
                time.sleep(pause)
            with self._mutex:
                self.calls[name] = self.calls.get(name, 0) + count
                self.longest[name] = max(self.longest.get(name, 0.0), longest)

        return threading.Thread(target=run)


def _measure_soak(folder: Path) -> dict[str, Any]:
    rng = np.random.default_rng(1)
    rows = make_rows(rng, 20_000)
    build(folder / "soak.index", rows)
    fresh = make_rows(rng, 4000)
    more = list(make_documents(4000, start=20_000))
    state = _Soak()
    with Index.open(folder / "soak.index") as index:

        def search(count: int) -> None:
            where = list(FILTERS.values())[count % 3]
            found = index.search(rows[(count * 37) % len(rows)], k=10, where=where)
            assert len(found) == 10

        def write(count: int) -> None:
            place = (count * 5) % 3990
            if count % 7 == 6:
                index.delete([document.id for document in more[place : place + 5]])
            elif count % 40 == 39:
                index.optimize()
            else:
                index.update(more[place : place + 5], vectors=fresh[place : place + 5])

        def read(count: int) -> None:
            index.documents(index.oracle().numbers[:3])

        searching = [state.repeat("search", search, SOAK_SEARCHES) for _ in range(SOAK_THREADS)]
        beside = [
            state.repeat("write", write, pause=0.01),
            state.repeat("len", lambda count: len(index), pause=0.001),
            state.repeat("get", lambda count: index.get(f"d{count % 20_000}"), pause=0.001),
            state.repeat("lookup", lambda count: index.lookup("kidney bone", 3), pause=0.01),
            state.repeat("documents", read, pause=0.005),
        ]
        started = time.perf_counter()
        for thread in (*searching, *beside):
            thread.start()
        for thread in searching:
            thread.join()
        seconds = time.perf_counter() - started
        state.stop.set()
        for thread in beside:
            thread.join()
        whole = index.check().ok
    return {
        "frozen": 0,
        "threads": SOAK_THREADS,
        "searches": SOAK_THREADS * SOAK_SEARCHES,
        "rows": len(rows),
        "errors": len(state.errors),
        "examples": state.errors[:3],
        "calls": state.calls,
        "longest_seconds": state.longest,
        "seconds": seconds,
        "whole": whole,
    }


if __name__ == "__main__":
    parts = {"throughput": _measure_throughput, "soak": _measure_soak}
    print(json.dumps(parts[sys.argv[1]](Path(sys.argv[2]))))
