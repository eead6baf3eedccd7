"""An exact oracle that scans a quarter of the bytes: int8 rows in memory, full-precision rows only for re-scoring.

Row e_i is kept as ê_i = scale_i · codes_i with its residual length ‖e_i - ê_i‖. For every direction w

    |e_i·w - ê_i·w| ≤ ‖e_i - ê_i‖ ‖w‖

so the m best rows are among those whose interval reaches the m-th best lower end; only these few are re-scored with
their full-precision rows. The answer is the one of a full scan, not an approximation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from os import PathLike
from typing import Any

import numpy as np
import numpy.typing as npt

from breadth.checks import check_lengths, check_relevance, check_vectors
from breadth.oracles import kernels
from breadth.oracles.compact_file import CompactArrays, read, write
from breadth.problem import Array, Ids, Vector
from breadth.ranking import Leaders, best

Progress = Callable[[int, int], None]

_BLOCK = 1 << 17
"""Rows scored at a time: extra memory is a few numbers for each of them and direction."""
_QUANTISE = 1 << 14
_ROUNDING = 1e-6
"""What float32 arithmetic adds to the interval, relative to the length of the direction."""


class CompactOracle:
    """Exact search over int8 codes. Make one with `build`, keep it with `save`, load it with `open`."""

    exact = True

    def __init__(self, arrays: CompactArrays, relevance: Vector | None = None) -> None:
        self._arrays = arrays
        self._relevance = relevance
        self.length_error = arrays.length_error
        self._compiled = kernels.compiled()

    @classmethod
    def build(cls, vectors: npt.ArrayLike, progress: Progress | None = None) -> CompactOracle:
        """From an (n, d) array of unit rows, in memory or memory-mapped; the array is kept for re-scoring, not copied.

        `progress(done, total)` is called as rows are taken in.
        """
        rows = check_vectors(vectors, "vectors")
        arrays = CompactArrays.empty(rows)
        for start, stop in _spans(len(rows), _QUANTISE):
            quantise(rows[start:stop], arrays, start)
            if progress is not None:
                progress(stop, len(rows))
        arrays.finish()
        return cls(arrays)

    def save(self, path: str | PathLike[str], progress: Progress | None = None) -> None:
        """Write codes and rows to one file. It appears under its name only when it is complete."""
        write(path, self._arrays, progress)

    @classmethod
    def open(cls, path: str | PathLike[str], verify: bool = False) -> CompactOracle:
        """Map a saved file into memory, in milliseconds whatever its size.

        A file that is truncated, of another kind or version, or whose header is damaged is refused. `verify=True` also
        reads all of it and compares checksums.
        """
        return cls(read(path, verify))

    @property
    def size(self) -> int:
        return len(self._arrays.codes)

    @property
    def dim(self) -> int:
        return int(self._arrays.codes.shape[1]) + (self._relevance is not None)

    def with_scores(self, scores: npt.ArrayLike) -> CompactOracle:
        """The same rows with relevance from outside as one more coordinate."""
        return CompactOracle(self._arrays, check_relevance(scores, self.size))

    def rows(self, ids: Ids) -> Array:
        """The full-precision rows with these ids, as float32 (float64 with outside scores)."""
        rows = np.asarray(self._arrays.rows[ids], dtype=np.float32)
        return rows if self._relevance is None else np.column_stack((rows, self._relevance[ids]))

    def mean(self) -> Vector:
        """The mean row."""
        if self._relevance is None:
            return self._arrays.mean
        return np.append(self._arrays.mean, self._relevance.mean())

    def top(self, directions: Array, m: int) -> tuple[Ids, Vector]:
        """The m best rows for each direction, largest first, exactly."""
        count = len(directions)
        ids = np.empty((count, m), dtype=np.int64)
        scores = np.empty((count, m), dtype=np.float64)
        for first in range(0, count, kernels.FUSED):
            part = directions[first : first + kernels.FUSED]
            for j, near in enumerate(self._within_reach(part, m), start=first):
                exact = self.rows(near) @ directions[j].astype(np.float32 if self._relevance is None else np.float64)
                order = best(exact, m)
                ids[j], scores[j] = near[order], exact[order]
        return ids, scores

    def _within_reach(self, directions: Array, m: int) -> list[Ids]:
        """For each direction the ids, increasing, of every row that may be among its m best."""
        arrays, d = self._arrays, self._arrays.codes.shape[1]
        inside = np.ascontiguousarray(directions[:, :d], dtype=np.float32)
        lengths = np.linalg.norm(inside, axis=1)
        leaders = [Leaders(m, np.float32) for _ in inside]
        found: list[list[tuple[Ids, Array]]] = [[] for _ in inside]
        buffer = np.empty((len(inside), min(_BLOCK, self.size)), dtype=np.float32)
        for start, stop in _spans(self.size, _BLOCK):
            scores = buffer[:, : stop - start]
            self._score(start, stop, inside, scores)
            if self._relevance is not None:
                scores += directions[:, d:].astype(np.float32) * self._relevance[start:stop].astype(np.float32)
            for j, row in enumerate(scores):
                reach = lengths[j] * (arrays.errors[start:stop] + np.float32(_ROUNDING))
                leaders[j].offer(row - reach, start)
                upper = row + reach
                least = leaders[j].scores[-1] if len(leaders[j].scores) == m else -np.inf
                near = np.flatnonzero(upper >= least)
                found[j].append((near + start, upper[near]))
        return [_still_near(parts, float(leader.scores[-1])) for parts, leader in zip(found, leaders, strict=True)]

    def _score(self, start: int, stop: int, directions: npt.NDArray[np.float32], out: npt.NDArray[np.float32]) -> None:
        kernel = self._compiled or kernels.score_by_numpy
        kernel(self._arrays.codes[start:stop], self._arrays.scales[start:stop], directions, out)


def quantise(rows: Array, arrays: CompactArrays, start: int) -> None:
    """Check rows start, start + 1, … and write their codes, scales and residual lengths."""
    wide = np.asarray(rows, dtype=np.float32)
    squared = np.einsum("ij,ij->i", wide, wide)
    check_lengths(squared, start, "vectors")
    scales = np.abs(wide).max(axis=1) / np.float32(127.0)
    codes = np.rint(wide / scales[:, None]).astype(np.int8)
    stop = start + len(wide)
    arrays.codes[start:stop], arrays.scales[start:stop] = codes, scales
    residual = wide - scales[:, None] * codes
    arrays.errors[start:stop] = np.sqrt(np.einsum("ij,ij->i", residual, residual))
    arrays.total += wide.sum(axis=0, dtype=np.float64)
    arrays.length_error = max(arrays.length_error, float(np.abs(squared - 1.0).max()))


def _still_near(parts: list[tuple[Ids, Array]], least: float) -> Ids:
    ids = np.concatenate([ids for ids, _ in parts])
    kept: Ids = ids[np.concatenate([upper for _, upper in parts]) >= least].astype(np.int64)
    return kept


def _spans(total: int, step: int) -> Iterator[tuple[int, int]]:
    for start in range(0, total, step):
        yield start, min(start + step, total)


__all__: list[Any] = ["CompactOracle"]
