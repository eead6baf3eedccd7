"""Documents that come one by one: what each costs, at first and after many, and how fast searches are afterwards."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.attack.collection import DIM, make_documents, make_rows
from breadth.index import Index

ADDS, WINDOW, SEARCHES = 100_000, 10_000, 60


def add_one_by_one(folder: Path) -> dict[str, Any]:
    """Add one document at a time, each in a transaction of its own that is on the disk when `add` returns."""
    rng = np.random.default_rng(6)
    rows = make_rows(rng, ADDS)
    before = _time_sync(folder)
    with Index.create(folder / "single.index", dim=DIM) as single:
        seconds = np.empty(ADDS)
        for number, document in enumerate(make_documents(ADDS)):
            started = time.perf_counter()
            single.add([document], vectors=rows[number : number + 1])
            seconds[number] = time.perf_counter() - started
        after = _time_sync(folder)
        with Index.create(folder / "bulk.index", dim=DIM) as bulk:
            started = time.perf_counter()
            bulk.add(make_documents(ADDS), vectors=rows)
            bulk_seconds = time.perf_counter() - started
            searches = _compare(single, bulk, rows[rng.integers(ADDS, size=SEARCHES)])
        size = sum(file.stat().st_size for file in (folder / "single.index").rglob("*") if file.is_file())
        return {
            "adds": ADDS,
            "window": WINDOW,
            "first": _summarise(seconds[:WINDOW]),
            "last": _summarise(seconds[-WINDOW:]),
            "over_100_ms": int((seconds > 0.1).sum()),
            "longest_ms": 1000 * float(seconds.max()),
            "sync_ms": [before, after],
            "files": len(list((folder / "single.index" / "segments").iterdir())),
            "megabytes": size / 2**20,
            "bulk_seconds": bulk_seconds,
            "searches": searches,
        }


def _compare(single: Index, bulk: Index, queries: Any) -> dict[str, Any]:
    """The time of a search in both indexes, in turn."""
    found: dict[str, Any] = {}
    for name, where in (("no filter", None), ("a tenth of the documents", {"tenant": "t3"})):
        times: dict[str, list[float]] = {"single": [], "bulk": []}
        for query in queries:
            for label, index in (("single", single), ("bulk", bulk)):
                started = time.perf_counter()
                index.search(query, k=10, where=where)
                times[label].append(time.perf_counter() - started)
        one, other = (1000 * float(np.median(times[label][5:])) for label in ("single", "bulk"))
        found[name] = {"single_ms": one, "bulk_ms": other, "ratio": one / other}
    return found


def _summarise(seconds: Any) -> dict[str, float]:
    return {
        "mean_ms": 1000 * float(seconds.mean()),
        "median_ms": 1000 * float(np.median(seconds)),
        "p999_ms": 1000 * float(np.quantile(seconds, 0.999)),
        "longest_ms": 1000 * float(seconds.max()),
    }


def _time_sync(folder: Path) -> float:
    """The milliseconds that writing 4 KiB to the disk takes: no add can be faster."""
    file = os.open(folder / "probe", os.O_RDWR | os.O_CREAT)
    started = time.perf_counter()
    for _ in range(200):
        os.write(file, bytes(4096))
        os.fsync(file)
    os.close(file)
    return 1000 * (time.perf_counter() - started) / 200
