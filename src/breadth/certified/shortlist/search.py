"""Find the best allowed set and a bound: grow the table and the shortlist until nothing outside matters."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from breadth import kernels
from breadth.arrays import Ids, Positions, Vector
from breadth.certified.effort import Effort
from breadth.clock import Clock
from breadth.feasible import best_sum
from breadth.kernels.contract import UNDECIDED, Aims, Outcome
from breadth.oracles.protocol import Facts
from breadth.problem import Problem
from breadth.requests import Asking
from breadth.shortlist.bound import Aim, Form, Relaxed, relax
from breadth.shortlist.diagonal import FindDiagonal, dominant_diagonal, even_diagonal
from breadth.shortlist.fetch import Shortlist, fetch_shortlist
from breadth.shortlist.table import Table, least_gain

_EIGENVALUES = (even_diagonal, even_diagonal)
"""The last diagonals that tighten a bound: the second time for the rows that the first time leaves."""


@dataclass
class Found:
    """The best set of a table so far, with its bound. `relaxed` is the last relaxation: D = 0, all rows."""

    table: Table
    chosen: Positions
    value: float
    bound: float = np.inf
    relaxed: Relaxed | None = None
    swaps: int = 0
    swap_optimal: bool = False
    stats: dict[str, Any] = field(default_factory=dict)

    @property
    def problem(self) -> Problem:
        return self.table.problem

    @property
    def ids(self) -> Ids:
        return self.table.ids[self.chosen]

    @property
    def rows(self) -> Vector:
        return np.asarray(self.table.shortlist.rows[self.chosen], dtype=np.float64)

    def note(self, path: str, rounds: int, otherwise: str) -> None:
        """Write down how the set was found; `otherwise`: why it ended if the set is not swap-optimal."""
        stopped = "swap_optimal" if self.swap_optimal else otherwise
        self.stats = write_stats(path, rounds, self.swaps, len(self.table), len(self.table.shortlist), stopped)


def write_stats(path: str, rounds: int, swaps: int, block: int, held: int, stopped: str) -> dict[str, Any]:
    """How a set was found, for `Selection.stats`."""
    return {
        "path": path, **kernels.describe(), "rounds": rounds, "swaps": swaps, "block": block, "held": held,
        "stopped": stopped,
    }  # fmt: skip


def count_rows(problem: Problem, facts: Facts, effort: Effort) -> int:
    """How many rows the first shortlist has, at the most."""
    count = effort.count_sent(problem.k) if facts.gives_rows else effort.count_shortlist(problem.k)
    return count + len(problem.constraints.excluded)


def search_shortlist(
    problem: Problem, facts: Facts, clock: Clock, effort: Effort, shortlist: Shortlist, tried: bool = False
) -> Asking[Found]:
    """The best set found, swap-optimal over the whole collection unless `swap_optimal` says otherwise.

    `shortlist`: the first one, of `count_rows`; `tried`: it is known that rows beyond it matter.
    """
    count = count_rows(problem, facts, effort)
    # How many rows a budget allows is decided on all that were fetched: cheap rows may come late.
    size = facts.size if np.isfinite(problem.constraints.budget) else effort.count_first(problem.k)
    rounds = 1
    if tried and not shortlist.is_final and count < effort.most_rows:
        count, size, rounds = 2 * count, 2 * len(shortlist), 2
        shortlist = yield from fetch_shortlist(problem, facts, count)
    while True:
        last = shortlist.is_final or count >= effort.most_rows or clock.is_over()
        found, size = search_table(problem, shortlist, size, clock, effort, last=last)
        if found is not None and (last or clock.is_over() or is_settled(found)):
            break
        if last:
            raise problem.constraints.say_nothing_fits(len(shortlist))
        count *= 2
        rounds += 1
        shortlist = yield from fetch_shortlist(problem, facts, count)
    found.swap_optimal = is_settled(found) and not clock.is_over()
    found.note("shortlist", rounds, "time_limit" if clock.is_over() else "rows")
    return found


def search_table(
    problem: Problem,
    shortlist: Shortlist,
    size: int,
    clock: Clock,
    effort: Effort,
    tables: dict[int, Table] | None = None,
    last: bool = False,
) -> tuple[Found | None, int]:
    """Search on the first rows of the shortlist, on more and more of them until those outside do not matter.

    Returns the set, or None if no row may be in one, and how many rows it took. `tables`: tables of this shortlist by
    their size, to be used again for another θ. `last`: the shortlist will not grow, so that fewer than k rows have to
    do where the rules leave no more.
    """
    while len(shortlist):
        if tables is None:
            table = Table(problem, shortlist, size)
        else:
            if size not in tables:
                tables[size] = Table(problem, shortlist, size)
            table = tables[size].at(problem)
        found = settle(table, (last or shortlist.is_complete) and len(table) == len(shortlist), clock, effort)
        if found is not None and (is_settled(found) or clock.is_over()):
            return found, size
        if len(table) == len(shortlist):
            return found, size
        size *= 2
    return None, size


def is_settled(found: Found) -> bool:
    """Whether rows outside the table change neither the set, by a swap, nor the bound."""
    supply = found.table.supply
    if supply == -np.inf:
        return True
    if len(found.chosen) < found.problem.k or found.relaxed is None:
        return False
    return not found.relaxed.outside or (
        found.table.lowest_floor(found.chosen) >= supply - found.table.least_gain and not _raises(found, supply)
    )


def _raises(found: Found, supply: float) -> bool:
    """Whether rows outside raise the bound."""
    assert found.relaxed is not None
    slope = found.relaxed.slope
    k, parts = found.problem.k, found.table.parts
    return best_sum(slope, k, parts, supply) > best_sum(slope, k, parts)


def settle(table: Table, last: bool, clock: Clock, effort: Effort, start: Positions | None = None) -> Found | None:
    """The best set of a table and its bound; None if more rows are needed, or none may be in a set.

    `last`: there will be no further rows, so that fewer than k have to do where the rules leave no more. `start`: a set
    to begin with instead of greedy's.
    """
    if start is None and _takes_one_call(table, clock):
        found = _settle_in_one_call(table, clock, effort)
        if found is not None:
            return found
    first = _start(table, last) if start is None else start.copy()
    if first is None:
        return None
    found = Found(table, first, 0.0)
    found.swaps += table.swap(found.chosen, clock)
    spend_rest(found, clock)
    while True:
        _settle_size(found, clock, effort)
        size = table.problem.k
        spend_rest(found, clock)
        if table.problem.k == size:
            return found


def _takes_one_call(table: Table, clock: Clock) -> bool:
    """Whether the kernels have all of what follows in one call: it cannot be stopped, and knows no budget."""
    unlimited = clock.limit == np.inf and not np.isfinite(table.rules.budget)
    return kernels.current().settle is not None and unlimited and table.problem.sharpness > 1 and not table.lacks_best


def make_aims(problem: Problem, effort: Effort) -> Aims:
    """How far the kernels go on a table."""
    return Aims(
        effort.starts, effort.rough, effort.fine, effort.tabu, effort.tight_rows, effort.eigen,
        effort.decided if problem.k <= effort.decided_k else 0, effort.looks,
        1e-7 * problem.scale, least_gain(problem.k), max(problem.spread, 1e-300),
    )  # fmt: skip


def _settle_in_one_call(table: Table, clock: Clock, effort: Effort) -> Found | None:
    """The same as the steps of `settle`, in one call of the kernels; None if greedy does not find k rows."""
    settle_all, problem = kernels.current().settle, table.problem
    assert settle_all is not None
    aims = make_aims(problem, effort)
    outcome = Outcome.of(len(table), problem.k)
    ended, swaps = settle_all(
        table.linear, table.gram, table.rules, problem.k, problem.coupling, table.locked, table.parts, table.twins,
        table.supply, aims, outcome,
    )  # fmt: skip
    return None if ended == 0 else go_on(table, outcome, ended, swaps, clock, effort)


def go_on(table: Table, outcome: Outcome, ended: int, swaps: int, clock: Clock, effort: Effort) -> Found:
    """Go on where a call of the kernels ended."""
    value, bound, outside, outside_at_first, bound_at_first = outcome.totals[:5].tolist()
    relaxed = Relaxed(bound_at_first, outcome.x, outcome.slope, outcome.survivors, outside_at_first > 0.0)
    found = Found(table, outcome.chosen, value, bound, relaxed, swaps)
    if ended > 1:
        left = outcome.left
        _tighten_further(found, np.flatnonzero(left), outcome.inner_x[left], outside > 0.0, clock, effort, _EIGENVALUES)
    if ended == 2:
        _improve_further(found, clock, effort)
    return found


def _settle_size(found: Found, clock: Clock, effort: Effort) -> None:
    """The best set of its size, from the set that there is, and its bound."""
    table = found.table
    found.swaps += table.improve(found.chosen, *_make_starts(table, effort.starts), clock)
    found.value, found.bound = table.value(found.chosen), np.inf
    whole = table.supply == -np.inf  # no row is outside the table
    if table.problem.k == 1 or (whole and len(table) == table.problem.k):
        found.bound = found.value
    tighten = whole or table.problem.sharpness > 1
    _bound(found, effort.rough if tighten else effort.fine, clock)
    if tighten:
        _tighten(found, clock, effort)
    _improve_further(found, clock, effort, tighten)


def _improve_further(found: Found, clock: Clock, effort: Effort, tighten: bool = True) -> None:
    """Where the bound leaves something open, search longer for a better set; one that is found gets its own bound."""
    if is_closed(found) or clock.is_over():
        return
    before = found.value
    _search_longer(found, clock, effort)
    if tighten and found.value > before:
        _tighten(found, clock, effort)


def _start(table: Table, last: bool) -> Positions | None:
    """Greedy on F. Where it finds fewer than k rows and there are no others, the set has fewer.

    So it has where the budget is spent: how many rows it has is then what greedy finds, with the weights of F for that
    many rows.
    """
    if table.lacks_best and not last:
        return None
    picks = table.pick()
    while len(picks) < table.problem.k and len(picks) and table.is_short_of_budget(picks):
        table.resize(len(picks))
        picks = table.pick()
    if len(picks) == table.problem.k:
        return picks
    if not last or len(picks) == 0:
        return None
    if table.rules.apart.any():
        lonely = table.pick(-table.rules.apart.sum(axis=1).astype(np.float64), 0.0)
        picks = lonely if len(lonely) > len(picks) else picks
    table.resize(len(picks))
    return picks


def spend_rest(found: Found, clock: Clock) -> None:
    """Let further rows join as long as the budget allows: a swap may have made room for them."""
    table = found.table
    while np.isfinite(table.rules.budget) and len(found.chosen) < table.asked:
        longer = table.extend(found.chosen)
        if len(longer) == len(found.chosen):
            return
        table.resize(len(longer))
        found.chosen = longer
        found.swaps += table.swap(found.chosen, clock)


def _bound(found: Found, share: float, clock: Clock) -> None:
    table = found.table
    # Rows that conflict count as dissimilar beside a diagonal, which can make the bound looser.
    if table.problem.sharpness > 1 and not table.has_conflicts and not clock.is_over():
        form = Form.shifted(table, np.arange(len(table)), dominant_diagonal)
    else:
        form = Form.plain(table)
    found.relaxed = relax(form, form.indicate(found.chosen), _aim(found, share, True), clock)
    found.bound = min(found.bound, found.relaxed.bound)
    if table.problem.sharpness > 1 and _open_gap(found) > 1.0:  # far from converged: relevance alone may say more
        found.bound = min(found.bound, best_sum(table.linear, found.problem.k, table.parts, table.supply))


def _aim(found: Found, share: float, outside: bool) -> Aim:
    """How far to go with a relaxation; `outside`: whether rows outside may be in a better set."""
    table = found.table
    supply = table.supply if outside and table.problem.sharpness > 1 else -np.inf
    return Aim(table.value(found.chosen), share, 1e-7 * found.problem.scale, supply)


def _open_gap(found: Found) -> float:
    """The gap in the unit that gaps are measured in."""
    return max(found.bound - found.value, 0.0) / max(found.problem.spread, 1e-300)


def is_closed(found: Found) -> bool:
    return found.bound - found.value <= 1e-7 * found.problem.scale


def _make_starts(table: Table, count: int) -> tuple[Vector, Vector]:
    """Merits that greedy goes by, and their couplings: F with a first row. Every other time relevance counts half.

    The first rows are the most relevant ones and, where relevance counts half, such as are spread over the table.
    """
    merits = np.empty((count, len(table)))
    merits[:] = table.linear
    merits[1::2] *= 0.5
    order = np.argsort(-table.linear, kind="stable")
    for number in range(count):
        near = min(number, len(order) - 1)
        first = order[near if number % 2 == 0 else (len(order) - 1) * number // count]
        merits[number, first] = np.finfo(np.float64).max  # picked first, if it may join
    return merits, np.full(count, table.problem.coupling)


def _search_longer(found: Found, clock: Clock, effort: Effort) -> None:
    """Start from the relaxation; then tabu search, the longer the more is left open."""
    table = found.table
    assert found.relaxed is not None
    offer(found, table.pick(found.relaxed.x, 0.0), clock)
    iterations = int(effort.tabu * min(_open_gap(found), 1.0) ** 0.5)
    if iterations:
        trial = found.chosen.copy()
        table.search(trial, iterations, clock)
        offer(found, trial, clock)


def offer(found: Found, start: Positions, clock: Clock) -> None:
    """Swap from a set, and keep what is found if it is better."""
    if len(start) < found.problem.k:
        return
    found.swaps += found.table.swap(start, clock)
    value = found.table.value(start)
    if value > found.value:
        found.chosen, found.value = start, value


def _tighten(found: Found, clock: Clock, effort: Effort) -> None:
    """Exclude rows that can be in no better set, and bound what is left with ever tighter forms."""
    table, relaxed = found.table, found.relaxed
    assert relaxed is not None
    alive = relaxed.survivors & table.mark_originals(found.chosen)
    alive[found.chosen] = True
    finders = (dominant_diagonal, *_EIGENVALUES)
    _tighten_further(found, np.flatnonzero(alive), relaxed.x[alive], relaxed.outside, clock, effort, finders)


def _tighten_further(
    found: Found,
    where: Positions,
    x: Vector,
    outside: bool,
    clock: Clock,
    effort: Effort,
    finders: tuple[FindDiagonal, ...],
) -> None:
    """Bound the sets of the rows `where`, and of rows outside the table, with one diagonal after the other.

    x is that of the last relaxation.
    """
    table = found.table
    for find in finders:
        if is_closed(found) or len(where) > effort.tight_rows or clock.is_over():
            return
        if find is even_diagonal and _open_gap(found) < effort.eigen:
            return
        form = Form.shifted(table, where, find, np.maximum(x * (1.0 - x), UNDECIDED))
        tighter = relax(form, form.indicate(found.chosen), _aim(found, effort.fine, outside), clock)
        found.bound = min(found.bound, max(found.value, tighter.bound))
        alive = tighter.survivors.copy()
        alive[np.searchsorted(where, found.chosen)] = True
        outside = outside and tighter.outside
        where, x = where[alive], tighter.x[alive]
