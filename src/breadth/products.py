"""Rows times directions, for the few thousand rows that a query holds in memory.

Compiled where it can be: a product of this size wakes the threads of BLAS, and these go on spinning for milliseconds
beside the sweep that comes next.
"""

from __future__ import annotations

import numpy as np

from breadth import kernels
from breadth.problem import Array, Vector


def product(rows: Array, directions: Array) -> Array:
    """rows (n, d) times one direction (d,) or the rows of several (b, d): (n,) or (n, b), in the rows' precision."""
    fast = kernels.scan()
    answer: Array
    if fast is None or rows.dtype != np.float32 or not rows.flags.c_contiguous:
        answer = rows @ directions.T.astype(rows.dtype, copy=False)
        return answer
    several = np.ascontiguousarray(np.atleast_2d(directions), dtype=np.float32)
    out = np.empty((len(several), len(rows)), dtype=np.float32)
    fast.score(rows, np.ones(len(rows), dtype=np.float32), several, out)
    answer = out[0] if directions.ndim == 1 else out.T
    return answer


def combination(weights: Vector, rows: Array) -> Vector:
    """Σ_i weights_i rows_i in float64."""
    total: Vector = np.einsum("i,ij->j", weights, np.asarray(rows, dtype=np.float64))
    return total


def exactly(rows: Array, direction: Vector) -> Vector:
    """rows (n, d) times a direction in float64, for a few rows."""
    scores: Vector = np.einsum("ij,j->i", np.asarray(rows, dtype=np.float64), direction)
    return scores
