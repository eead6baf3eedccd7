"""Many θ on one shortlist: plain searches serve all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from breadth.certified.effort import EFFORT, LIGHT
from breadth.certified.shortlist.columns import search_columns
from breadth.certified.shortlist.search import Found, is_settled, search_table
from breadth.clock import Clock
from breadth.frontier import relevance_floor
from breadth.oracles.protocol import Facts
from breadth.problem import Problem
from breadth.requests import Asking
from breadth.selection import Selection
from breadth.shortlist.conclude import conclude_on_table
from breadth.shortlist.fetch import Shortlist, fetch_shortlist
from breadth.shortlist.pick import MOST, first_count
from breadth.shortlist.table import Table

_ROOM, _BISECTIONS = 4, 8


@dataclass(frozen=True, eq=False)
class Curve:
    """The best sets found for several θ, and the mean relevance of the most relevant allowed set."""

    found: list[Found]
    top_relevance: float


def search_thetas(problem: Problem, facts: Facts, clock: Clock, thetas: Sequence[float]) -> Asking[Curve]:
    """Find the best set for each θ on shortlists that double until they are long enough for all of them."""
    if problem.sharpness == 1:
        found = []
        for theta in thetas:
            found.append((yield from search_columns(replace(problem, theta=theta), facts, clock, EFFORT)))
        return Curve(found, _find_top_relevance(problem, found[-1].table.shortlist))
    count = first_count(problem)
    while True:
        shortlist = yield from fetch_shortlist(problem, facts, count)
        last = shortlist.is_final or count >= MOST or clock.is_over()
        some = _search_all(problem, shortlist, thetas, clock, last)
        if len(some) == len(thetas):
            if last or clock.is_over() or all(is_settled(f) for f in some):
                return Curve(some, _find_top_relevance(problem, shortlist))
        elif last:
            raise problem.constraints.say_nothing_fits(len(shortlist))
        count *= 2


def find_theta(problem: Problem, facts: Facts, clock: Clock, share: float) -> Asking[tuple[float, float]]:
    """About the smallest θ whose set keeps a share of the relevance, by bisection; and the relevance that is kept.

    The sets are looked for in memory, on one shortlist.
    """
    shortlist = yield from fetch_shortlist(problem, facts, _ROOM * first_count(problem))
    if len(shortlist) == 0:
        raise problem.constraints.say_nothing_fits(facts.size)
    floor = relevance_floor(_find_top_relevance(problem, shortlist), share)
    tables: dict[int, Table] = {}
    size = max(EFFORT.block, 2 * problem.k)
    low, high = 0.0, 1.0
    for _ in range(_BISECTIONS):
        if clock.is_over():
            break
        middle = (low + high) / 2.0
        found = search_table(replace(problem, theta=middle), shortlist, size, clock, LIGHT, tables, True)[0]
        enough = found is not None and float(found.table.relevance[found.chosen].mean()) >= floor
        low, high = (low, middle) if enough else (middle, high)
    return high, floor


def _search_all(
    problem: Problem, shortlist: Shortlist, thetas: Sequence[float], clock: Clock, last: bool
) -> list[Found]:
    """The best set for each θ that has one; similarities are computed once for all θ."""
    tables: dict[int, Table] = {}
    size = max(EFFORT.block, 2 * problem.k)
    some = []
    for theta in thetas:
        found = search_table(replace(problem, theta=theta), shortlist, size, clock, LIGHT, tables, last)[0]
        if found is not None:
            found.swap_optimal = is_settled(found) and not clock.is_over()
            some.append(found)
    return some


def _find_top_relevance(problem: Problem, shortlist: Shortlist) -> float:
    """The mean relevance of the most relevant set that is allowed."""
    table = Table(problem, shortlist, len(shortlist))
    picks = table.pick(table.relevance, 0.0)
    if len(picks) == 0:
        raise problem.constraints.say_nothing_fits(len(shortlist))
    return float(table.relevance[picks].mean())


def choose_for_each(curve: Curve, facts: Facts) -> tuple[Selection, ...]:
    """For each θ the best of all sets that were found for any, with its own bound.

    The objective is linear in θ, so along them neither relevance nor redundancy falls.
    """
    family = list({tuple(sorted(f.ids.tolist())): f for f in curve.found}.values())
    relevances = np.array([float(f.table.relevance[f.chosen].sum()) for f in family])
    pairs = np.array([f.problem.pair_sum(f.rows) for f in family])  # neither depends on θ
    sizes = np.array([len(f.chosen) for f in family])
    selections = []
    for own in curve.found:
        values = own.problem.weigh_sums(relevances, pairs)
        values[sizes != len(own.chosen)] = -np.inf
        place = int(np.lexsort((relevances, values))[-1])
        best = family[place]
        selections.append(
            conclude_on_table(
                best.table.at(own.problem),
                best.chosen,
                "certified",
                {"shortlist": len(own.table.shortlist)},
                bound=max(own.bound, float(values[place])),
                exact=facts.exact,
                swap_optimal=own.swap_optimal and set(best.ids.tolist()) == set(own.ids.tolist()),
                picked_in_order=False,
            )
        )
    return tuple(selections)
