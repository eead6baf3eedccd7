"""The certified solver on a shortlist, from the problem to the selection."""

from __future__ import annotations

from breadth.certified.effort import Effort
from breadth.certified.shortlist.at_once import Work
from breadth.certified.shortlist.columns import search_columns
from breadth.certified.shortlist.prove import prove_on_table
from breadth.certified.shortlist.search import count_rows, search_shortlist
from breadth.clock import Clock
from breadth.oracles.protocol import Facts
from breadth.problem import Problem
from breadth.requests import Asking
from breadth.selection import Selection
from breadth.shortlist.conclude import conclude_on_table
from breadth.shortlist.fetch import fetch_shortlist


def solve_on_shortlist(problem: Problem, facts: Facts, clock: Clock, effort: Effort, prove: float) -> Asking[Selection]:
    """Find the set, spend `prove` seconds on its bound, and build the selection."""
    if problem.sharpness > 1:
        shortlist = yield from fetch_shortlist(problem, facts, count_rows(problem, facts, effort))
        tried = False
        if prove == 0.0 and Work.is_possible(problem, clock):
            selection, tried = Work(problem, effort).choose_listed(problem, shortlist, facts.exact)
            if selection is not None:
                return selection
        found = yield from search_shortlist(problem, facts, clock, effort, shortlist, tried)
    else:
        found = yield from search_columns(problem, facts, clock, effort)
    whole = problem.sharpness > 1 or found.table.shortlist.is_complete
    if prove > 0.0 and found.swap_optimal and whole:
        prove_on_table(found, clock.within(prove), facts.exact)
    return conclude_on_table(
        found.table,
        found.chosen,
        "certified",
        found.stats,
        bound=found.bound,
        exact=facts.exact,
        swap_optimal=found.swap_optimal,
        picked_in_order=False,
    )
