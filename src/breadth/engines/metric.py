"""Inner products from what an engine measures.

Rows have unit length, so an engine that ranks by cosine or by Euclidean distance ranks as the inner product does. It is
asked with the unit vector u = w / ‖w‖, which ranks rows as w does:

    e·w = ‖w‖ · cos(e, u) = ‖w‖ · (1 - ‖e - u‖² / 2)

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

    def askable(self, directions: Array) -> Array:
        """The directions (b, d) as the engine is asked, in float32.

        For a zero vector all rows tie: any other vector may be asked instead.
        """
        if self is Metric.INNER:
            return np.ascontiguousarray(directions, dtype=np.float32)
        lengths = _lengths(directions)
        asked = np.asarray(directions, dtype=np.float64) / np.where(lengths > 0.0, lengths, 1.0)
        asked[lengths[:, 0] == 0.0, 0] = 1.0
        return np.ascontiguousarray(asked, dtype=np.float32)

    def inner(self, directions: Array, measured: Array) -> Vector:
        """The inner products (b, m), from what was measured (b, m) between what `askable` returned and rows."""
        values = np.asarray(measured, dtype=np.float64)
        if self is Metric.INNER:
            return values
        cosines = values if self is Metric.COSINE else 1.0 - values / 2.0
        return np.asarray(_lengths(directions) * cosines)


def _lengths(directions: Array) -> Vector:
    return np.asarray(np.linalg.norm(np.asarray(directions, dtype=np.float64), axis=1, keepdims=True))


def rescore(direction: Array, ids: Ids, rows: Array) -> tuple[Ids, Vector, Array]:
    """Rows with their inner products computed anew, largest first. What an engine measures can be rounded."""
    scores = np.asarray(rows, dtype=np.float64) @ np.asarray(direction, dtype=np.float64)
    order = np.argsort(-scores, kind="stable")
    return ids[order], scores[order], rows[order]


def unit_rows(rows: Array) -> Array:
    """Rows divided by their lengths."""
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0.0, lengths, 1.0), dtype=np.float32)
