"""Rows times directions, for the few thousand rows that a query holds in memory.

The core does it: a product of this size wakes the threads of BLAS, and these go on spinning for milliseconds beside the
scan that comes next.
"""

from __future__ import annotations

import numpy as np

from breadth.arrays import Array, Vector
from breadth.native import core


def multiply(rows: Array, directions: Array) -> Array:
    """rows (n, d) times one direction (d,) or the rows of several (b, d): (n,) or (n, b), in the rows' precision."""
    if rows.dtype != np.float32 or not rows.flags.c_contiguous:
        return np.asarray(rows @ directions.T.astype(rows.dtype, copy=False))
    several = np.ascontiguousarray(np.atleast_2d(directions), dtype=np.float32)
    out = np.empty((len(several), len(rows)), dtype=np.float32)
    core.scan(rows, None, several, out)
    answer: Array = out[0] if directions.ndim == 1 else out.T
    return answer


def multiply_exactly(rows: Array, direction: Vector) -> Vector:
    """rows (n, d) times a direction in float64, for a few rows. Copies of a row get the same number."""
    return np.asarray(np.einsum("ij,j->i", np.asarray(rows, dtype=np.float64), direction))
