"""The table: the first rows of a shortlist with their similarities and rules. All searching for sets is done on it."""

from __future__ import annotations

from copy import copy
from dataclasses import replace

import numpy as np

from breadth import kernels
from breadth.arrays import Array, Ids, Mask, Matrix, Positions, Vector
from breadth.clock import Clock
from breadth.feasible import Parts, allows, find_parts, free_rules, may_add
from breadth.kernels.contract import DOUBT
from breadth.problem import Problem, sharpen
from breadth.shortlist.fetch import Shortlist
from breadth.shortlist.partial import check_pins

_GAIN = 1e-7
"""A swap must gain more than this (times 1 + k), or rounding of the similarities could run in circles."""
_PAIRS_AT_ONCE = 4096
_SWAPS_AT_ONCE, _MOST_SWAPS = 64, 10_000


def least_gain(k: int) -> float:
    """What a swap must gain to count in a set of k rows."""
    return _GAIN * (1.0 + k)


class Table:
    """Similarities, weighted relevance and rules of the first rows of a shortlist. A set is an array of positions.

    problem     the query; its k is the number of rows that the set has
    asked       the number of rows that was asked for
    locked      positions that are in every set: pinned rows, and the best hit if it is to be kept
    lacks_best  whether the best hit is to be kept, but no row of the table may stand beside the pinned ones
    """

    def __init__(self, problem: Problem, shortlist: Shortlist, size: int) -> None:
        self.problem, self.shortlist, self.asked = problem, shortlist, problem.k
        self.size = min(size, len(shortlist))
        rows = shortlist.rows[: self.size]
        self.relevance: Vector = _rate(problem, rows)
        self.cosines: Matrix = _multiply_pairs(problem.similar(rows))
        self.gram: Matrix = np.ascontiguousarray(sharpen(self.cosines, problem.sharpness))
        if shortlist.pins:
            check_pins(problem, shortlist.rows[: shortlist.pins])
        self.locked: Positions = np.arange(shortlist.pins)
        self.lacks_best = False
        self.rules = free_rules()
        if problem.constraints.limits_sets:
            pairs = _TablePairs(self.ids, self.cosines, problem.similar(rows))
            self.rules = problem.constraints.make_rules(pairs, problem.k, self.locked)
        self._conflicts = bool(self.rules.apart.any())
        self._twins: Positions | None = None
        if problem.constraints.keep_best:
            self._lock_best()
        self.resize(problem.k)

    def resize(self, k: int) -> None:
        """Look for sets of k rows from now on."""
        self.problem = self.problem if self.problem.k == k else replace(self.problem, k=k)
        self.linear: Vector = self.problem.linear(self.relevance)
        self._parts: Parts | None = None

    def at(self, problem: Problem) -> Table:
        """The same rows for a problem that differs in θ or k alone."""
        other = copy(self)
        other.problem = problem
        other.resize(problem.k)
        return other

    @property
    def parts(self) -> Parts:
        """The relaxation of the rules, for bounds."""
        if self._parts is None:
            self._parts = find_parts(self.rules, self.size, self.problem.k)
        return self._parts

    def __len__(self) -> int:
        return self.size

    @property
    def ids(self) -> Ids:
        return self.shortlist.ids[: self.size]

    @property
    def least_gain(self) -> float:
        """What a swap must gain to count."""
        return least_gain(self.problem.k)

    @property
    def has_conflicts(self) -> bool:
        """Whether any two rows may not be in one set."""
        return self._conflicts

    @property
    def supply(self) -> float:
        """What a row outside the table can be worth at the most, for an even sharpness."""
        beyond = self.shortlist.scores[self.size :]
        best = float(beyond[0]) if len(beyond) else self.shortlist.ceiling
        return best if best == -np.inf else self.problem.relevance_weight * best

    def _lock_best(self) -> None:
        """Lock the most relevant row that may stand beside the pinned ones, unless one of these is more relevant."""
        if len(self.locked) >= self.problem.k or self.size == 0:
            return
        if len(self.locked) == 0 and self.rules.budget == np.inf:
            first = int(self.relevance.argmax())
            self.locked = np.array([first])
            self.rules.locked[first] = True
            return
        picks = np.full(len(self.locked) + 1, -1, dtype=np.int64)
        picks[: len(self.locked)] = self.locked
        found = self._greedy(self.relevance, 0.0, picks, len(self.locked)) == len(picks)
        self.lacks_best = not found
        if found and self.relevance[picks[-1]] > self.relevance[self.locked].max(initial=-np.inf):
            self.locked = picks
            self.rules.locked[picks[-1]] = True

    def _greedy(self, linear: Vector, coupling: float, picks: Positions, given: int) -> int:
        return int(kernels.current().greedy(linear, self.gram, coupling, self.rules, picks, given))

    def pick(self, linear: Vector | None = None, coupling: float | None = None) -> Positions:
        """Greedy on F, or by other merits, beside the locked rows: k rows, or fewer if no further row may join."""
        merits = self.linear if linear is None else linear
        given = len(self.locked)
        picks = np.empty(self.problem.k, dtype=np.int64)
        picks[:given] = self.locked
        coupling = self.problem.coupling if coupling is None else coupling
        return picks[: self._greedy(merits, coupling, picks, given)]

    def extend(self, chosen: Positions) -> Positions:
        """The set with the row of the largest marginal value that may join it, if there is one."""
        longer = np.append(chosen, -1)
        count = self._greedy(self.linear, self.problem.coupling, longer, len(chosen))
        return longer[:count]

    def addable(self, chosen: Positions, at_any_cost: bool = False) -> Mask:
        """Which rows may join a set; `at_any_cost`: the budget left aside."""
        rules = self.rules
        fitting = np.ones(self.size, dtype=bool)
        if not rules.free:
            counts = np.bincount(rules.group[chosen], minlength=len(rules.room))[rules.group]
            spent = np.zeros(self.size) if at_any_cost else float(rules.cost[chosen].sum()) + rules.cost
            clashes = rules.apart[chosen].sum(axis=0, dtype=np.int64)
            fitting &= may_add(clashes, counts, rules.room[rules.group], spent, rules.budget)
        fitting[chosen] = False
        return fitting

    def is_short_of_budget(self, chosen: Positions) -> bool:
        """Whether a further row could join the set if it were not for its cost."""
        return bool(np.isfinite(self.rules.budget) and self.addable(chosen, at_any_cost=True).any())

    def value(self, chosen: Positions) -> float:
        """F of a set."""
        return float(kernels.current().set_value(self.linear, self.gram, self.problem.coupling, chosen))

    def swap(self, chosen: Positions, clock: Clock) -> int:
        """Exchange one member for one row, in place, as long as F grows and the rules allow it; how many swaps."""
        done = 0
        while done < _MOST_SWAPS:
            count = kernels.current().swap(
                self.linear, self.gram, self.problem.coupling, self.rules, chosen, self.least_gain, _SWAPS_AT_ONCE
            )
            done += count
            if count < _SWAPS_AT_ONCE or clock.is_over():
                break
        return done

    def improve(self, chosen: Positions, merits: Vector, couplings: Vector, clock: Clock) -> int:
        """Greedy by each line of `merits`, then swaps; `chosen` becomes the best set of all. How many swaps."""
        together = len(merits) if clock.limit == np.inf else 1
        swaps = 0
        for first in range(0, len(merits), together):
            if clock.is_over():
                break
            some = slice(first, first + together)
            swaps += kernels.current().try_starts(
                self.linear, self.gram, self.problem.coupling, self.rules, self.locked, merits[some], couplings[some],
                chosen, self.least_gain,
            )  # fmt: skip
        return swaps

    def search(self, chosen: Positions, iterations: int, clock: Clock) -> None:
        """Tabu search from a set, which becomes the best set met."""
        kernel = kernels.current()
        current, totals = chosen.copy(), np.zeros(2)
        merits = kernel.marginals(self.linear, self.gram, self.problem.coupling, current)
        free_at = np.zeros(self.size, dtype=np.int64)
        at_once = max(1, kernel.STEPS_AT_ONCE // (self.size + 16 * self.problem.k))
        done = 0
        while done < iterations and not clock.is_over():
            count = min(at_once, iterations - done)
            kernel.tabu(
                self.linear, self.gram, self.problem.coupling, self.rules, chosen, current, merits, free_at, totals,
                done + 1, count, self.least_gain,
            )  # fmt: skip
            done += count

    def mark_originals(self, chosen: Positions) -> Mask:
        """Which rows are left when one of several exact copies stands for all: a chosen one, or else the first.

        Where two copies cannot be in one set, any of them is as good as the others, if group and cost are the same.
        """
        if not self._conflicts:
            return np.ones(self.size, dtype=bool)
        others = np.ones(self.size, dtype=bool)
        others[chosen] = False
        order = np.argsort(others, kind="stable")
        mask = np.zeros(self.size, dtype=bool)
        mask[order[np.unique(self.twins[order], return_index=True)[1]]] = True
        return mask

    @property
    def twins(self) -> Positions:
        """For each row the first row that is an exact copy of it, of the same group and cost, or else the row itself.

        Only rows that conflict with another one are compared.
        """
        if self._twins is None:
            self._twins = np.arange(self.size)
            rules, rows = self.rules, self.shortlist.rows
            first: dict[tuple[bytes, int, float], int] = {}
            for row in np.flatnonzero(rules.apart.any(axis=1)).tolist() if self._conflicts else ():
                key = (rows[row].tobytes(), int(rules.group[row]), float(rules.cost[row]))
                self._twins[row] = first.setdefault(key, row)
        return self._twins

    def find_replacements(self, chosen: Positions) -> dict[int, int] | None:
        """For the id of each member, the id of the best row that may take its place; members without one are left out.

        For an even sharpness. None if a row outside the table could be better, or if a member is not in the table.
        """
        if len(chosen) < self.problem.k:
            return None
        merits = kernels.current().marginals(self.linear, self.gram, self.problem.coupling, chosen)
        outside = np.setdiff1d(np.arange(self.size), chosen)
        found: dict[int, int] = {}
        for member in chosen.tolist():
            if not self.rules.free and self.rules.locked[member]:
                continue
            rest = chosen[chosen != member]
            if not self.rules.free:
                tried = np.column_stack((np.tile(rest, (len(outside), 1)), outside))
                fitting = outside[allows(self.rules, tried)]
            else:
                fitting = outside
            worth = merits[fitting] + self.problem.coupling * self.gram[fitting, member].astype(np.float64)
            if len(fitting) == 0 or float(worth.max()) < self.supply:
                if self.supply > -np.inf:
                    return None
                continue
            found[int(self.ids[member])] = int(self.ids[fitting[np.argmax(worth)]])
        return found

    def lowest_floor(self, chosen: Positions) -> float:
        """What a row outside must be worth at least to gain by replacing any member that may go."""
        merits = kernels.current().marginals(self.linear, self.gram, self.problem.coupling, chosen)[chosen]
        floors = merits + self.problem.coupling * self.gram.diagonal()[chosen].astype(np.float64)
        free = np.ones(len(chosen), dtype=bool) if self.rules.free else ~self.rules.locked[chosen]
        return float(floors[free].min()) if free.any() else np.inf


class _TablePairs:
    """The rows of a table with themselves. Cosines that are nearly the one asked for are computed again in float64."""

    def __init__(self, ids: Ids, cosines: Matrix, rows: Array) -> None:
        self.left = self.right = ids
        self.cosines, self._rows = cosines, rows

    def above(self, cosine: float) -> Mask:
        possible = self.cosines > cosine - DOUBT
        possible.ravel()[:: len(possible) + 1] = False
        if not possible.any():
            return possible
        left, right = np.nonzero(possible)
        cosines = self.cosines[left, right].astype(np.float64)
        doubtful = np.flatnonzero(cosines < cosine + DOUBT)
        for start in range(0, len(doubtful), _PAIRS_AT_ONCE):
            some = doubtful[start : start + _PAIRS_AT_ONCE]
            one, other = np.minimum(left[some], right[some]), np.maximum(left[some], right[some])
            # The same number for both orders of a pair.
            cosines[some] = np.einsum(
                "ij,ij->i", self._rows[one].astype(np.float64), self._rows[other].astype(np.float64)
            )
        possible[left, right] = cosines > cosine
        return possible


def _rate(problem: Problem, rows: Array) -> Vector:
    """The relevance of rows, in float64."""
    if problem.similarity_dim is not None:
        return np.ascontiguousarray(rows[:, problem.similarity_dim], dtype=np.float64)
    return kernels.current().inner_at(np.ascontiguousarray(rows), np.arange(len(rows)), problem.query)


def _multiply_pairs(rows: Array) -> Matrix:
    if rows.dtype == np.float64:
        return np.asarray(rows @ rows.T, dtype=np.float32)
    return kernels.current().multiply_pairs(np.ascontiguousarray(rows, dtype=np.float32))
