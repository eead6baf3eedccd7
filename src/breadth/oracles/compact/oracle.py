"""An exact oracle that scans a quarter of the bytes: int8 rows in memory, full-precision rows only for re-scoring.

Row e_i is kept as ê_i = scale_i · codes_i with its residual length ‖e_i - ê_i‖. For every direction w

    |e_i·w - ê_i·w| ≤ ‖e_i - ê_i‖ ‖w‖

so the m best rows are among those whose interval reaches the m-th best lower end; only these few are re-scored with
their full-precision rows. The answer is the one of a full scan, not an approximation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from os import PathLike

import numpy as np
import numpy.typing as npt

from breadth import kernels
from breadth.arrays import Array, Ids, Vector
from breadth.checks import check_lengths, check_relevance, check_vectors
from breadth.errors import InputError
from breadth.oracles import reach, sweep
from breadth.oracles.compact.file import Coded, CompactArrays, Writer, kept_as, read
from breadth.oracles.protocol import Reached
from breadth.products import multiply
from breadth.ranking import best

Progress = Callable[[int, int], None]

_BLOCK = 1 << 16
"""Rows scored at a time: extra memory is a few numbers for each of them and direction."""
_QUANTISE = 1 << 14
_FETCH = 1024
"""Full-precision rows touched at a time."""
_ROUNDING = 1e-6
"""What float32 arithmetic adds to the interval, relative to the length of the direction."""


class CompactOracle:
    """Exact search over int8 codes. Make one with `build`, keep it with `save`, load it with `open`."""

    exact = True

    def __init__(self, arrays: CompactArrays, relevance: Vector | None = None, only: Ids | None = None) -> None:
        self._arrays = arrays
        self._relevance = relevance
        self._only = only
        self.length_error = arrays.length_error
        kernels.current()

    @classmethod
    def build(cls, vectors: npt.ArrayLike, progress: Progress | None = None) -> CompactOracle:
        """From an (n, d) array of unit rows, in memory or memory-mapped; the array is kept for re-scoring, not copied.

        `progress(done, total)` is called as rows are taken in.
        """
        rows = check_vectors(vectors, "vectors")
        arrays = CompactArrays.empty(rows)
        for start, stop in sweep.spans(len(rows), _QUANTISE):
            coded = quantise(rows[start:stop], start)
            arrays.codes[start:stop], arrays.scales[start:stop], arrays.errors[start:stop] = coded.arrays
            arrays.note(coded)
            if progress is not None:
                progress(stop, len(rows))
        return cls(arrays)

    @classmethod
    def stream(
        cls, chunks: Iterable[npt.ArrayLike], path: str | PathLike[str], progress: Callable[[int], None] | None = None
    ) -> CompactOracle:
        """From (rows, d) arrays that come one after the other, straight into a file, and that file opened.

        For collections larger than memory: one chunk is held at a time. The file is there only once it is complete.
        Rows are kept as float16 if the first chunk is, else as float32. `progress(done)` is called with the number of
        rows taken in.
        """
        done = 0
        kept = None
        with Writer(path) as writer:
            for chunk in chunks:
                rows = check_vectors(chunk, "chunks")
                kept = kept_as(rows) if kept is None else kept
                for start, stop in sweep.spans(len(rows), _QUANTISE):
                    part = np.asarray(rows[start:stop], dtype=kept)  # what is kept is what is coded
                    writer.add(part, quantise(part, done, "chunks"))
                    done += stop - start
                    if progress is not None:
                        progress(done)
            if done == 0:
                raise InputError("chunks must hold at least one row, got none")
            writer.finish()
        return cls.open(path)

    def save(self, path: str | PathLike[str], progress: Progress | None = None) -> None:
        """Write codes and rows to one file. It appears under its name only when it is complete."""
        if self.size == 0:
            raise InputError("there are no rows to save")
        with Writer(path) as writer:
            for start, stop in sweep.spans(self.size, _QUANTISE):
                part = self._where(slice(start, stop))
                writer.add(np.asarray(self._arrays.rows[part]), self._arrays.coded(part))
                if progress is not None:
                    progress(stop, self.size)
            writer.finish(self.size * self.mean()[: self._arrays.codes.shape[1]])

    @classmethod
    def open(cls, path: str | PathLike[str], verify: bool = False) -> CompactOracle:
        """Map a saved file into memory, in milliseconds whatever its size.

        A file that is truncated, of another kind or version, or whose header is damaged is refused. `verify=True` also
        reads all of it and compares checksums.
        """
        return cls(read(path, verify))

    @property
    def size(self) -> int:
        return len(self._arrays.codes) if self._only is None else len(self._only)

    @property
    def dim(self) -> int:
        return int(self._arrays.codes.shape[1]) + (self._relevance is not None)

    def with_scores(self, scores: npt.ArrayLike) -> CompactOracle:
        """The same rows with relevance from outside as one more coordinate."""
        return CompactOracle(self._arrays, check_relevance(scores, self.size), self._only)

    def restricted(self, ids: Ids) -> CompactOracle:
        """Some of the rows (increasing ids), as an oracle of their own that counts them from 0."""
        chosen = np.asarray(ids, dtype=np.int64)
        if (
            chosen.ndim != 1
            or np.any(np.diff(chosen) <= 0)
            or (len(chosen) and not 0 <= chosen[0] <= chosen[-1] < self.size)
        ):
            raise InputError(f"ids must increase and lie between 0 and {self.size - 1}")
        kept = self._where(chosen)
        relevance = None if self._relevance is None else self._relevance[chosen]
        return CompactOracle(self._arrays, relevance, np.arange(len(self._arrays.codes))[kept])

    def rows(self, ids: Ids) -> Array:
        """The full-precision rows with these ids, as float32 (float64 with outside scores)."""
        rows = self._arrays.fetch(np.asarray(self._where(ids)))
        return rows if self._relevance is None else np.column_stack((rows, self._relevance[ids]))

    def mean(self) -> Vector:
        """The mean row."""
        if self._only is None:
            mean = self._arrays.mean
        else:
            total = np.zeros(self._arrays.codes.shape[1])
            for start, stop in sweep.spans(self.size, _QUANTISE):
                total += np.asarray(self._arrays.rows[self._only[start:stop]]).sum(axis=0, dtype=np.float64)
            mean = total / self.size
        return mean if self._relevance is None else np.append(mean, self._relevance.mean())

    def exact_scores(self, direction: Array) -> Array:
        """Full-precision scores of all rows for one direction: reads every row."""
        out = np.empty(self.size, dtype=np.float32)
        for start, stop in sweep.spans(self.size, _QUANTISE):
            rows = np.ascontiguousarray(self._arrays.rows[self._where(slice(start, stop))], dtype=np.float32)
            out[start:stop] = multiply(rows, direction)
        return out

    def top(self, directions: Array, m: int) -> tuple[Ids, Vector]:
        """The m best rows for each direction, largest first, exactly; ties go to the lower id."""
        ids = np.empty((len(directions), m), dtype=np.int64)
        scores = np.empty((len(directions), m), dtype=np.float64)
        for j, near in enumerate(reach.collect(self, directions, lambda _: reach.Best(m), block=_BLOCK)):
            within = near.ids()
            exact = self._exactly(within, directions[j])
            order = best(exact, m)
            ids[j], scores[j] = within[order], exact[order]
        return ids, scores

    def above(self, directions: Array, thresholds: Vector, most: Ids, within: Ids | None = None) -> list[Reached]:
        """For each direction every row that may score above its threshold; see `ReachingOracle`."""
        return reach.above(self, directions, thresholds, most, within, _BLOCK)

    def score(self, part: slice | Ids, directions: Array, out: sweep.Floats) -> None:
        """Approximate scores of some rows, from their codes."""
        arrays, d = self._arrays, self._arrays.codes.shape[1]
        here = self._where(part)
        inside = np.ascontiguousarray(directions[:, :d], dtype=np.float32)
        kernels.current().scan(arrays.codes[here], arrays.scales[here], inside, out)
        if self._relevance is not None:
            out += (directions[:, d:] * self._relevance[part]).astype(np.float32)

    def residuals(self, part: slice | Ids) -> sweep.Floats:
        """How far codes are from their rows."""
        return self._arrays.errors[self._where(part)]

    def reach(self, directions: Array) -> tuple[Vector, Vector]:
        """The lengths of the directions, and what float32 arithmetic adds."""
        d = self._arrays.codes.shape[1]
        lengths = np.linalg.norm(np.asarray(directions[:, :d], dtype=np.float64), axis=1)
        share = max(_ROUNDING, 4.0 * float(np.finfo(np.float32).eps) * np.sqrt(d))
        rounding = lengths * share
        if self._relevance is not None:
            rounding = rounding + np.abs(directions[:, d]) * np.abs(self._relevance).max() * share
        return lengths, rounding

    def _where(self, part: slice | Ids) -> slice | Ids:
        """Where rows of this oracle lie in the arrays."""
        return part if self._only is None else self._only[part]

    def _exactly(self, ids: Ids, direction: Vector) -> Vector:
        """Full-precision scores of these rows."""
        parts = [multiply(self.rows(ids[start:stop]), direction) for start, stop in sweep.spans(len(ids), _FETCH)]
        return np.concatenate(parts)


def quantise(rows: Array, start: int, name: str = "vectors") -> Coded:
    """Check rows start, start + 1, … and make their codes, scales and residual lengths."""
    wide = np.asarray(rows, dtype=np.float32)
    squared = np.einsum("ij,ij->i", wide, wide)
    check_lengths(squared, start, name)
    scales = np.abs(wide).max(axis=1) / np.float32(127.0)
    codes = np.rint(wide / scales[:, None]).astype(np.int8)
    residual = wide - scales[:, None] * codes
    errors = np.sqrt(np.einsum("ij,ij->i", residual, residual))
    total = wide.sum(axis=0, dtype=np.float64)
    return Coded((codes, scales, errors), total, float(np.abs(squared - 1.0).max()))
