"""An exact oracle that scans a quarter of the bytes: int8 codes in memory, full-precision rows only for re-scoring.

Row e_i is kept as ê_i = scale_i · codes_i with its residual length ‖e_i - ê_i‖. For every direction w

    |e_i·w - ê_i·w| ≤ ‖e_i - ê_i‖ ‖w‖

So every score lies in a known interval. The m best rows are among those whose upper end is not below the m-th best
lower end. Only these few are scored again, in full precision. The answer is that of a full scan, not an approximation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from os import PathLike
from pathlib import Path

import numpy as np
import numpy.typing as npt

from breadth.arrays import Array, Ids, Vector
from breadth.checks import check_relevance, check_vectors
from breadth.errors import InputError
from breadth.native import core
from breadth.oracles import reach, sweep
from breadth.oracles.compact import batch
from breadth.oracles.compact.codes import NO_ROWS, RowSummary, quantise, stored_dtype
from breadth.oracles.compact.file import FileArrays, open_file
from breadth.oracles.compact.memory import CompactArrays, MemoryArrays, codes_of, fetch, mean_of
from breadth.oracles.compact.writer import Writer
from breadth.oracles.protocol import Reached
from breadth.products import multiply
from breadth.ranking import best

Progress = Callable[[int, int], None]

_BLOCK = 1 << 16
"""Rows scored at a time. Extra memory is a few numbers for each of them and each direction."""
_QUANTISE = 1 << 14
"""Rows coded, saved or summed at a time."""
_GATHER = 1 << 14
"""Rows that are not neighbours, scored at a time."""
_DENSE = 4
"""All rows between the first and the last are scored if they are at most this many times those that are wanted."""
_FETCH = 1024
"""Full-precision rows scored again at a time."""
_ROUNDING = 1e-6
"""What float32 arithmetic adds to an interval, relative to the length of the direction."""


class CompactOracle:
    """Exact search over int8 codes. Build one with `build` or `stream`, write it with `save`, load it with `open`."""

    exact = True

    def __init__(self, arrays: CompactArrays, relevance: Vector | None = None, only: Ids | None = None) -> None:
        self._arrays = arrays
        self._relevance = relevance
        self._only = only
        self.length_error = arrays.summary.length_error

    @classmethod
    def build(cls, vectors: npt.ArrayLike, progress: Progress | None = None) -> CompactOracle:
        """Build from an (n, d) array of unit rows, in memory or memory-mapped.

        The oracle keeps the array for re-scoring and does not copy it. `progress(done, total)` is called as rows are
        coded.
        """
        rows = check_vectors(vectors, "vectors")
        arrays = MemoryArrays(rows)
        for start, stop in sweep.spans(len(rows), _QUANTISE):
            arrays.fill(start, *quantise(rows[start:stop], start))
            if progress is not None:
                progress(stop, len(rows))
        return cls(arrays)

    @classmethod
    def stream(
        cls, chunks: Iterable[npt.ArrayLike], path: str | PathLike[str], progress: Callable[[int], None] | None = None
    ) -> CompactOracle:
        """Build from (rows, d) arrays that come one after the other, straight into a file, and open that file.

        Use this for collections larger than memory: only one chunk is held at a time. The file appears only when it is
        complete. It keeps the rows as float16 if the first chunk is float16, else as float32. `progress(done)` is
        called with the number of rows written.
        """
        write_rows(chunks, path, progress=progress)
        return cls.open(path)

    def save(self, path: str | PathLike[str], progress: Progress | None = None) -> None:
        """Write codes and rows to one file, which appears only when it is complete.

        Relevance from `with_scores` is not written. `progress(done, total)` is called as rows are written.
        """
        save_together([self], path, progress=progress)

    @classmethod
    def open(cls, path: str | PathLike[str], verify: bool = False) -> CompactOracle:
        """Open a saved file. This takes milliseconds, whatever the size of the file.

        Every part is read and compared with its checksum when it is first needed. A part that is damaged is an error
        then. `verify=True` reads and compares everything now. A file is refused if it is truncated, if its header is
        damaged or impossible, or if it is of another kind or version.
        """
        if not Path(path).exists():
            raise InputError(f"there is no file {str(path)!r}")
        arrays = open_file(path)
        if verify:
            arrays.verify()
        return cls(arrays)

    @property
    def mark(self) -> str | None:
        """What tells the file of this oracle from all others; None if it was built in memory."""
        return self._arrays.mark if isinstance(self._arrays, FileArrays) else None

    @property
    def label(self) -> str:
        """What the owner of the file wrote into it."""
        return self._arrays.layout.label if isinstance(self._arrays, FileArrays) else ""

    def verify(self) -> None:
        """Read the whole file again and compare all checksums. Raise an error if a part is damaged."""
        if isinstance(self._arrays, FileArrays):
            self._arrays.verify()

    @property
    def size(self) -> int:
        return len(self._arrays.codes) if self._only is None else len(self._only)

    @property
    def dim(self) -> int:
        return int(self._arrays.codes.shape[1]) + (self._relevance is not None)

    def with_scores(self, scores: npt.ArrayLike) -> CompactOracle:
        """Return an oracle over the same rows with these relevance scores as one more coordinate."""
        return CompactOracle(self._arrays, check_relevance(scores, self.size), self._only)

    def restricted(self, ids: Ids) -> CompactOracle:
        """Return an oracle over some of the rows, which it counts from 0. The ids must increase."""
        chosen = np.asarray(ids, dtype=np.int64)
        if (
            chosen.ndim != 1
            or np.any(np.diff(chosen) <= 0)
            or (len(chosen) and not 0 <= chosen[0] <= chosen[-1] < self.size)
        ):
            raise InputError(
                f"ids must increase and lie between 0 and {self.size - 1}; sort them, without repeats: np.unique(ids)"
            )
        positions = self._positions(chosen)
        relevance = None if self._relevance is None else self._relevance[chosen]
        return CompactOracle(self._arrays, relevance, np.arange(len(self._arrays.codes))[positions])

    def rows(self, ids: Ids) -> Array:
        """Return the rows with these ids in full precision: float32, or float64 with relevance scores."""
        rows = fetch(self._arrays, np.asarray(self._positions(ids)))
        return rows if self._relevance is None else np.column_stack((rows, self._relevance[ids]))

    def mean(self) -> Vector:
        """Return the mean row."""
        if self._only is None:
            mean = mean_of(self._arrays)
        else:
            total = np.zeros(self._arrays.codes.shape[1])
            for start, stop in sweep.spans(self.size, _QUANTISE):
                total += self._stored_rows(start, stop).sum(axis=0, dtype=np.float64)
            mean = total / self.size
        return mean if self._relevance is None else np.append(mean, self._relevance.mean())

    def exact_scores(self, direction: Array) -> Array:
        """Return the full-precision scores of all rows for one direction. This reads every row."""
        out = np.empty(self.size, dtype=np.float32)
        for start, stop in sweep.spans(self.size, _QUANTISE):
            rows = np.ascontiguousarray(self._stored_rows(start, stop), dtype=np.float32)
            out[start:stop] = multiply(rows, direction)
        return out

    def top(self, directions: Array, m: int) -> tuple[Ids, Vector]:
        """Return the m best rows for each direction, largest score first. Ties go to the lower id."""
        m = min(m, self.size)
        ids = np.empty((len(directions), m), dtype=np.int64)
        scores = np.empty((len(directions), m), dtype=np.float64)
        found = reach.find_top(self, directions, m, _BLOCK)

        def finish(start: int, stop: int) -> None:
            for j in range(start, stop):
                exact = self._rescore(found[j], directions[j])
                order = best(exact, m)
                ids[j], scores[j] = found[j][order], exact[order]

        sweep.sweep(len(found), len(found), finish, least=reach.SHARE)
        return ids, scores

    def above(self, directions: Array, thresholds: Vector, most: Ids, within: Ids | None = None) -> list[Reached]:
        """Return, for each direction, every row that may score above its threshold; see `ReachingOracle`."""
        return reach.find_above(self, directions, thresholds, most, within, _BLOCK)

    def score(self, part: slice | Ids, directions: Array, out: sweep.Floats) -> None:
        """Write the approximate scores of some rows, computed from their codes, into `out` (b, rows)."""
        d = self._arrays.codes.shape[1]
        here = self._positions(part)
        inside = np.ascontiguousarray(directions[:, :d], dtype=np.float32)
        if isinstance(here, slice):
            self._scan(here, inside, out)
        else:
            for start, stop in sweep.spans(len(here), _GATHER):
                self._scan_some(here[start:stop], inside, out[:, start:stop])
        if self._relevance is not None:
            out += (directions[:, d:] * self._relevance[part]).astype(np.float32)

    def residuals(self, part: slice | Ids) -> sweep.Floats:
        """Return how far the codes of some rows are from the rows: ‖e_i - ê_i‖."""
        here = self._positions(part)
        self._arrays.load(here)
        return self._arrays.errors[here]

    def error_terms(self, directions: Array) -> tuple[Vector, Vector]:
        """Return the lengths of the directions, and what float32 arithmetic adds to the error for each."""
        d = self._arrays.codes.shape[1]
        lengths = np.linalg.norm(np.asarray(directions[:, :d], dtype=np.float64), axis=1)
        share = max(_ROUNDING, 4.0 * float(np.finfo(np.float32).eps) * np.sqrt(d))
        rounding = lengths * share
        if self._relevance is not None:
            rounding = rounding + np.abs(directions[:, d]) * np.abs(self._relevance).max() * share
        return lengths, rounding

    def scan_together(self, directions: Array, found: Sequence[reach.Candidates]) -> bool:
        """Offer every row to the candidates of all directions in one pass. Return whether that can be done."""
        if self._relevance is not None or self._only is not None or not batch.can_scan(self.dim, len(directions)):
            return False
        lengths, rounding = self.error_terms(directions)
        longest = float(np.sqrt(1.0 + self.length_error))
        together = core.CODED
        for start, stop in sweep.spans(len(directions), together):
            some = slice(start, stop)
            coded = batch.CodedDirections.make(directions[some], lengths[some], rounding[some], longest)
            batch.scan_together(self._arrays, coded, found[some])
        return True

    def _positions(self, part: slice | Ids) -> slice | Ids:
        """Return where rows of this oracle lie in the arrays."""
        return part if self._only is None else self._only[part]

    def _scan(self, part: slice, directions: Array, out: sweep.Floats) -> None:
        """Score neighbouring rows."""
        self._arrays.load(part)
        core.scan(self._arrays.codes[part], self._arrays.scales[part], directions, out)

    def _scan_some(self, rows: Ids, directions: Array, out: sweep.Floats) -> None:
        """Score some rows. Where most neighbours are among them, scoring all is faster than gathering some."""
        low, high = int(rows.min()), int(rows.max()) + 1
        if high - low <= _DENSE * len(rows):
            scores = np.empty((len(directions), high - low), dtype=np.float32)
            self._scan(slice(low, high), directions, scores)
            np.take(scores, rows - low, axis=1, out=out, mode="clip")
            return
        self._arrays.load(rows)
        codes = np.take(self._arrays.codes, rows, axis=0)  # lets other threads work, as indexing does not
        scores = np.empty(out.shape, dtype=np.float32)
        core.scan(codes, self._arrays.scales[rows], directions, scores)
        out[:] = scores

    def _stored_rows(self, start: int, stop: int) -> Array:
        """Return rows start … stop - 1 in the precision in which they are kept."""
        return self._arrays.stored_rows(np.arange(start, stop) if self._only is None else self._only[start:stop])

    def _rescore(self, ids: Ids, direction: Vector) -> Vector:
        """Return the full-precision scores of these rows."""
        parts = [multiply(self.rows(ids[start:stop]), direction) for start, stop in sweep.spans(len(ids), _FETCH)]
        return np.concatenate(parts)


def save_together(
    oracles: Sequence[CompactOracle], path: str | PathLike[str], label: str = "", progress: Progress | None = None
) -> str:
    """Write the rows of several oracles, one after the other, to one file. Return its `mark`.

    The codes are copied as they are. `label` says what the file is; `CompactOracle.label` reads it.
    """
    total = sum(oracle.size for oracle in oracles)
    if total == 0:
        raise InputError("this oracle has no rows, so there is nothing to save")
    summary, done = NO_ROWS, 0
    with Writer(path, label) as writer:
        for oracle in (oracle for oracle in oracles if oracle.size):
            for start, stop in sweep.spans(oracle.size, _QUANTISE):
                part = oracle._positions(slice(start, stop))
                writer.add(oracle._stored_rows(start, stop), codes_of(oracle._arrays, part))
                done += stop - start
                if progress is not None:
                    progress(done, total)
            own = oracle.size * oracle.mean()[: oracle._arrays.codes.shape[1]]
            summary = summary.merge(RowSummary(own, oracle.length_error))
        return writer.finish(summary)


def write_rows(
    chunks: Iterable[npt.ArrayLike],
    path: str | PathLike[str],
    label: str = "",
    progress: Callable[[int], None] | None = None,
) -> str:
    """Write arrays that come one after the other to a file, as `CompactOracle.stream` does. Return its `mark`."""
    done, summary = 0, NO_ROWS
    dtype = None
    with Writer(path, label) as writer:
        for chunk in chunks:
            rows = check_vectors(chunk, "chunks")
            dtype = stored_dtype(rows) if dtype is None else dtype
            for start, stop in sweep.spans(len(rows), _QUANTISE):
                part = np.asarray(rows[start:stop], dtype=dtype)  # code what is stored
                coded, part_summary = quantise(part, done, "chunks")
                writer.add(part, coded)
                summary = summary.merge(part_summary)
                done += stop - start
                if progress is not None:
                    progress(done)
        if done == 0:
            raise InputError("chunks must hold at least one row, got none")
        return writer.finish(summary)
