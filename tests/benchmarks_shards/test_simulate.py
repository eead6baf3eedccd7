"""The simulation of many machines: where nothing varies it is the formula, and stragglers make it slower."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.shards.simulate import LINK_BYTES_PER_MS, ROUND_TRIP_MS, TOTALS, fit, simulate


def make_data(spread: float = 0.0) -> dict:
    """Scans of 1 ms and 2 ms for each 100,000 rows."""
    factors = 1.0 + spread * np.array([-0.1, 0.0, 0.0, 0.0, 1.0])
    scans = {str(size): {"ms": ((1.0 + 2e-5 * size) * factors).tolist()} for size in (25_000, 100_000, 1_000_000)}
    return {
        "scans": {
            "dim": 384,
            "scans": scans,
            "messages": {"16": {"answer": 40_000}, "256": {"answer": 30_000}},
        },
        "drivers": {"16": {"ms": 5.0}, "256": {"ms": 40.0}},
    }


def test_the_line_is_found():
    assert fit(make_data()["scans"]["scans"]).milliseconds(5e6) == pytest.approx(101.0)


def test_without_spread_a_round_is_the_sum_of_its_parts():
    cells = simulate(make_data())
    assert [(cell["total"], cell["shards"]) for cell in cells] == [(n, s) for n in TOTALS for s in (16, 256)]
    cell = cells[1]
    network = ROUND_TRIP_MS + 256 * 30_000 / LINK_BYTES_PER_MS
    scan = 1.0 + 2e-5 * TOTALS[0] / 256
    assert cell["median"] == pytest.approx(scan + 40.0 + network)
    assert cell["p95"] == pytest.approx(cell["median"])


def test_more_shards_wait_for_slower_ones():
    few, many, *_ = simulate(make_data(spread=1.0))
    assert few["slowest"] / few["scan"] == pytest.approx(2.0, abs=0.05)
    assert many["slowest"] / many["scan"] == pytest.approx(2.0)
    assert many["slowest"] >= many["scan"]
