"""An exact oracle over a NumPy array, in memory or memory-mapped. It never copies the array."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from breadth.arrays import Array, Ids, Vector
from breadth.checks import check_lengths, check_relevance, check_vectors, square_lengths
from breadth.native import core
from breadth.oracles import sweep
from breadth.oracles.sweep import Floats
from breadth.ranking import Leaders, best

_BLOCK_NUMBERS = 1 << 25
"""Numbers of the array handled at a time. Extra memory is one row of scores, or one converted block."""
_HALF_BLOCK_NUMBERS = 1 << 19
"""The same for float16, which is converted block by block: small blocks stay in the cache."""
_TURN_NUMBERS = 3 << 19
"""Numbers of the array that are multiplied by several directions at a time."""
_SWEPT_NUMBERS, _SWEPT_ROWS = 1 << 20, 1 << 14
"""Compiled code scores only arrays of at least so many numbers (BLAS the smaller ones), so many rows at a time."""
_DIRECTIONS = 256
"""Directions that share a pass at most. This bounds the memory of a pass."""


class ArrayOracle:
    """Exact search by scanning an (n, d) array of unit rows: float32, float64 or float16.

    The constructor checks once that all rows are finite and of unit length. Arithmetic is float32, or float64 for a
    float64 array. `with_scores` adds relevance from outside as one more coordinate, in float64.
    """

    exact = True

    def __init__(self, vectors: npt.ArrayLike) -> None:
        self._setup(check_vectors(vectors, "vectors"), None)
        self.length_error = self._check_lengths()

    def _setup(self, array: Array, relevance: Vector | None) -> None:
        self._array = array
        self._compute = np.dtype(np.float64 if array.dtype == np.float64 else np.float32)
        self._relevance = relevance
        self._result = self._compute if relevance is None else np.dtype(np.float64)
        self._mean: Vector | None = None
        numbers = _HALF_BLOCK_NUMBERS if array.dtype == np.float16 else _BLOCK_NUMBERS
        self._block = max(1, numbers // array.shape[1])

    @property
    def size(self) -> int:
        return int(self._array.shape[0])

    @property
    def dim(self) -> int:
        return int(self._array.shape[1]) + (self._relevance is not None)

    @property
    def plain_rows(self) -> Array | None:
        """The array, unless relevance comes from outside."""
        return self._array if self._relevance is None else None

    def with_scores(self, scores: npt.ArrayLike) -> ArrayOracle:
        """Return an oracle over rows (e_i, s_i), with these relevance scores s. The rows are not checked again."""
        other = object.__new__(ArrayOracle)
        other._setup(self._array, check_relevance(scores, self.size))
        other.length_error = self.length_error
        return other

    @classmethod
    def over_block(cls, rows: Array, similarity_dim: int | None) -> ArrayOracle:
        """Build from rows that another oracle returned, so they are not checked again.

        With `similarity_dim`, the coordinate after that many is relevance from outside.
        """
        block = object.__new__(cls)
        relevance = None if similarity_dim is None else rows[:, similarity_dim].astype(np.float64)
        block._setup(rows[:, :similarity_dim], relevance)
        block.length_error = float(np.abs(np.square(rows[:, :similarity_dim]).sum(axis=1) - 1.0).max())
        return block

    def top(self, directions: Array, m: int) -> tuple[Ids, Vector]:
        """Return the m best rows for each direction, largest score first. Ties go to the lower id."""
        count, m = len(directions), min(m, self.size)
        if count == 1 and self.size <= self._block:
            row = self.scores(directions)[0]
            order = best(row, m)
            return order[None], row[order].astype(np.float64)[None]
        ids = np.empty((count, m), dtype=np.int64)
        scores = np.empty((count, m), dtype=np.float64)
        buffer: Array = np.empty((min(count, _DIRECTIONS), min(self._block, self.size)), dtype=self._result)
        for first in range(0, count, _DIRECTIONS):
            part = directions[first : first + _DIRECTIONS]
            leaders = [Leaders(m, self._result) for _ in part]
            for start, stop in self._blocks():
                found = self._block_scores(part, start, stop, buffer[: len(part), : stop - start])
                for leader, row in zip(leaders, found, strict=True):
                    leader.offer(row, start)
            for j, leader in enumerate(leaders, start=first):
                ids[j], scores[j] = leader.positions, leader.scores
        return ids, scores

    def scores(self, directions: Array) -> Array:
        """Return the inner products of all rows with each direction, (b, n)."""
        out: Array = np.empty((len(directions), self.size), dtype=self._result)
        plain = self._relevance is None and self._array.dtype == self._compute and self._array.flags.c_contiguous
        if plain and len(directions) == 1 and not self._prefers_sweep(self._array, directions):
            # Nothing to convert or to add: one product for all rows, straight into its place. OpenBLAS computes short
            # rows in wider registers, and what stands in the unused part may raise the flag of an invalid value.
            with np.errstate(invalid="ignore"):
                np.dot(np.asarray(self._array), np.asarray(directions[0], dtype=self._compute), out=out[0])
            return out
        for start, stop in self._blocks():
            self._block_scores(directions, start, stop, out[:, start:stop])
        return out

    def rows(self, ids: Ids) -> Array:
        """Return the rows with these ids, in the precision that the oracle computes in."""
        if len(ids) and ids[-1] - ids[0] == len(ids) - 1 and np.array_equal(ids, np.arange(ids[0], ids[-1] + 1)):
            rows = self._rows_between(int(ids[0]), int(ids[0]) + len(ids))  # consecutive rows are not copied
        else:
            rows = np.asarray(self._array[ids], dtype=self._compute)
        if self._relevance is None:
            return rows
        return np.column_stack((rows, self._relevance[ids]))

    def mean(self) -> Vector:
        """Return the mean row. The first call computes it."""
        if self._mean is None:
            total: Vector = np.zeros(self._array.shape[1])
            for start, stop in self._blocks():
                block = self._rows_between(start, stop)
                # A product with ones runs in BLAS and, unlike sum(axis=0), on all cores.
                total += np.ones(stop - start, dtype=self._compute) @ block
            total /= self.size
            if self._relevance is not None:
                total = np.append(total, self._relevance.mean(dtype=np.float64))
            total.flags.writeable = False
            self._mean = total
        return self._mean

    def _blocks(self) -> Iterator[tuple[int, int]]:
        for start in range(0, self.size, self._block):
            yield start, min(start + self._block, self.size)

    def _rows_between(self, start: int, stop: int) -> Array:
        return np.asarray(self._array[start:stop], dtype=self._compute)

    def _block_scores(self, directions: Array, start: int, stop: int, out: Array) -> Array:
        """Write the inner products of rows start … stop - 1 with each direction into `out` (b, stop - start)."""
        stored, d = self._array[start:stop], self._array.shape[1]
        inside = np.ascontiguousarray(directions[:, :d], dtype=self._compute)
        if self._prefers_sweep(stored, directions) and out.dtype == np.float32:
            self._sweep(stored, inside.astype(np.float32, copy=False), out.view(np.float32))
        elif len(directions) == 1:
            out[0] = self._rows_between(start, stop) @ inside[0]
        else:
            # BLAS is fastest on tall blocks times few columns. Small blocks are transposed within the cache.
            block = self._rows_between(start, stop)
            columns = inside.T
            step = max(1, _TURN_NUMBERS // d)
            for first in range(0, len(block), step):
                out[:, first : first + step] = (block[first : first + step] @ columns).T
        if self._relevance is not None:
            out += directions[:, d:] * self._relevance[start:stop]
        return out

    @staticmethod
    def _prefers_sweep(block: Array, directions: Array) -> bool:
        """Return whether the core scores these rows. BLAS is slow when a few directions share a pass."""
        narrow = block.dtype in (np.float32, np.float16) and block.dtype.isnative
        return narrow and block.flags.c_contiguous and block.size >= _SWEPT_NUMBERS and len(directions) <= sweep.FUSED

    @staticmethod
    def _sweep(block: Array, directions: Floats, out: Floats) -> None:
        """Let the core score rows, on all cores of the machine; halves are not widened before."""
        halves = block.dtype == np.float16
        rows: Any = block.view(np.uint16) if halves else block
        scan: Callable[..., None] = core.scan_halves if halves else core.scan
        sweep.sweep(len(block), _SWEPT_ROWS, lambda a, b: scan(rows[a:b], None, directions, out[:, a:b]))

    def _check_lengths(self) -> float:
        """Check that every row is finite and of unit length. Return the largest |‖e_i‖² - 1|."""
        error = 0.0
        for start, stop in self._blocks():
            block = self._rows_between(start, stop)
            error = max(error, check_lengths(square_lengths(block), start, "vectors"))
        return error
