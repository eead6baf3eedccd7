"""Brute force: the optimum itself, for collections so small that every set can be looked at."""

from __future__ import annotations

from itertools import combinations, islice
from math import comb

import numpy as np

from breadth.errors import TooLargeError
from breadth.oracles.protocol import Facts
from breadth.problem import Problem
from breadth.requests import Asking, Rows, Top
from breadth.selection import conclude

MAX_SETS = 2_000_000
"""Sets looked at, at most: a few seconds."""
MAX_ROWS = 4_096
_NUMBERS = 1 << 22
"""Similarities looked up at a time."""


def exact(problem: Problem, facts: Facts) -> Asking:
    """max F(S) over all C(n, k) sets, by enumeration. Refuses more than `MAX_SETS` of them."""
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
    ids = (yield Top(problem.query[None], facts.size))[0][0]  # by relevance: it decides between equal sets
    rows = np.asarray((yield Rows(ids)), dtype=np.float64)
    relevance = problem.relevance_weight * (rows @ problem.query)
    similar = problem.similar(rows)
    pairs = (1.0 - problem.theta) * (similar @ similar.T)
    np.fill_diagonal(pairs, 0.0)
    best_value, best_set = -np.inf, np.arange(problem.k)
    every = combinations(range(facts.size), problem.k)
    while chunk := list(islice(every, max(1, _NUMBERS // problem.k**2))):
        sets_here = np.array(chunk)
        values = relevance[sets_here].sum(axis=1)
        values -= pairs[sets_here[:, :, None], sets_here[:, None, :]].sum(axis=(1, 2))
        winner = int(np.argmax(values))
        if values[winner] > best_value:
            best_value, best_set = float(values[winner]), sets_here[winner]
    chosen = rows[best_set]
    bound = problem.value(chosen)
    return conclude(problem, ids[best_set], chosen, "exact", bound=bound, exact=facts.exact, stats={"sets": sets})
