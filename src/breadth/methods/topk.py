"""Plain top-k: the k most relevant rows."""

from __future__ import annotations

from breadth.clock import NO_LIMIT, Clock
from breadth.oracles.protocol import Facts
from breadth.problem import Problem
from breadth.requests import Asking, Rows, Top
from breadth.selection import Selection, conclude


def topk(problem: Problem, facts: Facts, *, clock: Clock = NO_LIMIT) -> Asking[Selection]:
    """max Σ c_i, by one search. At θ = 1 that is the whole objective, and the search is its own proof."""
    ids = (yield from Top(problem.query[None], problem.k)).ids[0]
    rows = yield from Rows(ids)
    whole = problem.theta == 1.0
    bound = problem.value(rows) if whole else None
    return conclude(problem, ids, rows, "topk", bound=bound, exact=facts.exact, swap_optimal=whole)
