"""What was found goes on with a block that has grown."""

from __future__ import annotations

import numpy as np

from breadth.clock import NO_LIMIT
from breadth.problem import Problem
from breadth.solve.block import Block
from breadth.solve.effort import EFFORT
from breadth.solve.found import Found
from breadth.solve.pool import Pool
from tests.synthetic import isotropic


def test_rows_that_entered_later_have_no_weight_and_the_bound_holds(rng):
    rows = isotropic(rng, 40, 6).astype(np.float32)
    query = isotropic(rng, 1, 6)[0]
    problem = Problem(query, 4, 0.7)
    pool = Pool(problem, np.arange(40), rows, rows.astype(np.float64) @ query, 0, -np.inf)
    block = Block(pool, np.arange(20), by_direction=True)
    how = EFFORT.for_core(problem)
    how.full = True
    result = block.core.solve(how, [], None, NO_LIMIT.remaining if np.isfinite(NO_LIMIT.remaining) else 1e9)
    found = Found(block, result.chosen, result.value, result.bound, result)
    assert np.array_equal(found.weights, result.x)
    block.enter(np.arange(20, 40))
    assert np.array_equal(found.weights, np.concatenate((result.x, np.zeros(20))))
    bound = block.core.bound_at(found.weights, np.empty(0), -np.inf)
    best = max(problem.value(rows[list(chosen)]) for chosen in [rng.choice(40, 4, replace=False) for _ in range(300)])
    assert bound >= max(best, found.value) - 1e-6
