"""Prove how good a set is: an upper bound on the coverage of every set of k candidates.

For any multipliers λ, one for each target, and any set S of k candidates,

    C(S) = Σ_t λ_t + Σ_t max_{i∈S} (ω_t s_it - λ_t)  ≤  Σ_t λ_t + the k largest of Σ_t max(0, ω_t s_it - λ_t) over i

The right-hand side is the Lagrangian dual of the k-median problem. It is convex in λ, and its minimum is the optimum of
the linear program. On real passages that is nearly always the optimum over sets as well.

`prove` lowers it from a good set. If that set is optimal and the linear program tight, then an optimal λ_t lies between
the most and the second most that a member of the set is worth to target t, so that exactly one member pays for each
target. Inside this box the descent is short. Three more things make it quick:

- The coverage of the set is the minimum aimed at, so the length of a step is known (Polyak's rule).
- Steps keep some of their last direction.
- A candidate that cannot be in a better set by the present bound is dropped, so most steps work on few rows. Copies of
  a candidate are dropped at once. Otherwise they would have to share what they are worth equally, which no λ in sight
  of the start brings about.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from breadth.arrays import Positions, Vector
from breadth.clock import NO_LIMIT, Clock
from breadth.coverage.search import TIE, exchange, find_second, search
from breadth.coverage.worth import measure
from breadth.ranking import best


@dataclass(frozen=True)
class StepRule:
    """How the bound is lowered. The bound holds whatever these values are.

    Measured on ASQA, MedQuAD and TREC news (146 instances; the 512 most relevant passages, k = 5 and 20, sharpness 8):
    a gap above one millionth of the coverage is left in 7 of them, above one thousandth in 2, where the linear
    program itself is not tight.

    passes      most steps
    momentum    how much of the last direction a step keeps. At 0.8 it takes about a third less time, but 11 gaps are
                left, 4 of them above one thousandth
    patience    steps without progress until the box is given up, and after that until steps are halved
    progress    the part of the gap that counts as progress
    closed      the gap, as a part of the coverage, at which the set counts as optimal
    shrink      candidates are dropped when at most this part of them would stay: copying has a price as well
    copy        a candidate that is worth at most this much more than another, summed over the targets, is its copy
    """

    passes: int = 300
    momentum: float = 0.9
    patience: int = 10
    progress: float = 1e-3
    closed: float = 1e-7
    shrink: float = 0.8
    copy: float = 1e-7


STEP_RULE = StepRule()


@dataclass(frozen=True, eq=False)
class Covering:
    """A set of candidates and what is proved about it.

    chosen     the candidates, by their positions
    coverage   C of the set
    bound      no set of this size has a larger C
    stopped    whether the time was up before the search was over
    """

    chosen: Positions
    coverage: float
    bound: float
    stopped: bool = False

    @property
    def gap(self) -> float:
        """How much larger C of another set of this size can be, at the most."""
        return self.bound - self.coverage


def solve(worth: Vector, k: int, clock: Clock = NO_LIMIT) -> Covering:
    """Return the best set of k candidates that greedy, exchanges and the dual find, with its bound."""
    return prove(worth, search(worth, k, clock), clock)


def evaluate_bound(worth: Vector, multipliers: Vector, k: int) -> float:
    """Return the upper bound on C of every set of k candidates that these multipliers give."""
    surplus = _sum_surplus(worth, multipliers)
    return float(multipliers.sum() + surplus[best(surplus, k)].sum())


def prove(worth: Vector, chosen: Positions, clock: Clock = NO_LIMIT, rule: StepRule = STEP_RULE) -> Covering:
    """Lower the bound, starting from a good set; return the set, or a better one met on the way, with the bound."""
    path = _Path(worth, chosen)
    slack = path.drop_copies(rule)
    stopped = False
    for _ in range(rule.passes):
        stopped = clock.is_over()
        if stopped:
            break
        surplus = _sum_surplus(path.rows, path.multipliers)
        leaders = best(surplus, len(chosen))
        value = float(path.multipliers.sum() + surplus[leaders].sum())
        path.record(value, rule)
        if measure(path.rows, leaders) > path.coverage + TIE:
            path.adopt(exchange(worth, path.positions[leaders], clock))
            continue
        if path.bound - path.coverage <= rule.closed * path.coverage:
            break
        payers = (path.rows[leaders] > path.multipliers).sum(axis=0)
        path.drop(surplus, float(surplus[leaders[-1]]) - (value - path.coverage) - TIE, rule)
        if path.idle >= rule.patience:
            path.retreat()
        elif not path.step(1.0 - payers, value, rule):
            break
    return Covering(path.chosen, path.coverage, max(path.bound + slack, path.coverage), stopped)


def _sum_surplus(rows: Vector, multipliers: Vector) -> Vector:
    """Σ_t max(0, ω_t s_it - λ_t) for each candidate."""
    surplus = rows - multipliers
    np.maximum(surplus, 0.0, out=surplus)
    return np.asarray(surplus.sum(axis=1))


class _Path:
    """Where the descent stands: the best set and bound so far, the candidates left, the multipliers."""

    def __init__(self, worth: Vector, chosen: Positions) -> None:
        self._worth = worth
        self.rows, self.positions = worth, np.arange(len(worth))
        self.bound = float(worth.max(axis=0).sum())  # C of all candidates together
        self.multipliers = self._best_multipliers = find_second(worth[chosen])
        self._best_value = float(len(worth))  # of the multipliers: higher than any value they can have
        self.adopt(chosen)

    def adopt(self, chosen: Positions) -> None:
        """Go on with a better set, in its box."""
        own = self._worth[chosen]
        self.chosen, self.coverage = chosen, measure(self._worth, chosen)
        self._low, self._high = find_second(own), own.max(axis=0)
        self._boxed, self._scale, self.idle = True, 1.0, 0
        self._heading = np.zeros(own.shape[1])
        self.multipliers = self._confine(self.multipliers)

    def record(self, value: float, rule: StepRule) -> None:
        """Take note of the bound at the present multipliers."""
        progress = rule.progress * (self._best_value - self.coverage)
        self.idle = 0 if value < self._best_value - progress else self.idle + 1
        if value < self._best_value:
            self._best_value, self._best_multipliers = value, self.multipliers
            self.bound = min(self.bound, value)

    def drop(self, surplus: Vector, least: float, rule: StepRule) -> None:
        """Drop the candidates with a surplus below `least`: no set with one of them is better than the present set."""
        staying = surplus >= least
        if staying.sum() <= rule.shrink * len(staying):
            self.rows, self.positions = self.rows[staying], self.positions[staying]

    def drop_copies(self, rule: StepRule) -> float:
        """Drop all but the first of several copies; return what that can cost a set at the most.

        A set with a copy in it can have the first one instead, or, if that is a member already, do without.
        """
        sums = self.rows.sum(axis=1)
        order = np.argsort(sums, kind="stable")
        starts = np.flatnonzero(np.diff(sums[order], prepend=-np.inf) > rule.copy)
        sizes = np.diff(starts, append=len(order))
        firsts = np.repeat(np.minimum.reduceat(order, starts), sizes)
        others = order != firsts  # rows with nearly the sum of an earlier one
        order, firsts = order[others], firsts[others]
        excess = np.maximum(self.rows[order] - self.rows[firsts], 0.0).sum(axis=1)
        copies = excess <= rule.copy
        staying = np.ones(len(self.rows), dtype=np.bool_)
        staying[order[copies]] = False
        if not copies.any() or staying.sum() < len(self.chosen):
            return 0.0
        self.rows, self.positions = self.rows[staying], self.positions[staying]
        return len(self.chosen) * float(excess[copies].max())

    def retreat(self) -> None:
        """Return to the best multipliers. The first time give up the box, afterwards halve the steps."""
        if self._boxed:
            self._boxed = False
        else:
            self._scale *= 0.5
        self.multipliers, self.idle = self._best_multipliers, 0
        self._heading = np.zeros_like(self._heading)

    def step(self, gradient: Vector, value: float, rule: StepRule) -> bool:
        """Take one step against the gradient; say whether there was a direction left to go."""
        heading = gradient + rule.momentum * self._heading
        low, high = self._limits()
        heading[(self.multipliers <= low) & (heading > 0.0)] = 0.0
        heading[(self.multipliers >= high) & (heading < 0.0)] = 0.0
        length = float(heading @ heading)
        if length == 0.0:
            return False
        stride = self._scale * (value - self.coverage) / length
        self.multipliers, self._heading = self._confine(self.multipliers - stride * heading), heading
        return True

    def _limits(self) -> tuple[Vector, Vector]:
        if self._boxed:
            return self._low, self._high
        return np.zeros_like(self._low), np.full_like(self._high, np.inf)

    def _confine(self, multipliers: Vector) -> Vector:
        return np.clip(multipliers, *self._limits())
