"""Constraints with the paper's similarity: cosines can be negative, so relevance bounds nothing.

The collection is searched for what would improve the set or the bound on the shortlist, as the solver without
constraints does: for the direction w(v) of the set, whose best rows are the best replacements, and for w(u) of the
relaxation, whose best rows move the bound. What these searches find joins the shortlist.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from breadth.arrays import Array, Ids, Vector
from breadth.certified.effort import Effort
from breadth.certified.shortlist.search import Found, settle
from breadth.clock import Clock
from breadth.feasible import Parts, best_sum
from breadth.oracles.protocol import Facts
from breadth.problem import Problem, exchange_gain, floor
from breadth.requests import Asking, Rows, Top
from breadth.shortlist.fetch import Shortlist, fetch_shortlist, fix_constraints
from breadth.shortlist.table import Table


def search_columns(problem: Problem, facts: Facts, clock: Clock, effort: Effort) -> Asking[Found]:
    """The best set found, and a bound that holds for the whole collection."""
    problem = yield from fix_constraints(problem, facts)
    count = max(effort.held_when_near, effort.held_for_each * problem.k) + len(problem.constraints.excluded)
    while True:
        shortlist = yield from fetch_shortlist(problem, facts, count)
        last = shortlist.is_final or count >= effort.most_rows or clock.is_over()
        found = settle(Table(problem, shortlist, len(shortlist)), last, clock, effort)
        if found is not None:
            break
        if last:
            raise problem.constraints.say_nothing_fits(len(shortlist))
        count *= 2
    late = "time_limit" if clock.is_over() else "rounds"
    if shortlist.is_complete:
        found.swap_optimal = not clock.is_over()
        found.note("columns", 1, late)
        return found
    found = replace(found, bound=np.inf)
    wanted = max(effort.priced, 4 * problem.k)
    rounds = 0
    for _ in range(effort.rounds):
        rounds += 1
        priced = yield from _price(found, facts, min(wanted, facts.size))
        found.bound = min(found.bound, priced.bound)
        found.swap_optimal = priced.swap_optimal and not clock.is_over()
        if len(priced.ids) == 0 and not priced.swap_optimal and wanted < facts.size:
            wanted *= 2  # copies of the members take all the places
            continue
        if len(priced.ids) == 0 or clock.is_over() or len(found.table) + len(priced.ids) > effort.most_rows:
            break
        before = found
        longer = _extend(found.table.shortlist, priced)
        found = _settle_again(replace(problem, k=found.problem.k), longer, found, clock, effort)
        found.bound = before.bound if found.problem.k == before.problem.k else np.inf
    found.note("columns", rounds, "time_limit" if clock.is_over() else "rounds")
    return found


class _Priced:
    """What a search of the collection found: rows that help, a bound, and whether the set is swap-optimal."""

    def __init__(self, ids: Ids, rows: Array, scores: Vector, bound: float, swap_optimal: bool) -> None:
        self.ids, self.rows, self.scores = ids, rows, scores
        self.bound, self.swap_optimal = bound, swap_optimal


def _price(found: Found, facts: Facts, wanted: int) -> Asking[_Priced]:
    """Search for both directions; which of the rows found are allowed, new, and would help."""
    problem, table, relaxed = found.problem, found.table, found.relaxed
    assert relaxed is not None
    held = np.asarray(table.shortlist.rows[: len(table)], dtype=np.float64)
    members = held[found.chosen]
    w_dual, w_set = problem.direction(relaxed.x @ held), problem.direction(members.sum(axis=0))
    answer = yield from Top(np.array([w_dual, w_set]), wanted)
    new = np.setdiff1d(np.unique(answer.ids), table.ids)
    rows = np.asarray((yield from Rows(new)), dtype=np.float64)
    relevance = rows @ problem.query
    kept = problem.constraints.admit(new, relevance)
    new, rows, relevance = new[kept], rows[kept], relevance[kept]
    half = 0.5 * problem.coupling
    slopes = rows @ w_dual + half * problem.own_similarities(rows)
    unseen = -np.inf if wanted == facts.size else float(answer.scores[0, -1]) + half * facts.max_squared_norm
    bound = _bound_with(found, slopes, unseen)
    own = problem.own_similarities(members)
    floors = floor(members @ w_set, own, problem.coupling)
    gains = exchange_gain((rows @ w_set)[:, None], problem.cosines(rows, members), floors, problem.coupling)
    gaining = gains.max(axis=1) > table.least_gain if len(new) else np.zeros(0, dtype=bool)
    lowest = problem.lowest_marginal(floors, own, facts.max_squared_norm)
    seen_all = wanted == facts.size or float(answer.scores[1, -1]) <= lowest
    threshold = float(np.sort(relaxed.slope)[-problem.k])
    helping = gaining | (slopes > threshold + 1e-9)
    return _Priced(new[helping], rows[helping], relevance[helping], bound, bool(seen_all and not gaining.any()))


def _bound_with(found: Found, slopes: Vector, unseen: float) -> float:
    """The bound of the relaxation over the table, the rows that were found and those that were not."""
    relaxed, parts = found.relaxed, found.table.parts
    assert relaxed is not None
    k = found.problem.k
    extra = np.full(len(slopes), len(parts.room), dtype=np.int64)
    longer = Parts(
        np.concatenate((parts.part, extra)),
        np.append(parts.room, k + 1),
        np.concatenate((parts.locked, np.zeros(len(slopes), dtype=bool))),
    )
    without = best_sum(relaxed.slope, k, parts)
    return relaxed.bound + best_sum(np.concatenate((relaxed.slope, slopes)), k, longer, unseen) - without


def _extend(shortlist: Shortlist, priced: _Priced) -> Shortlist:
    return Shortlist(
        np.concatenate((shortlist.ids, priced.ids)),
        np.concatenate((shortlist.rows, priced.rows)),
        np.concatenate((shortlist.scores, priced.scores)),
        shortlist.pins,
        shortlist.ceiling,
    )


def _settle_again(problem: Problem, shortlist: Shortlist, before: Found, clock: Clock, effort: Effort) -> Found:
    """Settle on a longer shortlist, and from the set so far."""
    table = Table(problem, shortlist, len(shortlist))
    table.asked = before.table.asked
    found = settle(table, False, clock, effort, start=before.chosen)
    assert found is not None
    found.swaps += before.swaps
    return found
