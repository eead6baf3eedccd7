"""The certified solver on a shortlist, from the problem to the selection."""

from __future__ import annotations

from breadth.certified.effort import Effort
from breadth.certified.shortlist.columns import search_columns
from breadth.certified.shortlist.prove import prove_on_table
from breadth.certified.shortlist.search import search_shortlist
from breadth.clock import Clock
from breadth.oracles.protocol import Facts
from breadth.problem import Problem
from breadth.requests import Asking
from breadth.selection import Selection
from breadth.shortlist.conclude import conclude_on_table


def solve_on_shortlist(problem: Problem, facts: Facts, clock: Clock, effort: Effort, prove: float) -> Asking[Selection]:
    """Find the set, spend `prove` seconds on its bound, and build the selection."""
    search = search_shortlist if problem.sharpness > 1 else search_columns
    found = yield from search(problem, facts, clock, effort)
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
