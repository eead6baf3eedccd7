"""What a sweep over approximate scores has to keep, for one direction: every row whose interval says it may matter.

The score of a row lies within [score - reach, score + reach] with reach = length · residual + rounding.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from breadth import kernels
from breadth.arrays import Array, Ids, Vector
from breadth.oracles import sweep
from breadth.oracles.protocol import Reached

_SAMPLE = 4096
"""Rows looked at before a sweep, to see how scores are spread."""
_FILLED = 0.6
"""The share of what may be kept that a sweep aims at."""


class _Part(NamedTuple):
    """Rows of one block, in increasing order, with the ends of their intervals."""

    ids: Ids
    lower: npt.NDArray[Any]
    upper: npt.NDArray[Any]

    def reaching(self, least: float) -> _Part:
        kept = self.upper >= least
        return self if kept.all() else _Part(self.ids[kept], self.lower[kept], self.upper[kept])


class Reach:
    """Rows whose upper end is at least `least`. Blocks may be offered from several threads, in any order."""

    def __init__(self, least: float = -np.inf) -> None:
        self.least = least
        self.held = 0
        self._parts: dict[int, _Part] = {}
        self._lock = threading.Lock()

    def begin(self, sample: sweep.Floats, size: int) -> None:
        """Scores of some rows spread over all `size` rows, before the first block."""

    def offer(self, scores: sweep.Floats, start: int, errors: sweep.Floats, length: float, rounding: float) -> None:
        """The approximate scores of rows start, start + 1, … and their residuals."""
        near, reach = kernels.current().sift(scores, errors, length, rounding, self.least)
        middle = scores[near]
        part = _Part(near + start, middle - reach, middle + reach)
        with self._lock:
            self._parts[start] = part
            self.held += len(part.ids)
            self._tidy()

    def kept(self) -> tuple[Ids, npt.NDArray[Any]]:
        """The rows kept, in increasing order, with their upper ends."""
        parts = [self._parts[start].reaching(self.least) for start in sorted(self._parts)]
        return np.concatenate([p.ids for p in parts]), np.concatenate([p.upper for p in parts])

    def _tidy(self) -> None:
        """After every block, with the lock held."""

    def _cut(self, m: int) -> None:
        """Keep the rows that may be among the m best."""
        if self.held >= m:
            lower = np.concatenate([part.lower for part in self._parts.values()])
            self.least = max(self.least, float(np.partition(lower, -m)[-m]))
        self._parts = {start: part.reaching(self.least) for start, part in self._parts.items()}
        self.held = sum(len(part.ids) for part in self._parts.values())


class Best(Reach):
    """Every row that may be among the m best: `least` is the m-th best lower end so far."""

    def __init__(self, m: int) -> None:
        super().__init__()
        self._m = m

    def ids(self) -> Ids:
        """These rows, in increasing order."""
        self._cut(self._m)
        return self.kept()[0]

    def _tidy(self) -> None:
        if self.held > 4 * self._m or self.least == -np.inf:
            self._cut(self._m)


class Above(Reach):
    """Every row that may score above a threshold; when these become more than `most`, the better half of them."""

    def __init__(self, threshold: float, most: int) -> None:
        super().__init__(threshold)
        self._most = most

    def reached(self, within: Ids | None) -> Reached:
        """What was found; a row that was dropped has its upper end below `least`."""
        ids, upper = self.kept()
        return Reached(ids if within is None else within[ids], upper, self.least)

    def begin(self, sample: sweep.Floats, size: int) -> None:
        # So that not far more rows are collected than can be kept: begin near where that will end.
        share = _FILLED * self._most / size
        if np.mean(sample > self.least) > share:
            self.least = max(self.least, float(np.quantile(sample, 1.0 - share)))

    def _tidy(self) -> None:
        if self.held > self._most:
            self._cut((self._most + 1) // 2)


class Swept(Protocol):
    """Rows that can be scored block by block, perhaps approximately."""

    @property
    def size(self) -> int: ...

    def score(self, part: slice | Ids, directions: Array, out: sweep.Floats) -> None:
        """Scores of some rows for each direction, into `out` (b, rows)."""

    def residuals(self, part: slice | Ids) -> sweep.Floats:
        """How far each of these rows may be from what is scored."""

    def reach(self, directions: Array) -> tuple[Vector, Vector]:
        """For each direction: what a residual is multiplied by, and what rounding adds."""


Kind = TypeVar("Kind", bound=Reach)


def collect(
    rows: Swept,
    directions: Array,
    make: Callable[[int], Kind],
    *,
    block: int,
    within: Ids | None = None,
) -> list[Kind]:
    """Show every row's interval to what each direction collects, in as few passes as the kernel allows.

    `within`: only these rows, counted from 0.
    """
    reaches = [make(j) for j in range(len(directions))]
    lengths, rounding = rows.reach(directions)
    if within is None and rows.size > 4 * _SAMPLE:
        spread = np.arange(_SAMPLE) * (rows.size // _SAMPLE)
        for j, near in enumerate(reaches):
            scores = np.empty((1, _SAMPLE), dtype=np.float32)
            rows.score(spread, np.asarray(directions[j : j + 1]), scores)
            near.begin(scores[0], rows.size)

    def passed(first: int, last: int) -> None:
        some = np.asarray(directions[first:last])

        def visit(start: int, stop: int) -> None:
            part = slice(start, stop) if within is None else within[start:stop]
            scores = np.empty((len(some), stop - start), dtype=np.float32)
            rows.score(part, some, scores)
            residuals = rows.residuals(part)
            for j, found in enumerate(scores, start=first):
                reaches[j].offer(found, start, residuals, float(lengths[j]), float(rounding[j]))

        sweep.sweep(rows.size if within is None else len(within), block, visit)

    for first in range(0, len(directions), sweep.FUSED):
        passed(first, min(first + sweep.FUSED, len(directions)))
    return reaches


def above(
    rows: Swept, directions: Array, thresholds: Vector, most: Ids, within: Ids | None, block: int
) -> list[Reached]:
    """For each direction every row that may score above its threshold; see `ReachingOracle`."""
    found = collect(rows, directions, lambda j: Above(float(thresholds[j]), int(most[j])), block=block, within=within)
    return [near.reached(within) for near in found]
