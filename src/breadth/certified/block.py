"""The block: the few rows held in memory that matter, with their similarities. All searching for sets is done on it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from breadth import kernels
from breadth.arrays import Array, Matrix, Positions, Vector
from breadth.clock import Clock
from breadth.feasible import free_rules, one_part
from breadth.problem import Problem

_GAIN = 1e-7
"""A swap must gain more than this (times 1 + k), or rounding of the similarities could run in circles."""
_GRID = 2.0**33
"""Relevance is rounded to multiples of 1/this."""
_SWAPS_AT_ONCE, _STEPS_AT_ONCE = 64, 256
"""Swaps, and steps of the relaxation, between two looks at the clock: the same for all kernels, whose sums begin anew
with every call."""
_MOST_SWAPS = 10_000
_NOBODY: Positions = np.empty(0, dtype=np.int64)


class Block:
    """Rows in float64, their Gram matrix (float32, with room to grow) and their weighted relevance.

    A set is an array of k positions in the block.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._coupling = problem.coupling
        self._rules = free_rules()
        self._size = 0
        self._rows: Vector = np.empty((0, len(problem.query)))
        self._gram: Matrix = np.empty((0, 0), dtype=np.float32)
        self._linear: Vector = np.empty(0)

    def __len__(self) -> int:
        return self._size

    @property
    def rows(self) -> Vector:
        return self._rows[: self._size]

    @property
    def gram(self) -> Matrix:
        """Similarities of all pairs."""
        return self._gram[: self._size, : self._size]

    @property
    def linear(self) -> Vector:
        """θ(k-1) c_i."""
        return self._linear[: self._size]

    @property
    def least_rise(self) -> float:
        """What a row's score for w(u) must exceed a threshold by to count: between copies only rounding decides."""
        return 0.01 * self.least_gain

    @property
    def least_gain(self) -> float:
        """What a swap must gain to count."""
        return _GAIN * (1.0 + self.problem.k)

    def add(self, rows: Array) -> None:
        """Take in further rows."""
        old, new = self._size, self._size + len(rows)
        if new > len(self._rows):
            self._grow(max(new, 2 * len(self._rows)))
        self._size = new
        self._rows[old:new] = rows
        kernel = kernels.current()
        self._linear[old:new] = self.problem.linear(self._relevance(self._rows[old:new]))
        similar = self.rows if self.problem.similarity_dim is None else np.ascontiguousarray(self._similar())
        kernel.fill_gram(similar, old, self._gram)

    def _relevance(self, rows: Vector) -> Vector:
        """Relevance from outside as it is; from the query rounded to 1e-10, so that all kernels see one number."""
        if self.problem.similarity_dim is not None:
            return rows[:, self.problem.similarity_dim]
        relevance: Vector = np.rint(kernels.current().inner(rows, self.problem.query) * _GRID) / _GRID
        return relevance

    def _similar(self) -> Vector:
        return np.asarray(self.problem.similar(self.rows), dtype=np.float64)

    def _grow(self, capacity: int) -> None:
        size = self._size
        rows, linear = np.empty((capacity, self._rows.shape[1])), np.empty(capacity)
        gram: Matrix = np.empty((capacity, capacity), dtype=np.float32)
        rows[:size], linear[:size], gram[:size, :size] = self.rows, self.linear, self.gram
        self._rows, self._linear, self._gram = rows, linear, gram

    def value(self, chosen: Positions) -> float:
        """F of a set."""
        return float(kernels.current().set_value(self.linear, self._gram, self._coupling, chosen))

    def greedy(self, first: int) -> Positions:
        """Greedy on F from a first row."""
        picks = np.full(self.problem.k, first)
        kernels.current().greedy(self.linear, self._gram, self._coupling, self._rules, picks, 1)
        return picks

    def try_starts(self, chosen: Positions, firsts: Positions, shares: Vector) -> int:
        """Greedy on F from each first row, with a share of the relevance, then swaps; how many swaps there were.

        `chosen` becomes the best set of all, if that is better.
        """
        merits = shares[:, None] * self.linear
        merits[np.arange(len(firsts)), firsts] = np.finfo(np.float64).max  # so it is picked first
        return int(
            kernels.current().try_starts(
                self.linear, self._gram, self._coupling, self._rules, _NOBODY, merits,
                np.full(len(firsts), self._coupling), chosen, self.least_gain,
            )
        )  # fmt: skip

    def swap(self, chosen: Positions, clock: Clock) -> int:
        """Exchange one member for one row of the block, in place, as long as F grows; how many swaps there were."""
        done = 0
        while done < _MOST_SWAPS:
            count = kernels.current().swap(
                self.linear, self._gram, self._coupling, self._rules, chosen, self.least_gain, _SWAPS_AT_ONCE
            )
            done += count
            if count < _SWAPS_AT_ONCE or clock.is_over():
                break
        return done

    def search(self, chosen: Positions, iterations: int, clock: Clock) -> None:
        """Tabu search from a set, which becomes the best set met: it leaves local optima that swaps cannot leave."""
        kernel = kernels.current()
        current, totals = chosen.copy(), np.zeros(2)
        merits = kernel.marginals(self.linear, self._gram, self._coupling, current)
        free_at = np.zeros(self._size, dtype=np.int64)
        at_once = max(1, kernel.STEPS_AT_ONCE // (self._size + 16 * self.problem.k))
        done = 0
        while done < iterations and not clock.is_over():
            count = min(at_once, iterations - done)
            kernel.tabu(
                self.linear, self._gram, self._coupling, self._rules, chosen, current, merits, free_at, totals,
                done + 1, count, self.least_gain,
            )  # fmt: skip
            done += count

    def relax(self, x: Vector, target: Target, clock: Clock) -> float:
        """Raise the concave relaxation at x, in place, until its duality gap meets the target.

        Returns its value there plus the gap, on the scale of F: no set of rows of the block is worth more.
        """
        kernel = kernels.current()
        constant, parts = self.problem.spread, one_part(self._size, self.problem.k)
        done = 0
        while True:
            steps = min(_STEPS_AT_ONCE, target.steps - done)
            gap, value = kernel.relax(
                self.linear, self._gram, self.problem.k, self._coupling, parts, x,
                target.value - constant, target.share, target.least, steps,
            )  # fmt: skip
            done += steps
            value += constant
            met = gap <= max(target.least, target.share * (value - target.value))
            if met or done >= target.steps or clock.is_over():
                return float(value + gap)


@dataclass(frozen=True)
class Target:
    """When a relaxation is good enough: a duality gap of at most `least`, or the `share` of what it exceeds F of the
    best set by (`value`); or after so many steps."""

    value: float
    share: float
    least: float
    steps: int
