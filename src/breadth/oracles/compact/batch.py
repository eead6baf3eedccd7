"""Scan codes for many directions at once, which are coded as well: byte by byte, several times as fast.

Direction w is kept as ŵ = factor · codes with its residual length ‖w - ŵ‖. For row e with codes ê

    |e·w - ê·ŵ| ≤ ‖e - ê‖ ‖w‖ + ‖ê‖ ‖w - ŵ‖,    ‖ê‖ ≤ ‖e‖ + ‖e - ê‖

So the interval of a score is wider than with plain directions, and still known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from breadth.arrays import Array, Vector
from breadth.native import core
from breadth.oracles import sweep
from breadth.oracles.compact.memory import CompactArrays
from breadth.oracles.reach import Candidates

_FEWEST = 6
"""Fewer directions than these are scanned as they are."""
_WIDEST = 1 << 15
"""The most dimensions: sums of that many products of two bytes fit 32 bits."""
_ROOM = 4096
"""Rows that a list has room for. When one is full, its direction learns a higher bar."""

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class CodedDirections:
    """Directions as bytes from 1 to 255 that stand for -127 to 127, in the order in which `core.gather` reads them.

    lengths, rounding    the margin of a score is lengths · residual of the row + rounding
    """

    packed: npt.NDArray[np.uint8]
    factors: Floats
    lengths: Floats
    rounding: Floats

    @classmethod
    def make(cls, directions: Array, lengths: Vector, rounding: Vector, longest: float) -> CodedDirections:
        """Code directions whose margins were `lengths` · residual + `rounding`. `longest`: the length of a row."""
        wide = np.asarray(directions, dtype=np.float64)
        count, dim = wide.shape
        largest = np.abs(wide).max(axis=1)
        factors = np.where(largest > 0.0, largest / 127.0, 1.0).astype(np.float32)
        codes = np.rint(wide / factors[:, None])
        residuals = np.linalg.norm(wide - factors[:, None].astype(np.float64) * codes, axis=1)
        most = core.CODED
        room = next(size for size in (most // 4, most // 2, most) if size >= count)
        packed = np.full((dim // 4, room, 4), 128, dtype=np.uint8)
        packed[:, :count] = (codes + 128.0).astype(np.uint8).reshape(count, dim // 4, 4).transpose(1, 0, 2)
        return cls(
            packed,
            _fill(factors, room),
            _fill(lengths + residuals, room),
            _fill(rounding + residuals * longest, room),
        )


def _fill(numbers: Vector | Floats, room: int) -> Floats:
    filled = np.zeros(room, dtype=np.float32)
    filled[: len(numbers)] = np.nextafter(np.asarray(numbers, dtype=np.float32), np.float32(np.inf))
    filled[: len(numbers)][np.asarray(numbers) == 0.0] = 0.0
    return filled


def can_scan(dim: int, count: int) -> bool:
    """Whether so many directions of so many dimensions are worth coding, and can be."""
    return count >= _FEWEST and core.CODED > 0 and dim % 4 == 0 and dim <= _WIDEST


def scan_together(arrays: CompactArrays, directions: CodedDirections, found: Sequence[Candidates]) -> None:
    """Offer every row to the candidates of each direction, in one pass. Each thread has lists of its own."""
    size, room = len(found), len(directions.factors)
    most = max(_ROOM, 2 * max(candidates.limit for candidates in found))
    keeps = np.ones(room, dtype=np.int64)
    keeps[:size] = [candidates.keep for candidates in found]

    def visit(start: int, stop: int) -> None:
        part = slice(start, stop)
        arrays.load(part)
        codes, scales, errors = arrays.codes[part], arrays.scales[part], arrays.errors[part]
        positions, scores = np.empty((room, most), dtype=np.int64), np.empty((room, most), dtype=np.float32)
        bars, counts = np.full(room, np.inf, dtype=np.float32), np.empty(room, dtype=np.int64)
        row = 0
        while row < len(codes):
            first, counts[:] = row, 0
            least = np.array([candidates.least for candidates in found])
            bars[:size] = np.nextafter((least - directions.rounding[:size]).astype(np.float32), np.float32(-np.inf))
            before = bars.copy()
            row = core.gather(
                codes, scales, errors, directions.packed, directions.factors, directions.lengths, directions.rounding,
                keeps, first, bars, positions, scores, counts,
            )  # fmt: skip
            for j, candidates in enumerate(found):
                near, middle = positions[j, : counts[j]].copy(), scores[j, : counts[j]].copy()
                margins = directions.lengths[j] * errors[near] + directions.rounding[j]
                reached = np.nextafter(bars[j] + directions.rounding[j], np.float32(-np.inf))
                raised = float(reached) if bars[j] > before[j] else -np.inf
                candidates.take(start + first, near + start, middle, margins, raised)

    sweep.sweep(len(arrays.codes), len(arrays.codes), visit)
