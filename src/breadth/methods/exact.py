"""Brute force: the optimum itself, for collections so small that every set can be looked at."""

from __future__ import annotations

from itertools import combinations, islice
from math import comb

import numpy as np

from breadth.clock import NO_LIMIT, Clock
from breadth.errors import TooLargeError
from breadth.oracles.protocol import Facts
from breadth.problem import Problem, marginal
from breadth.requests import Asking, Rows, Top
from breadth.selection import Selection, conclude

MAX_SETS = 2_000_000
"""Sets looked at, at most: a few seconds."""
MAX_ROWS = 4_096
_NUMBERS = 1 << 22
"""Similarities looked up at a time."""


def exact(problem: Problem, facts: Facts, *, clock: Clock = NO_LIMIT) -> Asking[Selection]:
    """max F(S) over all C(n, k) sets, by enumeration. Refuses more than `MAX_SETS` of them.

    When the time is up it returns the best set seen so far, without a certificate.
    """
    sets = _count_sets(problem, facts)
    ids = (yield from Top(problem.query[None], facts.size)).ids[0]  # by relevance: it decides between equal sets
    rows = np.asarray((yield from Rows(ids)), dtype=np.float64)
    linear = problem.linear(rows @ problem.query)
    pairs = problem.similar(rows) @ problem.similar(rows).T
    np.fill_diagonal(pairs, 0.0)
    best_value, best_set = -np.inf, np.arange(problem.k)
    every = combinations(range(facts.size), problem.k)
    complete = True
    while chunk := list(islice(every, max(1, _NUMBERS // problem.k**2))):
        some = np.array(chunk)
        half = 0.5 * pairs[some[:, :, None], some[:, None, :]].sum(axis=2)
        values = marginal(linear[some], half, problem.coupling).sum(axis=1)
        winner = int(np.argmax(values))
        if values[winner] > best_value:
            best_value, best_set = float(values[winner]), some[winner]
        if clock.is_over():
            complete = next(every, None) is None
            break
    chosen = rows[best_set]
    stats = {"sets": sets} if complete else {"sets": sets, "stopped": "time_limit"}
    bound = problem.value(chosen) if complete else None
    return conclude(
        problem, ids[best_set], chosen, "exact", bound=bound, exact=facts.exact, swap_optimal=complete, stats=stats
    )


def _count_sets(problem: Problem, facts: Facts) -> int:
    """How many sets there are, if these are few enough to look at all of them."""
    sets = comb(facts.size, problem.k)
    if sets > MAX_SETS:
        raise TooLargeError(
            f"method 'exact' would have to look at C({facts.size}, {problem.k}) = {sets:.3g} sets, more than "
            f"{MAX_SETS:,}; use another method, or pool= to restrict the rows"
        )
    if facts.size > MAX_ROWS:
        raise TooLargeError(
            f"method 'exact' takes at most {MAX_ROWS} rows, got {facts.size}; pass pool= to restrict them"
        )
    return sets
