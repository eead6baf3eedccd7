"""Rows times directions, and times each other."""

from __future__ import annotations

import numpy as np
from numba import float32, float64, int64, njit, types, void

from breadth.kernels.compiled.signatures import GRAM, NUMBERS, ROWS, SET, VECTOR

ANY_ORDER = {"reassoc", "contract"}
"""Sums may be taken in any order; NaN stays NaN."""
NO_NAN = {"nnan", "nsz"}
"""The largest of many numbers is looked for side by side. None of them is NaN; -∞ is no exception."""
_FEW = 256
"""Rows up to which these loops multiply faster than BLAS, which takes its time to begin."""


@njit(void(ROWS, VECTOR, NUMBERS), fastmath=True, nogil=True, cache=True)
def _inner(rows, direction, out):
    for i in range(rows.shape[0]):
        total = 0.0
        for j in range(rows.shape[1]):
            total += rows[i, j] * direction[j]
        out[i] = total


@njit(
    [void(types.Array(kind, 2, "C", readonly=True), SET, VECTOR, NUMBERS) for kind in (float32, float64)],
    fastmath=True,
    nogil=True,
    cache=True,
)
def _inner_at(rows, where, direction, out):
    for i in range(len(where)):
        row = rows[where[i]]
        total = 0.0
        for j in range(len(row)):
            total += np.float64(row[j]) * direction[j]
        out[i] = total


def inner_at(rows, where, direction):
    out = np.empty(len(where))
    _inner_at(rows, where, direction, out)
    return out


@njit(NUMBERS(VECTOR, ROWS), nogil=True, cache=True)
def combine(weights, rows):
    total = np.zeros(rows.shape[1])
    for i in range(len(weights)):
        if weights[i] != 0.0:
            for j in range(rows.shape[1]):
                total[j] += weights[i] * rows[i, j]
    return total


def inner(rows, direction):
    out = np.empty(len(rows))
    _inner(rows, direction, out)
    return out


@njit(fastmath=ANY_ORDER, nogil=True, cache=True)
def _multiply_block(rows, r0, r1, r2, others, c0, c1, c2):
    """The inner products of three rows with three others: the numbers of one row are read once for three products."""
    t00 = t01 = t02 = t10 = t11 = t12 = t20 = t21 = t22 = rows.dtype.type(0.0)
    for j in range(rows.shape[1]):
        a0, a1, a2 = rows[r0, j], rows[r1, j], rows[r2, j]
        b0, b1, b2 = others[c0, j], others[c1, j], others[c2, j]
        t00 += a0 * b0
        t01 += a0 * b1
        t02 += a0 * b2
        t10 += a1 * b0
        t11 += a1 * b1
        t12 += a1 * b2
        t20 += a2 * b0
        t21 += a2 * b1
        t22 += a2 * b2
    return t00, t01, t02, t10, t11, t12, t20, t21, t22


@njit(nogil=True, cache=True)
def fill_few(rows, old, size, out):
    """Write the inner products of the rows from `old` on with all before `size`."""
    for r in range(old, size, 3):
        # Beyond the last row it is taken again.
        r1, r2 = min(r + 1, size - 1), min(r + 2, size - 1)
        for c in range(0, min(r + 3, size), 3):
            c1, c2 = min(c + 1, size - 1), min(c + 2, size - 1)
            (
                out[r, c], out[r, c1], out[r, c2], out[r1, c], out[r1, c1], out[r1, c2], out[r2, c], out[r2, c1],
                out[r2, c2],
            ) = _multiply_block(rows, r, r1, r2, rows, c, c1, c2)  # fmt: skip
    for i in range(old, size):
        for j in range(i):
            out[j, i] = out[i, j]


@njit(void(ROWS, int64, types.Array(float32, 2, "C")), nogil=True, cache=True)
def fill_gram(rows, old, gram):
    fill_few(rows, old, rows.shape[0], gram)


@njit(nogil=True, cache=True)
def multiply_with(rows, where, members):
    """The inner products of the rows at the places `where` with the members of a set."""
    count, k = len(where), len(members)
    out = np.empty((count, k), dtype=np.float32)
    for r in range(0, count, 3):
        r1, r2 = min(r + 1, count - 1), min(r + 2, count - 1)
        for c in range(0, k, 3):
            c1, c2 = min(c + 1, k - 1), min(c + 2, k - 1)
            (
                out[r, c], out[r, c1], out[r, c2], out[r1, c], out[r1, c1], out[r1, c2], out[r2, c], out[r2, c1],
                out[r2, c2],
            ) = _multiply_block(rows, where[r], where[r1], where[r2], members, c, c1, c2)  # fmt: skip
    return out


@njit(types.Array(float32, 2, "C")(GRAM), nogil=True, cache=True)
def multiply_few(rows):
    size = rows.shape[0]
    out = np.empty((size, size), dtype=np.float32)
    fill_few(rows, 0, size, out)
    return out


def multiply_pairs(rows):
    return multiply_few(rows) if len(rows) <= _FEW else rows @ rows.T
