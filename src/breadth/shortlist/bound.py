"""Upper bounds on F over all allowed sets of a table, and of the rows outside it.

On sets x_i² = x_i, so any diagonal D may be moved out of the quadratic form:

    F(x) = Σ (linear_i + coupling/2 · (s_ii - d_i)) x_i - coupling/2 · x'(S - D)x

Where S - D is positive semidefinite this is concave, and its maximum over the relaxed allowed sets bounds F. D = 0
always will do; D = λ_min(S)·I is tighter. The similarity of two rows that may not be in one set never counts, so it may
be taken as 0: copies then do not make S singular.

Rows outside the table are worth at most `supply` each for an even sharpness, where no similarity is negative: they
enter the bound as a supply of rows with that score. A budget enters with a price ρ ≥ 0: for any ρ the scores less
ρ·cost, plus ρ·budget, bound F.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from breadth import kernels
from breadth.arrays import Mask, Matrix, Positions, Vector
from breadth.clock import Clock
from breadth.feasible import Parts, best_sum
from breadth.shortlist.table import Table

_STEPS_AT_ONCE, _MOST_STEPS = 256, 20_000
_ROUNDING = 2e-6
"""What float32 similarities change in an eigenvalue, for each row."""


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
    """The quadratic form of some rows of a table, with a diagonal: what is maximised over the relaxed sets."""

    where: Positions
    linear: Vector
    gram: Matrix
    parts: Parts
    cost: Vector

    @classmethod
    def plain(cls, table: Table) -> Form:
        """All rows, D = 0."""
        return cls._make(table, np.arange(len(table)), table.gram)

    @classmethod
    def shifted(cls, table: Table, where: Positions) -> Form:
        """Some rows, D = λ_min(S)·I, and 0 for the similarity of rows that may not be in one set."""
        gram = table.gram[np.ix_(where, where)]
        rules = table.rules
        if not rules.free:
            gram[rules.apart[np.ix_(where, where)] > 0] = 0.0
        least = float(np.linalg.eigvalsh(gram.astype(np.float64))[0]) - _ROUNDING * len(where)
        gram[np.diag_indices_from(gram)] -= np.float32(least)
        return cls._make(table, where, gram)

    @classmethod
    def _make(cls, table: Table, where: Positions, gram: Matrix) -> Form:
        half = 0.5 * table.problem.coupling
        linear = table.linear[where] + half * gram.diagonal().astype(np.float64)
        cost = np.zeros(len(where)) if table.rules.free else table.rules.cost[where]
        parts = table.parts
        if len(where) < len(table):
            parts = Parts(parts.part[where], parts.room, parts.locked[where])
        return cls(where, linear, gram, parts, cost)


def relax(table: Table, form: Form, chosen: Positions, share: float, supply: float, clock: Clock) -> Relaxed:
    """Bound F, from the set `chosen` (positions in the table) on, to a `share` of what is left open above it.

    `supply`: what a row outside can be worth, -∞ if there is none.
    """
    best = table.value(chosen)
    x = np.zeros(len(form.where))
    x[np.searchsorted(form.where, chosen)] = 1.0
    price = 0.0
    found = _climb(table, form, x, best, share, supply, price, clock)
    if np.isfinite(table.rules.budget):
        found = _search_price(table, form, found, best, share, supply, clock)
    return found


def _climb(
    table: Table, form: Form, x: Vector, best: float, share: float, supply: float, price: float, clock: Clock
) -> Relaxed:
    """Maximise the form at one price, and say what that bounds."""
    problem, kernel = table.problem, kernels.current()
    linear = form.linear - price * form.cost
    constant = price * table.rules.budget if price else 0.0
    least = 1e-7 * problem.scale
    done = 0
    while True:
        gap, value = kernel.relax(
            linear, form.gram, problem.k, problem.coupling, form.parts, x, best - constant, share, least, _STEPS_AT_ONCE
        )
        done += _STEPS_AT_ONCE
        if gap <= max(least, share * (value + constant - best)) or done >= _MOST_STEPS or clock.is_over():
            break
    slope = linear - problem.coupling * (form.gram.astype(np.float64) @ x)
    bound = _linearise(linear, slope, x, problem.k, form.parts, supply) + constant
    losses = find_losses(slope, problem.k, form.parts, supply)
    resolution = 1e-9 * problem.scale
    worth = bound - losses
    return Relaxed(bound, x, slope, worth[:-1] > best + resolution, bool(worth[-1] > best + resolution))


def bound_at(table: Table, form: Form, x: Vector, supply: float) -> float:
    """The bound that a given x gives."""
    slope = form.linear - table.problem.coupling * (form.gram.astype(np.float64) @ x)
    return _linearise(form.linear, slope, x, table.problem.k, form.parts, supply)


def _linearise(linear: Vector, slope: Vector, x: Vector, k: int, parts: Parts, supply: float) -> float:
    """The value at x, plus the most that its linearisation gains towards an allowed set."""
    return 0.5 * float(linear @ x - slope @ x) + best_sum(slope, k, parts, supply)


def find_losses(slope: Vector, k: int, parts: Parts, supply: float) -> Vector:
    """What the best sum of slopes loses at least when one row must be in the set; the last entry: a row outside.

    A row whose part is full displaces the weakest row of its part, any other one the weakest of all.
    """
    order = np.argsort(-slope, kind="stable")
    order = np.concatenate((order[parts.locked[order]], order[~parts.locked[order]]))
    room, taken, left = parts.room.copy(), np.zeros(len(slope), dtype=bool), k
    for i in order:
        if left == 0 or (slope[i] <= supply and supply > -np.inf and not parts.locked[i]):
            break
        if room[parts.part[i]] > 0:
            taken[i], left = True, left - 1
            room[parts.part[i]] -= 1
    free = taken & ~parts.locked
    weakest = supply if left > 0 else float(slope[free].min()) if free.any() else np.inf
    by_part = np.full(len(parts.room), np.inf)
    np.minimum.at(by_part, parts.part[free], slope[free])
    full = room[parts.part] <= 0
    losses = np.where(full, by_part[parts.part], weakest) - slope
    losses[taken] = 0.0
    return np.append(np.maximum(losses, 0.0), max(weakest - supply, 0.0) if supply > -np.inf else np.inf)


def _search_price(
    table: Table, form: Form, found: Relaxed, best: float, share: float, supply: float, clock: Clock
) -> Relaxed:
    """The price of the budget whose bound is the lowest, by golden section on a convex function."""
    scale = float(np.abs(found.slope).max()) / max(float(form.cost[form.cost > 0].min(initial=np.inf)), 1e-12)
    if not np.isfinite(scale) or scale == 0.0:
        return found
    lowest = found
    low, high = 0.0, scale
    for _ in range(_PRICES):
        if clock.is_over():
            break
        middle = np.array([low + 0.382 * (high - low), low + 0.618 * (high - low)])
        tried = [_climb(table, form, found.x.copy(), best, share, supply, float(p), clock) for p in middle]
        lowest = min(lowest, *tried, key=lambda relaxed: relaxed.bound)
        low, high = (low, float(middle[1])) if tried[0].bound <= tried[1].bound else (float(middle[0]), high)
    return lowest


_PRICES = 12
