"""Frank-Wolfe on the rows of a pool, for sharp similarity and for constraints.

    f(x) = linear'x + coupling/2 · (λ‖x‖² - x'Sx)          0 ≤ x ≤ 1,   1'x = k

For an even sharpness 0 ≤ s_ij ≤ 1, and f is tight for λ ≥ 1 already (Theorem 1 needs λ - 1 + s_ij ≥ 0). A vertex is the
allowed set with the largest gradient, picked row by row: that is exact for pins, exclusions and groups.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from breadth.arrays import Positions, Vector
from breadth.clock import Clock
from breadth.oracles.protocol import Facts
from breadth.problem import Problem
from breadth.requests import Asking, Top
from breadth.selection import Selection
from breadth.solve.block import Block
from breadth.solve.conclude import conclude_on_block
from breadth.solve.pick import MOST, first_count
from breadth.solve.pool import fetch_pool


@dataclass(frozen=True)
class Step:
    """From x towards a vertex: gap Δ, curvature C and ‖s - x‖²."""

    gap: float
    curvature: float
    squared: float


@dataclass(frozen=True, eq=False)
class _Run:
    x: Vector
    iterations: int
    converged: bool
    lowest: float
    """The smallest gradient that a row of any vertex had."""


def climb_on_pool(
    problem: Problem,
    facts: Facts,
    clock: Clock,
    penalty: float,
    from_topk: bool,
    step_size: Callable[[Step, int], float],
    max_iterations: int,
    zero_gap: float,
) -> Asking[Selection]:
    """Run on pools that double until every vertex was one of the whole collection.

    With sharpness 1 relevance cannot tell that; the pool then has a fixed length.
    """
    count = first_count(problem) * (1 if problem.sharpness > 1 else 4)
    while True:
        pool = yield from fetch_pool(problem, facts, count)
        if len(pool) == 0:
            raise pool.problem.constraints.say_nothing_fits(facts.size)
        block = Block(pool, np.arange(len(pool)))
        block.supply = (
            problem.relevance_weight * pool.ceiling if problem.sharpness > 1 and not pool.is_complete else -np.inf
        )
        first = block.pick(block.relevance, 0.0)
        if len(first) < problem.k and not pool.is_complete and count < MOST:
            count *= 2
            continue
        if len(first) == 0:
            raise problem.constraints.say_nothing_fits(len(pool))
        block.resize(len(first))
        run = _climb(block, first, penalty, from_topk, step_size, max_iterations, zero_gap, clock)
        enough = pool.is_complete or problem.sharpness == 1 or run.lowest >= block.supply
        if enough or count >= MOST or clock.is_over():
            break
        count *= 2
    chosen = _round(block, run.x, first)
    integral = bool(np.all((run.x == 0.0) | (run.x == 1.0)))
    stats: dict[str, Any] = {
        "iterations": run.iterations,
        "converged": run.converged,
        "integral": integral,
        "held": len(block),
    }
    if not run.converged and clock.is_over():
        stats["stopped"] = "time_limit"
    bound = yield from _bound(block, run.x, facts)
    return conclude_on_block(block, chosen, "frank_wolfe", stats, bound=bound, exact=facts.exact, picked_in_order=False)


def _round(block: Block, x: Vector, first: Positions) -> Positions:
    """The allowed set with the largest weights, and what the rules, or the rest of the budget, still allow."""
    chosen = block.pick(x, 0.0)
    chosen = first if len(chosen) < len(first) else chosen
    while len(chosen) < block.asked:
        longer = block.extend(chosen)
        if len(longer) == len(chosen):
            break
        chosen = longer
        block.resize(len(chosen))
    return chosen


def _climb(
    block: Block,
    first: Positions,
    penalty: float,
    from_topk: bool,
    step_size: Callable[[Step, int], float],
    max_iterations: int,
    zero_gap: float,
    clock: Clock,
) -> _Run:
    problem, gram = block.problem, block.gram.astype(np.float64)
    x = np.full(len(block), problem.k / len(block))
    if from_topk:
        x[:] = 0.0
        x[first] = 1.0
    lowest = np.inf
    for t in range(max_iterations):
        if t and clock.is_over():
            return _Run(x, t, False, lowest)
        image = gram @ x
        gradient = block.linear + problem.coupling * (penalty * x - image)
        vertex = block.pick(gradient, 0.0)
        if len(vertex) < problem.k:  # the rules leave fewer rows beside these: stay where we are
            return _Run(x, t, False, lowest)
        lowest = min(lowest, float(gradient[vertex].min()))
        direction = -x
        direction[vertex] += 1.0
        gap = float(gradient @ direction)
        if gap <= zero_gap * problem.scale:
            return _Run(x, t, True, lowest)
        squared = float(direction @ direction)
        curvature = problem.coupling * (penalty * squared - float(direction @ (gram @ direction)))
        gamma = step_size(Step(gap, curvature, squared), t)
        x = x + gamma * direction
        if gamma == 1.0:
            x = np.zeros(len(block))
            x[vertex] = 1.0
    return _Run(x, max_iterations, False, lowest)


def _bound(block: Block, x: Vector, facts: Facts) -> Asking[float]:
    """A bound on F of every allowed set of the collection, at x."""
    problem = block.problem
    if problem.sharpness > 1 or block.pool.is_complete:
        return block.core.bound_at(x, np.empty(0), block.supply)
    u = x @ np.asarray(block.pool.rows, dtype=np.float64)
    found = yield from Top(problem.direction(u)[None], min(problem.k, facts.size))
    waived = 0.0 if block.shift is None else -0.5 * problem.coupling * float(block.shift.sum())
    return problem.dual_bound(u, float(found.scores[0].sum()), facts.max_squared_norm) + waived
