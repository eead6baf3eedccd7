"""What a shard does without any cluster: scans, and the sizes of its messages."""

from __future__ import annotations

import os
import pickle
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from breadth import CompactOracle
from breadth.engines.ray.oracle import share_of_vectors
from tests.synthetic import clustered

DIM = 384
SIZES = (25_000, 100_000, 400_000, 1_000_000)
"""Rows of one shard."""
ROWS_ASKED = 64
"""What the default asks for in its first request, for k = 10 and 25."""
SHARDS = (16, 32, 64, 128, 256)
_QUERIES = 12
_BATCH = 16


def measure(rounds: int) -> dict[str, Any]:
    """All figures; scans use one thread."""
    os.environ["BREADTH_NUM_THREADS"] = "1"
    rng = np.random.default_rng(14)
    rows = clustered(rng, max(SIZES), DIM)
    queries = rows[rng.integers(len(rows), size=_QUERIES)].astype(np.float64)
    scans = [_scan(CompactOracle.build(rows[:size]), queries, rounds) for size in SIZES]
    return {
        "dim": DIM,
        "asked": ROWS_ASKED,
        "scans": dict(zip(map(str, SIZES), scans, strict=True)),
        "messages": {str(shards): _weigh(shards) for shards in SHARDS},
    }


def _scan(oracle: CompactOracle, queries: np.ndarray, rounds: int) -> dict[str, Any]:
    """Milliseconds of single searches, one by one, and of a batch for each of its directions."""
    oracle.top(queries[:1], ROWS_ASKED)
    alone = [_time(oracle.top, query[None], ROWS_ASKED) for _ in range(rounds) for query in queries]
    batch = np.resize(queries, (_BATCH, DIM))
    together = [_time(oracle.top, batch, ROWS_ASKED) / _BATCH for _ in range(rounds)]
    return {"ms": [round(1000 * one, 4) for one in alone], "batch_ms": 1000 * statistics.median(together)}


def _time(work: Callable[..., Any], *arguments: Any) -> float:
    started = time.perf_counter()
    work(*arguments)
    return time.perf_counter() - started


def _weigh(shards: int) -> dict[str, int]:
    """The bytes of a question and of an answer of one of so many shards."""
    sent = share_of_vectors(ROWS_ASKED, shards)
    question = (np.zeros((1, DIM)), ROWS_ASKED, sent)
    answer = (
        np.zeros((1, ROWS_ASKED), dtype=np.int64),
        np.zeros((1, ROWS_ASKED)),
        np.zeros((1, sent, DIM), dtype=np.float32),
    )
    return {"question": len(pickle.dumps(question, 5)), "answer": len(pickle.dumps(answer, 5)), "vectors": sent}
