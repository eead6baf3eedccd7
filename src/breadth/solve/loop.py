"""The way of a query: a pool of rows in memory, a block of them that the core solves, and a price for what is outside.

pool ← the first search
repeat
    solve the block: the best set and a bound
    price: which rows outside the block would improve either?
    take them in
until there are none
"""

from __future__ import annotations

import numpy as np

from breadth.clock import Clock
from breadth.native import core, describe
from breadth.oracles.protocol import Facts
from breadth.problem import Problem
from breadth.requests import Asking
from breadth.solve.block import Block
from breadth.solve.effort import Effort
from breadth.solve.found import Found
from breadth.solve.pricing import Pricing, choose_pricing
from breadth.solve.starts import find_addition


def solve(
    problem: Problem, facts: Facts, clock: Clock, effort: Effort, before: Block | None = None
) -> Asking[tuple[Found, Pricing]]:
    """The best set found, and how its collection was priced. `before`: the block of another θ to go on with."""
    pricing = choose_pricing(problem, facts, effort, clock)
    block = yield from pricing.open(before)
    found: Found | None = None
    rounds, swaps = 0, 0
    while True:
        rounds += 1
        result = solve_block(block, found, pricing, clock, effort)
        if not result.complete or block.lacks_best:
            entered = yield from _make_room(block, result, pricing)
            if entered or not result.complete:
                found = None
                continue
        swaps += result.swaps
        found = Found(block, result.chosen, result.value, result.bound, result)
        if _spend_rest(found):
            continue
        late = clock.is_over()
        more = yield from pricing.price(found, late)
        if more is None or late or rounds >= effort.rounds:
            break
        if len(more):
            block.enter(more)
    found.bound = pricing.bound(found)
    found.swap_optimal = found.is_closed or (pricing.is_settled and not late)
    if found.problem.k < block.asked and block.pool.is_cut:  # there may be rows for a larger set
        found.swap_optimal = False
    found.stopped = "swap_optimal" if found.swap_optimal else "time_limit" if late else pricing.gave_up
    found.stats = {
        "path": pricing.name, "core": describe(), "rounds": rounds, "swaps": swaps, "block": len(block),
        "held": len(block.pool), "stopped": found.stopped,
    }  # fmt: skip
    return found, pricing


def solve_block(
    block: Block, found: Found | None, pricing: Pricing, clock: Clock, effort: Effort, prove: float = 0.0
) -> core.Result:
    """One call of the core, from the set and the relaxation that there are."""
    block.supply = pricing.supply(block)
    how = effort.for_core(block.problem, prove)
    how.full, how.last, how.prove = pricing.full, pricing.last, prove
    if not pricing.search:
        how.starts = how.tabu = 0
    starts, x = [block.find(where) for where in pricing.tries if len(where) == block.problem.k], None
    pricing.tries = []
    if found is not None and len(found.chosen) == block.problem.k:
        starts.append(found.chosen)
        if len(found.result.x) <= len(block) and not block.is_closed:
            x = found.weights
    return block.core.solve(how, starts, x, min(max(clock.remaining, 0.0), 1e9))


def _make_room(block: Block, result: core.Result, pricing: Pricing) -> Asking[bool]:
    """No set of k rows with the best hit was found on the block: take in more rows, or look for smaller sets.

    Whether rows were taken in.
    """
    picked = len(result.chosen)
    if result.short_of_budget and picked and not block.lacks_best:
        block.resize(picked)
        return False
    more = yield from pricing.grow(block)
    if len(more):
        block.enter(more)
        return True
    if result.complete:
        return False
    if picked == 0:
        block.problem.constraints.check_needs(block.ids)
        raise block.problem.constraints.say_nothing_fits(len(block.pool))
    block.resize(min(picked, block.problem.k - 1))
    return False


def _spend_rest(found: Found) -> bool:
    """Where the set has fewer rows than were asked for, let a further one join if it may; whether one did.

    A swap may have made room for it.
    """
    block = found.block
    if block.problem.k >= block.asked:
        return False
    if found.result.can_grow:
        longer = block.extend(found.chosen)
    else:
        row = find_addition(block, found.chosen) if len(block) < len(block.pool) else -1
        if row < 0:
            return False
        block.enter(np.array([row]))
        longer = np.append(found.chosen, len(block) - 1)
    block.resize(len(longer))
    found.chosen = longer
    return True
