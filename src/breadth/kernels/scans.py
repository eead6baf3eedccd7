"""Inner products of many rows with a few directions, in one pass over the rows. One thread; they release the GIL."""

from __future__ import annotations

import os

import numpy as np
from numba import float32, int8, int64, njit, types, void

_STEP = 256
"""Rows handled together, so that they are still in the cache for the next few directions."""


def _signatures() -> list[object]:
    """For int8 codes and float32 rows, writeable or not: a writeable array fits where a read-only one is declared."""
    directions = types.Array(float32, 2, "C", readonly=True)
    scales = types.Array(float32, 1, "C", readonly=True)
    out = types.Array(float32, 2, "A")
    return [void(types.Array(kind, 2, "C", readonly=True), scales, directions, out) for kind in (int8, float32)]


@njit(fastmath=True, nogil=True, cache=True)
def _one(rows, scales, w, out, i):
    total = np.float32(0.0)
    for j in range(rows.shape[1]):
        total += np.float32(rows[i, j]) * w[j]
    out[i] = total * scales[i]


@njit(fastmath=True, nogil=True, cache=True)
def _two(rows, scales, w0, w1, out0, out1, i):
    total0 = total1 = np.float32(0.0)
    for j in range(rows.shape[1]):
        number = np.float32(rows[i, j])
        total0 += number * w0[j]
        total1 += number * w1[j]
    out0[i] = total0 * scales[i]
    out1[i] = total1 * scales[i]


@njit(fastmath=True, nogil=True, cache=True)
def _four(rows, scales, w0, w1, w2, w3, out, i):
    """Rows i and i + 1 with four directions: every number that is loaded is used several times."""
    a0 = a1 = a2 = a3 = b0 = b1 = b2 = b3 = np.float32(0.0)
    for j in range(rows.shape[1]):
        a, b = np.float32(rows[i, j]), np.float32(rows[i + 1, j])
        a0 += a * w0[j]
        b0 += b * w0[j]
        a1 += a * w1[j]
        b1 += b * w1[j]
        a2 += a * w2[j]
        b2 += b * w2[j]
        a3 += a * w3[j]
        b3 += b * w3[j]
    scale = scales[i]
    out[0, i], out[1, i], out[2, i], out[3, i] = a0 * scale, a1 * scale, a2 * scale, a3 * scale
    scale = scales[i + 1]
    out[0, i + 1], out[1, i + 1], out[2, i + 1], out[3, i + 1] = b0 * scale, b1 * scale, b2 * scale, b3 * scale


@njit(_signatures(), fastmath=True, nogil=True, cache=True)
def score(rows, scales, directions, out):
    """out[b, i] = scales[i] · Σ_j rows[i, j] directions[b, j]"""
    count = directions.shape[0]
    for first in range(0, rows.shape[0], _STEP):
        last = min(rows.shape[0], first + _STEP)
        b = 0
        while b + 4 <= count:
            i = first
            while i + 2 <= last:
                _four(rows, scales, directions[b], directions[b + 1], directions[b + 2], directions[b + 3], out[b:], i)
                i += 2
            if i < last:
                for c in range(b, b + 4):
                    _one(rows, scales, directions[c], out[c], i)
            b += 4
        if b + 2 <= count:
            for i in range(first, last):
                _two(rows, scales, directions[b], directions[b + 1], out[b], out[b + 1], i)
            b += 2
        if b < count:
            for i in range(first, last):
                _one(rows, scales, directions[b], out[b], i)


_float_row = types.Array(float32, 1, "C", readonly=True)


@njit(
    int64(_float_row, _float_row, float32, float32, float32, types.Array(int64, 1, "C"), types.Array(float32, 1, "C")),
    nogil=True,
    cache=True,
)
def sift(scores, errors, length, rounding, least, positions, reaches):
    """Write the positions with scores + length · errors + rounding ≥ least, and that reach; how many there are."""
    count = 0
    for i in range(len(scores)):
        reach = length * errors[i] + rounding
        if scores[i] + reach >= least:
            positions[count] = i
            reaches[count] = reach
            count += 1
    return count


if hasattr(os, "pread"):
    _pread = types.ExternalFunction("pread", types.intp(types.int32, types.intp, types.uintp, int64))

    @njit(types.boolean(int64, types.Array(int64, 1, "A", readonly=True), int64, int64, int64), nogil=True, cache=True)
    def read_rows(file, ids, base, width, address):
        """Read rows of `width` bytes from a file into memory at an address; whether all of them were there."""
        for place in range(len(ids)):
            if _pread(file, address + place * width, width, base + ids[place] * width) != width:
                return False
        return True
else:
    read_rows = None  # type: ignore[assignment]
