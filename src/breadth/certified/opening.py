"""Begin a search: which rows to hold in memory first."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from breadth.arrays import Array, Ids
from breadth.certified.bench import Bench
from breadth.certified.bound import Bound
from breadth.certified.effort import Effort
from breadth.certified.pricing import Pricing, choose_pricing
from breadth.certified.rounds import Search
from breadth.clock import Clock
from breadth.oracles.protocol import Facts
from breadth.problem import Problem
from breadth.requests import Asking, Rows


@dataclass(frozen=True, eq=False)
class Opening:
    """How the collection is asked, and the rows that are held first."""

    pricing: Pricing
    ids: Ids
    rows: Array

    def joined(self, ids: Ids, rows: Array) -> Opening:
        """The same with further rows, which are held as well."""
        return Opening(self.pricing, np.concatenate((self.ids, ids)), np.concatenate((self.rows, rows)))


def fetch_first(problem: Problem, facts: Facts, effort: Effort) -> Asking[Opening]:
    """The whole collection if it is small, else the rows that relevance says may matter."""
    pricing = choose_pricing(problem, facts, effort)
    low = problem.theta < effort.low_theta
    numbered = facts.scores_all or facts.reaches  # ids are then 0 … size-1
    if numbered and facts.size <= (effort.whole_when_low if low else effort.whole):
        first = np.arange(facts.size)
    else:
        first = yield from pricing.begin(min(facts.size, effort.count_held(problem.theta, problem.k)))
    return Opening(pricing, first, (yield from Rows(first)))


def open_search(
    problem: Problem, facts: Facts, opening: Opening, clock: Clock, effort: Effort, tolerance: float
) -> Search:
    """A search whose bench holds these rows."""
    bench = Bench(problem, opening.ids, opening.rows, facts.max_squared_norm, clock, effort)
    bound = Bound(bench)
    if opening.pricing.begins_exactly and len(bench.held) < facts.size:
        bound.lower_by_relevance(bench.held.exact_scores(bench.held.best(problem.query, problem.k), problem.query))
    return Search(bench, bound, opening.pricing, facts, tolerance)
