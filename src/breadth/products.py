"""Rows times directions, for the few thousand rows that a query holds in memory.

The kernels do it: a product of this size wakes the threads of BLAS, and these go on spinning for milliseconds beside
the scan that comes next.
"""

from __future__ import annotations

import numpy as np

from breadth import kernels
from breadth.arrays import Array, Vector


def multiply(rows: Array, directions: Array) -> Array:
    """rows (n, d) times one direction (d,) or the rows of several (b, d): (n,) or (n, b), in the rows' precision."""
    if rows.dtype != np.float32 or not rows.flags.c_contiguous:
        return np.asarray(rows @ directions.T.astype(rows.dtype, copy=False))
    several = np.ascontiguousarray(np.atleast_2d(directions), dtype=np.float32)
    out = np.empty((len(several), len(rows)), dtype=np.float32)
    kernels.current().scan(rows, np.ones(len(rows), dtype=np.float32), several, out)
    answer: Array = out[0] if directions.ndim == 1 else out.T
    return answer


def multiply_exactly(rows: Array, direction: Vector) -> Vector:
    """rows (n, d) times a direction in float64, for a few rows."""
    return np.asarray(kernels.current().inner(np.ascontiguousarray(rows, dtype=np.float64), direction))
