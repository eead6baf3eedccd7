"""Plain top-k: the k most relevant rows."""

from __future__ import annotations

from typing import Any

from breadth.clock import NO_LIMIT, Clock
from breadth.oracles.protocol import Facts
from breadth.problem import Problem
from breadth.requests import Asking, search_with_rows
from breadth.selection import Selection, conclude
from breadth.solve.conclude import conclude_on_block
from breadth.solve.pick import pick_on_pool


def topk(problem: Problem, facts: Facts, *, clock: Clock = NO_LIMIT) -> Asking[Selection]:
    """max Σ c_i, by one search. At θ = 1 that is the whole objective, and the search is its own proof."""
    return (yield from take_most_relevant(problem, facts, "topk", {}, problem.theta == 1.0, clock))


def take_most_relevant(
    problem: Problem,
    facts: Facts,
    method: str,
    stats: dict[str, Any],
    proved: bool = True,
    clock: Clock = NO_LIMIT,
) -> Asking[Selection]:
    """The k most relevant rows; `proved` where they are the optimum: θ = 1, a single row, or all rows.

    Under constraints each in turn is the most relevant row that may join those above it. That is no proof.
    """
    if not problem.constraints.is_free:
        block, picks = yield from pick_on_pool(problem, facts, clock, relevance_only=True)
        return conclude_on_block(block, picks, method, stats)
    found = yield from search_with_rows(problem.query[None], problem.k, facts.gives_rows)
    ids, rows = found.ids[0], found.rows[0]
    bound = problem.value(rows) if proved else None
    return conclude(problem, ids, rows, method, bound=bound, exact=facts.exact, swap_optimal=proved, stats=stats)
