"""Brute force: the optimum itself, for collections so small that every set can be looked at."""

from __future__ import annotations

from itertools import combinations, islice
from math import comb

import numpy as np

from breadth.arrays import Positions
from breadth.clock import NO_LIMIT, Clock
from breadth.errors import TooLargeError
from breadth.feasible import allows
from breadth.oracles.protocol import Facts
from breadth.problem import Problem, marginal
from breadth.products import multiply_exactly
from breadth.requests import Asking
from breadth.selection import Selection
from breadth.solve.block import Block
from breadth.solve.conclude import conclude_on_block
from breadth.solve.pool import fetch_pool

MAX_SETS = 2_000_000
"""Sets looked at, at most: a few seconds."""
MAX_ROWS = 4_096
_NUMBERS = 1 << 22
"""Similarities looked up at a time."""


def exact(problem: Problem, facts: Facts, *, clock: Clock = NO_LIMIT) -> Asking[Selection]:
    """max F(S) over all C(n, k) sets, by enumeration. Refuses more than `MAX_SETS` of them.

    When the time is up it returns the best set seen so far, without a certificate.
    """
    pool = yield from fetch_pool(problem, facts, facts.size)  # by relevance: it decides between equal sets
    sets = _count_sets(problem, len(pool))
    if sets == 0:
        raise problem.constraints.say_nothing_fits(facts.size)
    block = Block(pool, np.arange(len(pool)))
    chosen, complete = _look_at_all(block, clock)
    while chosen is None and complete and block.problem.k > 1:  # the constraints leave no set of so many rows
        block.resize(block.problem.k - 1)
        chosen, complete = _look_at_all(block, clock)
    if chosen is None:
        raise problem.constraints.say_nothing_fits(facts.size)
    stats = {"sets": sets} if complete else {"sets": sets, "stopped": "time_limit"}
    bound = block.problem.value(pool.rows[chosen], pool.ids[chosen]) if complete else None
    return conclude_on_block(
        block, chosen, "exact", stats, bound=bound, exact=facts.exact, swap_optimal=complete, picked_in_order=False
    )


def _look_at_all(block: Block, clock: Clock) -> tuple[Positions | None, bool]:
    """The best allowed set, or None if there is none; and whether every set was looked at."""
    problem, rows = block.problem, np.asarray(block.pool.rows, dtype=np.float64)
    pairs = problem.similarities(rows, rows)
    if block.shift is not None:  # some pairs cost nothing
        pairs[block.gram == 0.0] = 0.0
    linear = problem.linear(multiply_exactly(rows, problem.query))
    np.fill_diagonal(pairs, 0.0)
    best_value, best_set = -np.inf, None
    every = combinations(range(len(block)), problem.k)
    while chunk := list(islice(every, max(1, _NUMBERS // problem.k**2))):
        some = np.array(chunk)
        half = 0.5 * pairs[some[:, :, None], some[:, None, :]].sum(axis=2)
        values = marginal(linear[some], half, problem.coupling).sum(axis=1)
        values[~allows(block.rules, some)] = -np.inf
        winner = int(np.argmax(values))
        if values[winner] > best_value:
            best_value, best_set = float(values[winner]), some[winner]
        if clock.is_over():
            return best_set, next(every, None) is None
    return best_set, True


def _count_sets(problem: Problem, size: int) -> int:
    """How many sets there are, if these are few enough to look at all of them."""
    if size == 0:
        return 0
    sets = comb(size, min(problem.k, size))
    if sets > MAX_SETS:
        raise TooLargeError(
            f"method 'exact' would have to look at C({size}, {problem.k}) = {sets:.3g} sets, more than "
            f"{MAX_SETS:,}; use another method, or pool= to restrict the rows"
        )
    if size > MAX_ROWS:
        raise TooLargeError(f"method 'exact' takes at most {MAX_ROWS} rows, got {size}; pass pool= to restrict them")
    return sets
