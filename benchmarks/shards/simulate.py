"""A round on many machines, from what was measured on one.

A round on S shards takes as long as its slowest part:

    driver(S) + network(S) + max over S shards of scan(n / S) + join(S)

- scan: a straight line through the measured medians of single scans with one thread, times a draw from the measured
  spread of single scans around their median. The slowest of S draws counts, so that stragglers do.
- driver: the measured overhead of Ray for 1, 2 and 4 workers, continued as a straight line.
- join: measured for S up to 256.
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
class Model:
    """What the measurements say."""

    scan_start: float
    scan_row: float
    spread: np.ndarray
    driver_start: float
    driver_shard: float

    def scan(self, rows: float) -> float:
        """Milliseconds of a scan of so many rows with one thread."""
        return self.scan_start + self.scan_row * rows

    def driver(self, shards: int) -> float:
        """Milliseconds of the driver for so many shards."""
        return self.driver_start + self.driver_shard * shards


def fit(data: dict[str, Any]) -> Model:
    """Fit the straight lines."""
    scans = data["scans"]["scans"]
    sizes = np.array([float(size) for size in scans])
    medians = np.array([np.median(scan["ms"]) for scan in scans.values()])
    row, start = np.polyfit(sizes, medians, 1, w=1.0 / medians)
    spread = np.concatenate([np.array(scan["ms"]) / np.median(scan["ms"]) for scan in scans.values()])
    small = data["rounds"]["ray"]
    workers = np.array([float(count) for count in small])
    overhead = np.array([cell["small"]["ms"] for cell in small.values()])
    shard, first = np.polyfit(workers, overhead, 1)
    return Model(max(0.0, float(start)), float(row), spread, max(0.0, float(first)), max(0.0, float(shard)))


def simulate(data: dict[str, Any]) -> list[dict[str, Any]]:
    """Milliseconds of a round for each total and each number of shards."""
    model, rng, cells = fit(data), np.random.default_rng(14), []
    dim = data["scans"]["dim"]
    for total in TOTALS:
        for shards, message in data["scans"]["messages"].items():
            count, rows = int(shards), total / int(shards)
            draws = rng.choice(model.spread, size=(_DRAWS, count)).max(axis=1)
            scans = model.scan(rows) * draws
            network = ROUND_TRIP_MS + count * message["answer"] / LINK_BYTES_PER_MS
            rest = model.driver(count) + network + data["scans"]["joins"][shards]
            cells.append(
                {
                    "total": total,
                    "shards": count,
                    "rows": rows,
                    "codes_gb": rows * (dim + 8) / 1e9,
                    "rows_gb": rows * 4 * dim / 1e9,
                    "scan": model.scan(rows),
                    "slowest": float(np.median(scans)),
                    "driver": model.driver(count) + data["scans"]["joins"][shards],
                    "network": network,
                    "median": float(np.median(scans) + rest),
                    "p95": float(np.quantile(scans, 0.95) + rest),
                    "bytes": count * message["answer"],
                }
            )
    return cells
