"""Find the rows that may matter when a sweep gives only approximate scores.

The exact score of a row lies in the interval [score - margin, score + margin], where

    margin = length · residual + rounding

`length` is the length of the direction, `residual` how far the scored row may be from the true one, and `rounding`
what the arithmetic adds. A row is dropped only if the upper end of its interval is too low.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from breadth.arrays import Array, Ids, Vector
from breadth.native import core
from breadth.oracles import sweep
from breadth.oracles.protocol import Reached

_SAMPLE = 4096
"""Rows that show how the scores are spread, before a search by threshold or among the first ones of another search."""
_FILLED = 0.6
"""A search by threshold aims at this share of the rows that it may return."""
_SLACK = 4
"""A search for the m best rows holds up to this many times m candidates before it drops some."""
SHARE = 8
"""Directions that are worth a thread of their own."""
_WITNESSES, _SAMPLED, _MANY = 10, 64, 6
"""So many rows of a sample guess the bar of a search, where the sample is one row in so many at the most, and so many
directions share a pass. That m rows do not reach the bar is rare: 10 of the sample do where 2.5 are expected."""


class ScorableRows(Protocol):
    """Rows that can be scored block by block, perhaps approximately."""

    @property
    def size(self) -> int: ...

    def score(self, part: slice | Ids, directions: Array, out: sweep.Floats) -> None:
        """Write the scores of some rows for each direction into `out` (b, rows)."""

    def residuals(self, part: slice | Ids) -> sweep.Floats:
        """Return how far each of these rows may be from what is scored."""

    def error_terms(self, directions: Array) -> tuple[Vector, Vector]:
        """Return, for each direction, the factor of a residual and what rounding adds."""

    def scan_together(self, directions: Array, found: Sequence[Candidates]) -> bool:
        """Offer every row to the candidates of all directions in one pass. Return whether that can be done."""


class _Block(NamedTuple):
    """Rows of one block, in increasing order, with the ends of their intervals."""

    ids: Ids
    lower: npt.NDArray[Any]
    upper: npt.NDArray[Any]

    def drop_below(self, least: float) -> _Block:
        near = self.upper >= least
        return self if near.all() else _Block(self.ids[near], self.lower[near], self.upper[near])


class Candidates:
    """The rows that may score at least `least`, for one direction.

    `least` rises during a sweep: once more than `limit` rows are held, only those stay that may be among the `keep`
    best. Blocks may be offered by several threads, in any order.
    """

    def __init__(self, least: float, limit: int, keep: int) -> None:
        self.least = least
        self.limit = limit
        self.keep = keep
        self._held = 0
        self._blocks: dict[int, _Block] = {}
        self._lock = threading.Lock()

    def offer(self, scores: sweep.Floats, start: int, residuals: sweep.Floats, length: float, rounding: float) -> None:
        """Take in rows start, start + 1, … with their approximate scores and their residuals."""
        if self.least == -np.inf:
            self._raise_floor(scores, residuals, length, rounding)
        near, margins = core.sift(scores, residuals, length, rounding, self.least)
        self.take(start, near + start, scores[near], margins)

    def take(self, start: int, ids: Ids, scores: sweep.Floats, margins: sweep.Floats, least: float = -np.inf) -> None:
        """Take in rows that may reach `least`, in increasing order, none of them before `start`.

        `least`: rows that cannot reach this were left out.
        """
        block = _Block(ids, scores - margins, scores + margins)
        with self._lock:
            self.least = max(self.least, least)
            self._blocks[start] = block
            self._held += len(block.ids)
            if self._held > self.limit:
                self.cut()

    def _raise_floor(self, scores: sweep.Floats, residuals: sweep.Floats, length: float, rounding: float) -> None:
        """Set `least` from a sample of the rows, so that few others must be looked at. `keep` rows score as much."""
        step = len(scores) // max(_SAMPLE, _SLACK * self.keep)
        if step > 1:
            lower = scores[::step] - (length * residuals[::step] + rounding)
            floor = float(np.partition(lower, -self.keep)[-self.keep])
            with self._lock:
                self.least = max(self.least, floor)

    def cut(self) -> None:
        """Drop the rows that cannot be among the `keep` best."""
        if self._held >= self.keep:
            lower = np.concatenate([block.lower for block in self._blocks.values()])
            self.least = max(self.least, float(np.partition(lower, -self.keep)[-self.keep]))
        self._blocks = {start: block.drop_below(self.least) for start, block in self._blocks.items()}
        self._held = sum(len(block.ids) for block in self._blocks.values())

    def has_enough(self) -> bool:
        """Whether `keep` rows score at least `least`, so that no row that was left out is among the best."""
        reach = sum(int(np.count_nonzero(block.lower >= self.least)) for block in self._blocks.values())
        return self.least == -np.inf or reach >= self.keep

    def narrow(self, rows: ScorableRows, direction: Array) -> None:
        """Compute the intervals again as a plain scan would: with coded directions they are wider."""
        ids = self.survivors()[0]
        scores = np.empty((1, len(ids)), dtype=np.float32)
        rows.score(ids, direction[None], scores)
        lengths, rounding = rows.error_terms(direction[None])
        margins = rows.residuals(ids) * np.float32(lengths[0]) + np.float32(rounding[0])
        self._blocks, self._held = {}, 0
        self.take(0, ids, scores[0], margins)
        self.cut()

    def survivors(self) -> tuple[Ids, npt.NDArray[Any]]:
        """Return the rows that are left, in increasing order, and the upper ends of their intervals."""
        if not self._blocks:
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float32)
        blocks = [self._blocks[start].drop_below(self.least) for start in sorted(self._blocks)]
        return np.concatenate([block.ids for block in blocks]), np.concatenate([block.upper for block in blocks])


def find_top(rows: ScorableRows, directions: Array, m: int, block: int) -> list[Ids]:
    """Return, for each direction, every row that may be among the m best, in increasing order."""
    found = [Candidates(bar, limit=_SLACK * m, keep=m) for bar in _guess_bars(rows, directions, m)]
    _sweep_for_top(rows, directions, found, block)
    missed = [j for j, candidates in enumerate(found) if not candidates.has_enough()]
    if missed:
        again = [Candidates(-np.inf, limit=_SLACK * m, keep=m) for _ in missed]
        _sweep_for_top(rows, directions[missed], again, block)
        for j, candidates in zip(missed, again, strict=True):
            found[j] = candidates
    return [candidates.survivors()[0] for candidates in found]


def _sweep_for_top(rows: ScorableRows, directions: Array, found: Sequence[Candidates], block: int) -> None:
    """Offer every row to the candidates, and drop what cannot be among the best."""
    coded = _sweep_rows(rows, directions, found, block)

    def finish(start: int, stop: int) -> None:
        for j in range(start, stop):
            found[j].cut()
            if coded:
                found[j].narrow(rows, directions[j])

    sweep.sweep(len(found), len(found), finish, least=SHARE)


def _guess_bars(rows: ScorableRows, directions: Array, m: int) -> Vector:
    """Scores that some times m rows are likely to reach, from a sample; -∞ where few directions are asked for.

    Whether m rows do reach them is seen after the sweep. Until then it holds far fewer rows than without a bar.
    """
    count = _WITNESSES * rows.size // (_SLACK * m)
    if len(directions) < _MANY or not 2 * _WITNESSES <= count <= rows.size // _SAMPLED:
        return np.full(len(directions), -np.inf)
    scores = np.empty((len(directions), count), dtype=np.float32)
    rows.score(np.arange(count) * (rows.size // count), np.asarray(directions), scores)
    return np.asarray(np.partition(scores, -_WITNESSES, axis=1)[:, -_WITNESSES], dtype=np.float64)


def find_above(
    rows: ScorableRows, directions: Array, thresholds: Vector, most: Ids, within: Ids | None, block: int
) -> list[Reached]:
    """Return, for each direction, every row that may score above its threshold; see `ReachingOracle`."""
    if within is None:
        thresholds = _raise_thresholds(rows, directions, thresholds, most)
    found = [
        Candidates(float(threshold), limit=int(limit), keep=(int(limit) + 1) // 2)
        for threshold, limit in zip(thresholds, most, strict=True)
    ]
    _sweep_rows(rows, directions, found, block, within)
    answers = []
    for candidates in found:
        ids, upper = candidates.survivors()
        answers.append(Reached(ids if within is None else within[ids], upper, candidates.least))
    return answers


def _raise_thresholds(rows: ScorableRows, directions: Array, thresholds: Vector, most: Ids) -> Vector:
    """Raise a threshold that would let through more rows than may be returned, as far as a sample can tell.

    The sweep then does not collect rows only to drop them.
    """
    if rows.size <= 4 * _SAMPLE:
        return thresholds
    sample = np.arange(_SAMPLE) * (rows.size // _SAMPLE)
    scores = np.empty((len(directions), _SAMPLE), dtype=np.float32)
    rows.score(sample, np.asarray(directions), scores)
    raised = np.array(thresholds, dtype=np.float64)
    for j, share in enumerate(_FILLED * np.asarray(most) / rows.size):
        if np.mean(scores[j] > raised[j]) > share:
            raised[j] = max(raised[j], np.quantile(scores[j], 1.0 - share))
    return raised


def _sweep_rows(
    rows: ScorableRows, directions: Array, found: Sequence[Candidates], block: int, within: Ids | None = None
) -> bool:
    """Offer every row, or the rows `within`, to the candidates of each direction, in as few passes as possible.

    Candidates count the rows `within` from 0. Return whether the directions were coded as well.
    """
    total = rows.size if within is None else len(within)
    if total == 0:
        return False
    if within is None and rows.scan_together(directions, found):
        return True
    lengths, rounding = rows.error_terms(directions)
    for first in range(0, len(directions), sweep.FUSED):
        some = np.asarray(directions[first : first + sweep.FUSED])

        def visit(start: int, stop: int, some: Array = some, first: int = first) -> None:
            part = slice(start, stop) if within is None else within[start:stop]
            scores = np.empty((len(some), stop - start), dtype=np.float32)
            rows.score(part, some, scores)
            residuals = rows.residuals(part)
            for j, line in enumerate(scores, start=first):
                found[j].offer(line, start, residuals, float(lengths[j]), float(rounding[j]))

        sweep.sweep(total, block, visit)
    return False
