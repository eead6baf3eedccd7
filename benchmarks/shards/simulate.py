"""A round on many machines, from what was measured on one.

A round on S shards takes as long as its slowest part:

    driver(S) + network(S) + max over S shards of scan(n / S)

- scan: a straight line through the measured medians of single scans with one thread, times a draw from the measured
  spread of single scans around their median. The slowest of S draws counts, so that stragglers do.
- driver: measured for each S: as many questions to workers that answer at once, and the joining of their answers.
- network: one round trip, and all answers through one link of the driver; both are assumed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

TOTALS = (100_000_000, 1_000_000_000)
ROUND_TRIP_MS = 0.2
"""Assumed: between two machines of one data centre."""
LINK_BYTES_PER_MS = 10e9 / 8 / 1000
"""Assumed: 10 Gbit/s into the driver."""
_DRAWS = 4000


@dataclass(frozen=True)
class Scans:
    """What the measurements say of a scan: the line, and how single scans vary around it."""

    start: float
    row: float
    spread: np.ndarray

    def milliseconds(self, rows: float) -> float:
        """The time of a scan of so many rows with one thread."""
        return self.start + self.row * rows


def fit(scans: dict[str, Any]) -> Scans:
    """Fit the straight line, by relative errors."""
    sizes = np.array([float(size) for size in scans])
    medians = np.array([np.median(scan["ms"]) for scan in scans.values()])
    row, start = np.polyfit(sizes, medians, 1, w=1.0 / medians)
    spread = np.concatenate([np.array(scan["ms"]) / np.median(scan["ms"]) for scan in scans.values()])
    return Scans(max(0.0, float(start)), float(row), spread)


def simulate(data: dict[str, Any]) -> list[dict[str, Any]]:
    """Milliseconds of a round for each total and each number of shards."""
    scans, rng, cells = fit(data["scans"]["scans"]), np.random.default_rng(14), []
    dim = data["scans"]["dim"]
    for total in TOTALS:
        for shards, message in data["scans"]["messages"].items():
            count, rows = int(shards), total / int(shards)
            draws = rng.choice(scans.spread, size=(_DRAWS, count)).max(axis=1)
            slowest = scans.milliseconds(rows) * draws
            network = ROUND_TRIP_MS + count * message["answer"] / LINK_BYTES_PER_MS
            driver = data["drivers"][shards]["ms"]
            cells.append(
                {
                    "total": total,
                    "shards": count,
                    "rows": rows,
                    "codes_gb": rows * (dim + 8) / 1e9,
                    "rows_gb": rows * 4 * dim / 1e9,
                    "scan": scans.milliseconds(rows),
                    "slowest": float(np.median(slowest)),
                    "driver": driver,
                    "network": network,
                    "median": float(np.median(slowest) + driver + network),
                    "p95": float(np.quantile(slowest, 0.95) + driver + network),
                }
            )
    return cells
