"""Plain top-k: the k most relevant rows."""

from __future__ import annotations

from typing import Any

from breadth.clock import NO_LIMIT, Clock
from breadth.oracles.protocol import Facts
from breadth.problem import Problem
from breadth.requests import Asking, Rows, Top
from breadth.selection import Selection, conclude


def topk(problem: Problem, facts: Facts, *, clock: Clock = NO_LIMIT) -> Asking[Selection]:
    """max Σ c_i, by one search. At θ = 1 that is the whole objective, and the search is its own proof."""
    return (yield from take_most_relevant(problem, facts, "topk", {}, proved=problem.theta == 1.0))


def take_most_relevant(
    problem: Problem, facts: Facts, method: str, stats: dict[str, Any], proved: bool = True
) -> Asking[Selection]:
    """The k most relevant rows; `proved` where they are the optimum: θ = 1, a single row, or all rows."""
    ids = (yield from Top(problem.query[None], problem.k)).ids[0]
    rows = yield from Rows(ids)
    bound = problem.value(rows) if proved else None
    return conclude(problem, ids, rows, method, bound=bound, exact=facts.exact, swap_optimal=proved, stats=stats)
