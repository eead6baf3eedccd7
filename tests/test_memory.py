"""No copy of E is made anywhere: beyond E, memory is O(n·k) for DPP and O(n) for the rest."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

import breadth
from breadth import ArrayOracle
from tests.synthetic import clustered, query_near

N, D, K = 100_000, 128, 20
SMALL = 8 << 20  # blocks, pools, gathered rows: does not grow with n


@pytest.fixture(scope="module")
def E():
    return clustered(np.random.default_rng(1), N, D)


def peak(work):
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("method", [m for m in breadth.methods() if m != "exact"])
def test_memory_beyond_the_array(E, method):
    # MUSS fetches one cluster at a time and a sample of the rows; both are parts of E, set by its options.
    options = {"clusters": 20, "chosen_clusters": 5} if method == "muss" else {}
    oracle, query = ArrayOracle(E), query_near(np.random.default_rng(2), E)
    used = peak(lambda: breadth.select(oracle, query, k=K, theta=0.6, method=method, **options, sharpness=1))
    per_row = 4 * K + 40 if method == "dpp" else 40 + (16 * 4 + 40 if method == "muss" else 0)
    assert used < per_row * N + SMALL, f"{used / N:.0f} bytes a row"
    assert used < E.nbytes / 2


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_checking_the_rows_makes_no_copy(E, dtype):
    array = E.astype(dtype)
    assert peak(lambda: ArrayOracle(array)) < SMALL
