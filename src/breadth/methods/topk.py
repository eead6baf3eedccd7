"""Plain top-k: the k most relevant rows."""

from __future__ import annotations

from breadth.oracles.protocol import Facts
from breadth.problem import Problem
from breadth.requests import Asking, Rows, Top
from breadth.selection import conclude


def topk(problem: Problem, facts: Facts) -> Asking:
    """max Σ c_i. At θ = 1 that is the whole objective, and the search is its own proof."""
    ids, _ = yield Top(problem.query[None], problem.k)
    rows = yield Rows(ids[0])
    bound = problem.value(rows) if problem.theta == 1.0 else None
    return conclude(problem, ids[0], rows, "topk", bound=bound, exact=facts.exact)
