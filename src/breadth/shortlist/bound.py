"""Upper bounds on F over all allowed sets of a table, and of the rows outside it.

On sets x_i² = x_i, so any diagonal D may be moved out of the quadratic form:

    F(x) = Σ (linear_i + coupling/2 · (s_ii - d_i)) x_i - coupling/2 · x'(S - D)x

Where S - D is positive semidefinite this is concave, and its maximum over the relaxed allowed sets bounds F. D = 0
always will do; `diagonal.py` finds better ones. The similarity of two rows that may not be in one set never counts: it
may be any number that leaves a better diagonal.

Rows outside the table are worth at most `supply` each for an even sharpness, where no similarity is negative: they
enter the bound as a supply of rows with that score. A budget enters with a price ρ ≥ 0: for any ρ the scores less
ρ·cost, plus ρ·budget, bound F.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from breadth import kernels
from breadth.arrays import Mask, Matrix, Positions, Vector
from breadth.clock import Clock
from breadth.feasible import Parts
from breadth.kernels.contract import MOST_STEPS, ROUNDING, STEPS
from breadth.shortlist.diagonal import NO_PAIRS, FindDiagonal
from breadth.shortlist.table import Table

_PRICES = 12


@dataclass(frozen=True, eq=False)
class Relaxed:
    """A bound, the x that it was reached at, the slopes there, and which rows can be in a better set.

    `outside` says whether rows outside the table can be in a better set.
    """

    bound: float
    x: Vector
    slope: Vector
    survivors: Mask
    outside: bool


@dataclass(frozen=True, eq=False)
class Form:
    """What is maximised over relaxed sets of k rows: constant + linear'x - coupling/2 · x'Gx, with G = S - D.

    where      the rows, as positions in a table, rising
    cost       what they cost, and the `budget` for them
    """

    where: Positions
    linear: Vector
    gram: Matrix
    parts: Parts
    cost: Vector
    k: int
    coupling: float
    budget: float
    constant: float = 0.0

    @classmethod
    def plain(cls, table: Table) -> Form:
        """All rows, D = 0."""
        return cls._make(table, np.arange(len(table)), table.gram)

    @classmethod
    def shifted(cls, table: Table, where: Positions, find: FindDiagonal, weights: Vector | None = None) -> Form:
        """Some rows, with the diagonal that `find` finds.

        `weights` say where the diagonal should be large; without them all rows are alike.
        """
        every = len(where) == len(table)
        gram = table.gram.copy() if every else table.gram[where[:, None], where]
        free = NO_PAIRS
        if table.has_conflicts:
            apart = table.rules.apart if every else table.rules.apart[where[:, None], where]
            free = np.array(np.nonzero(np.triu(apart)))
        diagonal = find(gram, np.ones(len(where)) if weights is None else weights, free)
        gram.ravel()[:: len(where) + 1] -= (diagonal - ROUNDING * len(where)).astype(np.float32)
        return cls._make(table, where, gram)

    @classmethod
    def _make(cls, table: Table, where: Positions, gram: Matrix) -> Form:
        problem, rules = table.problem, table.rules
        linear = table.linear[where] + 0.5 * problem.coupling * gram.diagonal().astype(np.float64)
        cost = np.zeros(len(where)) if rules.free else rules.cost[where]
        parts = table.parts
        if len(where) < len(table):
            parts = Parts(parts.part[where], parts.room, parts.locked[where])
        return cls(where, linear, gram, parts, cost, problem.k, problem.coupling, rules.budget)

    def indicate(self, chosen: Positions) -> Vector:
        """The x of a set, given by positions in the table."""
        x = np.zeros(len(self.where))
        x[np.searchsorted(self.where, chosen)] = 1.0
        return x

    def restrict(self, keep: Positions, take: Positions) -> Form:
        """The form over the rows `keep` alone (positions in this form), for sets that also hold the rows `take`."""
        pairs = float(self.gram[take[:, None], take].sum(dtype=np.float64))
        constant = float(self.linear[take].sum()) - 0.5 * self.coupling * pairs
        room = self.parts.room - np.bincount(self.parts.part[take], minlength=len(self.parts.room))
        return Form(
            self.where[keep],
            self.linear[keep] - self.coupling * self.gram[keep[:, None], take].sum(axis=1, dtype=np.float64),
            self.gram[keep[:, None], keep],
            Parts(self.parts.part[keep], room, self.parts.locked[keep]),
            self.cost[keep],
            self.k - len(take),
            self.coupling,
            self.budget - float(self.cost[take].sum()),
            self.constant + constant,
        )

    def priced(self, price: float) -> Form:
        """The form with a price on costs instead of the budget."""
        if price == 0.0:
            return self if self.budget == np.inf else replace(self, budget=np.inf)
        constant = self.constant + price * self.budget
        return replace(self, linear=self.linear - price * self.cost, constant=constant, budget=np.inf)

    def slopes(self, x: Vector) -> Vector:
        """The gradient at x."""
        return self.linear - self.coupling * (self.gram.astype(np.float64) @ x)

    def judge(self, x: Vector, slope: Vector, supply: float) -> tuple[float, Vector]:
        """The bound from the linearisation at x, and what it loses when one row must be chosen.

        The bound is the value at x plus the most that the linearisation gains towards an allowed set.
        """
        largest, losses = kernels.current().judge(slope, self.k, self.parts, supply)
        return self.constant + 0.5 * float(self.linear @ x - slope @ x) + largest, losses


@dataclass(frozen=True)
class Aim:
    """How far to go: to a `share` of what is left open above the value `best` of a set; `least` counts as nothing.

    `supply`: what a row outside can be worth, -∞ if there is none.
    """

    best: float
    share: float
    least: float
    supply: float = -np.inf


def relax(form: Form, x: Vector, aim: Aim, clock: Clock) -> Relaxed:
    """Bound F over all sets of the form, from x on, which it moves; with a budget at the best price for costs."""
    found = _climb(form.priced(0.0), x, aim, clock)
    if not np.isfinite(form.budget):
        return found
    return _search_price(form, found, aim, clock)


def _climb(form: Form, x: Vector, aim: Aim, clock: Clock) -> Relaxed:
    """Maximise a form without a budget, and say what that bounds."""
    kernel, done = kernels.current(), 0
    base = aim.best - form.constant
    while True:
        gap, value = kernel.relax(
            form.linear, form.gram, form.k, form.coupling, form.parts, x, base, aim.share, aim.least, STEPS
        )
        done += STEPS
        if gap <= max(aim.least, aim.share * (value - base)) or done >= MOST_STEPS or clock.is_over():
            break
    slope = form.slopes(x)
    bound, losses = form.judge(x, slope, aim.supply)
    worth = bound - losses
    alive = worth > aim.best + 0.01 * aim.least
    return Relaxed(bound, x, slope, alive[:-1], bool(alive[-1]))


def _search_price(form: Form, found: Relaxed, aim: Aim, clock: Clock) -> Relaxed:
    """The price of the budget whose bound is the lowest, by golden section: the bound is convex in the price."""
    cheapest = float(form.cost[form.cost > 0].min(initial=np.inf))
    low, high = 0.0, float(np.abs(found.slope).max()) / cheapest
    lowest = found
    for _ in range(_PRICES if high > 0.0 else 0):
        if clock.is_over():
            break
        prices = (low + 0.382 * (high - low), low + 0.618 * (high - low))
        tried = [_climb(form.priced(price), found.x.copy(), aim, clock) for price in prices]
        lowest = min(lowest, *tried, key=lambda relaxed: relaxed.bound)
        low, high = (low, prices[1]) if tried[0].bound <= tried[1].bound else (prices[0], high)
    return lowest
