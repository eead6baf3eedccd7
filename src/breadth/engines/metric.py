"""Inner products from what an engine measures.

Rows have unit length, so an engine that ranks by cosine or by Euclidean distance ranks as the inner product does:

    e·w = ‖w‖ · cos(e, w)               e·w = (‖w‖² + 1 - ‖e - w‖²) / 2

An engine that measures cosines need not hold unit rows: its rows can be divided by their lengths when they are read.
"""

from __future__ import annotations

from enum import Enum

import numpy as np

from breadth.arrays import Array, Ids, Vector


class Metric(Enum):
    """What an engine measures between a direction and a row."""

    INNER = "inner product"
    COSINE = "cosine"
    SQUARED = "squared Euclidean distance"

    def inner(self, directions: Array, measured: Array) -> Vector:
        """The inner products (b, m), from what was measured (b, m) between directions (b, d) and rows."""
        values = np.asarray(measured, dtype=np.float64)
        if self is Metric.INNER:
            return values
        squared = np.square(np.asarray(directions, dtype=np.float64)).sum(axis=1, keepdims=True)
        if self is Metric.COSINE:
            return np.asarray(np.sqrt(squared) * values)
        return np.asarray((squared + 1.0 - values) / 2.0)

    def askable(self, directions: Array) -> Array:
        """The directions (b, d) in float32, as the engine can be asked: a cosine with a zero vector is undefined.

        Any direction serves instead, since all rows tie for a zero vector; `inner` then gives 0 for all of them.
        """
        asked = np.array(directions, dtype=np.float32)
        if self is Metric.COSINE:
            asked[~asked.any(axis=1), 0] = 1.0
        return asked


def rescore(direction: Array, ids: Ids, rows: Array) -> tuple[Ids, Vector, Array]:
    """Rows with their inner products computed anew, largest first. What an engine measures can be rounded."""
    scores = np.asarray(rows, dtype=np.float64) @ np.asarray(direction, dtype=np.float64)
    order = np.argsort(-scores, kind="stable")
    return ids[order], scores[order], rows[order]


def unit_rows(rows: Array) -> Array:
    """Rows divided by their lengths."""
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)
