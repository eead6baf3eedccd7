"""Rounds of a cluster on this machine: `python -m benchmarks.shards.workers KIND WORKERS ROUNDS`, in an enclosure.

A *round* puts one search to all shards and joins their answers. On shards of 2,000 rows a scan takes next to nothing,
so a round there is the overhead of the cluster; on 400,000 rows in all it is what a user sees.

`echo` asks as many questions as there would be shards of four workers that answer at once with as many bytes: this is
what the driver needs, and more than it needs, because these workers share its cores.
"""

from __future__ import annotations

import json
import logging
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import breadth
from breadth.engines.ray.oracle import share_of_vectors
from breadth.engines.ray.shard import Shard
from breadth.engines.ray.source import Part
from breadth.oracles.joining import Numbering, join_top
from tests.synthetic import clustered

DIM, SMALL, LARGE = 384, 2_000, 400_000
ASKED = 64
_QUERIES = 40
_WARM = 10
_ECHOES = 4


def main(kind: str, workers: int, rounds: int) -> None:
    """Measure one kind of cluster with so many workers, and print the figures as JSON."""
    found = _measure_driver(workers, rounds) if kind == "echo" else _measure_shards(kind, workers, rounds)
    sys.stdout.write("\n" + json.dumps(found) + "\n")


def _measure_shards(kind: str, workers: int, rounds: int) -> dict[str, Any]:
    rng = np.random.default_rng(14)
    rows = clustered(rng, LARGE, DIM)
    queries = rows[rng.integers(len(rows), size=_QUERIES)].astype(np.float64)
    found: dict[str, Any] = {}
    with KINDS[kind](workers) as open_shards:
        for name, part in (("small", rows[: SMALL * workers]), ("large", rows)):
            ask = open_shards(part)
            found[name] = _measure(ask, queries, rounds)
    return found


def _measure(ask: Callable[[np.ndarray], Any], queries: np.ndarray, rounds: int) -> dict[str, float]:
    """Milliseconds of a round: median, and the 95th percentile."""
    for query in queries[:_WARM]:
        ask(query[None])
    times = []
    for _ in range(rounds):
        for query in queries:
            started = time.perf_counter()
            ask(query[None])
            times.append(1000 * (time.perf_counter() - started))
    return {"ms": statistics.median(times), "p95": float(np.quantile(times, 0.95))}


@contextmanager
def _alone(workers: int) -> Iterator[Callable[[np.ndarray], Any]]:
    """No cluster: one oracle in this process, with as many threads as there would be workers."""
    os.environ["BREADTH_NUM_THREADS"] = str(workers)

    def open_shards(rows: np.ndarray) -> Any:
        oracle = breadth.CompactOracle.build(rows)

        def ask(directions: np.ndarray) -> Any:
            ids, _ = oracle.top(directions, ASKED)
            return oracle.rows(ids[0])

        return ask

    yield open_shards


class Echo:
    """A worker that answers every search at once, with as many bytes as a shard would."""

    def __init__(self, shards: int) -> None:
        rng, sent = np.random.default_rng(14), share_of_vectors(ASKED, shards)
        scores = -np.sort(-rng.random((1, ASKED)), axis=1)
        rows = rng.random((1, sent, DIM), dtype=np.float32)
        self._answer = rng.integers(1_000_000, size=(1, ASKED)), scores, rows

    def top_rows(self, directions: np.ndarray, m: int, most: int) -> Any:
        return self._answer


def _measure_driver(shards: int, rounds: int) -> dict[str, Any]:
    """Milliseconds that the driver needs to ask so many shards, to hear them and to join their answers."""
    with _started_ray(_ECHOES) as ray:
        echoes = [ray.remote(Echo).options(num_cpus=0.5).remote(shards) for _ in range(_ECHOES)]
        numbering, most = Numbering.of([1_000_000] * shards), share_of_vectors(ASKED, shards)

        def ask(directions: np.ndarray) -> Any:
            asked = [echoes[i % _ECHOES].top_rows.remote(directions, ASKED, most) for i in range(shards)]
            return join_top([answer[:2] for answer in ray.get(asked)], numbering, ASKED)

        return _measure(ask, np.random.default_rng(14).random((_QUERIES, DIM)), rounds)


@contextmanager
def _started_ray(cpus: int) -> Iterator[Any]:
    import ray

    with tempfile.TemporaryDirectory() as folder:
        ray.init(
            num_cpus=cpus, include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR,
            object_store_memory=2 << 30, _temp_dir=folder,
        )  # fmt: skip
        try:
            yield ray
        finally:
            ray.shutdown()


@contextmanager
def _ray(workers: int) -> Iterator[Callable[[np.ndarray], Any]]:
    with _started_ray(workers):
        opened: list[Any] = []

        def open_shards(rows: np.ndarray) -> Any:
            for oracle in opened:
                oracle.close()
            opened.append(breadth.oracles.ray(rows, shards=workers))
            return lambda directions: opened[-1].top_rows(directions, ASKED)

        yield open_shards


@contextmanager
def _dask(workers: int) -> Iterator[Callable[[np.ndarray], Any]]:
    """Dask's actors; its tasks take several times as long."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=workers, threads_per_worker=1, host="127.0.0.1", dashboard_address=None, silence_logs=50
        ) as cluster,
        Client(cluster) as client,
    ):

        def open_shards(rows: np.ndarray) -> Any:
            parts = np.array_split(rows, workers)
            started = [client.submit(Shard, Part(0, len(p)), client.scatter(p), 1, actor=True) for p in parts]
            shards = [one.result() for one in started]
            numbering, most = Numbering.of([len(part) for part in parts]), share_of_vectors(ASKED, workers)

            def ask(directions: np.ndarray) -> Any:
                waiting = [shard.top_rows(directions, ASKED, most) for shard in shards]
                return join_top([one.result()[:2] for one in waiting], numbering, ASKED)

            return ask

        yield open_shards


KINDS = {"alone": _alone, "ray": _ray, "dask": _dask}

if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
