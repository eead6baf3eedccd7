"""Scan the rows of a collection, and read some of them."""

from __future__ import annotations

import os

import numpy as np
from numba import boolean, float32, int8, int64, njit, types, void

from breadth.kernels.compiled.signatures import GRAM, PLACES, ROW

_STEP = 256
"""Rows that `scan` handles together, so that they are still in the cache for the next few directions."""


@njit(fastmath=True, nogil=True, cache=True)
def _scan_one(rows, scales, w, out, i):
    total = np.float32(0.0)
    for j in range(rows.shape[1]):
        total += np.float32(rows[i, j]) * w[j]
    out[i] = total * scales[i]


@njit(fastmath=True, nogil=True, cache=True)
def _scan_two(rows, scales, w0, w1, out0, out1, i):
    total0 = total1 = np.float32(0.0)
    for j in range(rows.shape[1]):
        number = np.float32(rows[i, j])
        total0 += number * w0[j]
        total1 += number * w1[j]
    out0[i] = total0 * scales[i]
    out1[i] = total1 * scales[i]


@njit(fastmath=True, nogil=True, cache=True)
def _scan_four(rows, scales, w0, w1, w2, w3, out, i):
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


@njit(
    [
        void(types.Array(kind, 2, "C", readonly=True), ROW, GRAM, types.Array(float32, 2, "A"))
        for kind in (int8, float32)
    ],
    fastmath=True,
    nogil=True,
    cache=True,
)
def scan(rows, scales, directions, out):
    count = directions.shape[0]
    for first in range(0, rows.shape[0], _STEP):
        last = min(rows.shape[0], first + _STEP)
        b = 0
        while b + 4 <= count:
            i = first
            while i + 2 <= last:
                w0, w1, w2, w3 = directions[b], directions[b + 1], directions[b + 2], directions[b + 3]
                _scan_four(rows, scales, w0, w1, w2, w3, out[b:], i)
                i += 2
            if i < last:
                for c in range(b, b + 4):
                    _scan_one(rows, scales, directions[c], out[c], i)
            b += 4
        if b + 2 <= count:
            for i in range(first, last):
                _scan_two(rows, scales, directions[b], directions[b + 1], out[b], out[b + 1], i)
            b += 2
        if b < count:
            for i in range(first, last):
                _scan_one(rows, scales, directions[b], out[b], i)


@njit(
    int64(ROW, ROW, float32, float32, float32, PLACES, types.Array(float32, 1, "C")),
    nogil=True,
    cache=True,
)
def _sift(scores, errors, length, rounding, least, positions, reaches):
    count = 0
    for i in range(len(scores)):
        reach = length * errors[i] + rounding
        if scores[i] + reach >= least:
            positions[count] = i
            reaches[count] = reach
            count += 1
    return count


def sift(scores, errors, length, rounding, least):
    positions = np.empty(len(scores), dtype=np.int64)
    reaches = np.empty(len(scores), dtype=np.float32)
    count = _sift(scores, errors, length, rounding, least, positions, reaches)
    return positions[:count].copy(), reaches[:count].copy()


if hasattr(os, "preadv"):  # not on Windows, where rows of a file are mapped instead
    _pread = types.ExternalFunction("pread", types.intp(types.int32, types.intp, types.uintp, int64))

    @njit(boolean(int64, types.Array(int64, 1, "A", readonly=True), int64, int64, int64), nogil=True, cache=True)
    def _read_rows(file, ids, base, width, address):
        for place in range(len(ids)):
            if _pread(file, address + place * width, width, base + ids[place] * width) != width:
                return False
        return True


def read_rows(file, ids, base, out):
    return _read_rows(file, ids, base, out.itemsize * out.shape[1], out.ctypes.data)
