"""Begin a search: which rows to hold in memory first."""

from __future__ import annotations

import numpy as np

from breadth.certified.bench import Bench
from breadth.certified.bound import Bound
from breadth.certified.effort import Effort
from breadth.certified.pricing import choose_pricing
from breadth.certified.rounds import Search
from breadth.clock import Clock
from breadth.oracles.protocol import Facts
from breadth.problem import Problem
from breadth.requests import Asking, Rows


def open_search(problem: Problem, facts: Facts, clock: Clock, effort: Effort, tolerance: float) -> Asking[Search]:
    """A search whose bench holds the whole collection if it is small, else the rows that relevance says may matter."""
    pricing = choose_pricing(problem, facts, effort)
    low = problem.theta < effort.low_theta
    numbered = facts.scores_all or facts.reaches  # ids are then 0 … size-1
    if numbered and facts.size <= (effort.whole_when_low if low else effort.whole):
        first = np.arange(facts.size)
    else:
        count = effort.held if problem.theta < effort.near_theta else effort.held_when_near
        first = yield from pricing.begin(min(facts.size, max(count, effort.held_for_each * problem.k)))
    rows = yield from Rows(first)
    bench = Bench(problem, first, rows, facts.max_squared_norm, clock, effort)
    bound = Bound(bench)
    if pricing.begins_exactly and len(bench.held) < facts.size:
        bound.lower_by_relevance(bench.held.exact_scores(bench.held.best(problem.query, problem.k), problem.query))
    return Search(bench, bound, pricing, facts, tolerance)
