"""`python -m benchmarks engines`: fill every engine, measure selections inside it, and write the page."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import asqa
from benchmarks.engines import page
from benchmarks.engines.measure import Collection, audit, measure
from benchmarks.engines.news import load_news, measure_news
from benchmarks.report import load, save
from benchmarks.serve.collection import Collection as JudgedCollection
from benchmarks.timing import machine, progress
from breadth import ArrayOracle
from breadth.engines.registry import ENGINES
from breadth.errors import InputError
from tests.engines.stores import STORES, Store
from tests.synthetic import clustered, query_near

ROWS, DIM, QUERIES = 100_000, 384, 20


def main(rounds: int, folder: Path, asqa_folder: Path | None, data: Path | None, again: list[str]) -> None:
    """Measure every store of `choose_stores`, or those named in `again`, one after the other.

    data    the folder with the judged news; without it, aspect recall is not measured
    """
    stores = {store.name: store for store in choose_stores()}
    unknown = [name for name in again if name not in stores]
    if unknown:
        raise InputError(f"--again must name stores, got {unknown[0]!r}; the stores are {', '.join(stores)}")
    found = _load_results()
    found |= {"machine": machine(), "rounds": rounds, "queries": QUERIES}
    collections = make_collections(asqa_folder)
    found["collections"] = {one.name: list(one.rows.shape) for one in collections}
    news = None if data is None else load_news(data, folder)
    if news is not None:
        found["news"] = measure_news(None, ArrayOracle(news.rows), news)
    for name in progress(again or list(stores), "engines"):
        found["stores"][name] = measure_store(stores[name], collections, news, rounds)
        save("engines", found)
    page.render()


def choose_stores() -> list[Store]:
    """The stores that are marked; of an engine without one, the first. `python -m benchmarks shards` has Ray."""
    chosen = []
    for engine in ENGINES:
        own = [store for store in STORES.values() if store.engine == engine and not store.enclosed]
        chosen += [store for store in own if store.measured] or own[:1]
    return chosen


def make_collections(asqa_folder: Path | None) -> list[Collection]:
    """Made-up rows in topics, and real passages."""
    rng = np.random.default_rng(14)
    rows = clustered(rng, ROWS, DIM)
    queries = np.array([query_near(rng, rows) for _ in range(QUERIES)])
    name, passages, questions = asqa.load(asqa_folder)
    return [
        Collection.build(f"{ROWS:,} clustered rows", rows, queries),
        Collection.build(name, passages, questions[:QUERIES]),
    ]


def measure_store(
    store: Store, collections: list[Collection], news: JudgedCollection | None, rounds: int
) -> dict[str, Any]:
    """The cells of one store on all collections."""
    found: dict[str, Any] = {"engine": store.engine, "cells": {}, "fill": {}}
    with tempfile.TemporaryDirectory(prefix="breadth-") as folder, store.started(Path(folder)) as server:
        for collection in collections:
            started = time.perf_counter()
            oracle = _fill(store, Path(folder), server, collection.rows)
            found["fill"][collection.name] = time.perf_counter() - started
            found["exact"] = bool(oracle.exact)
            cells = measure(store, oracle, collection, rounds)
            audit(oracle, collection, cells)
            found["cells"][collection.name] = cells
            _close(oracle)
        if news is not None:
            oracle = _fill(store, Path(folder), server, news.rows)
            found["news"] = measure_news(store, oracle, news)
            _close(oracle)
    return found


def _fill(store: Store, folder: Path, server: Any, rows: np.ndarray) -> Any:
    texts = store.keys[0] in ("text", "uuid") and [str(number) for number in range(len(rows))]
    more = {"keys": texts} if texts else {}
    return store.fill(store.place(folder, server), np.ascontiguousarray(rows, dtype=np.float32), **more)


def _close(oracle: Any) -> None:
    if hasattr(oracle, "close"):
        oracle.close()


def _load_results() -> dict[str, Any]:
    try:
        return load("engines")
    except FileNotFoundError:
        return {"stores": {}}
