"""Close the gap: a block that holds every row that can be in a better set, and all the core's effort on it."""

from __future__ import annotations

import numpy as np

from breadth.arrays import Positions
from breadth.clock import Clock
from breadth.oracles.protocol import Facts
from breadth.requests import Asking
from breadth.solve.block import Block
from breadth.solve.effort import Effort
from breadth.solve.found import Found
from breadth.solve.loop import solve_block
from breadth.solve.pricing import Pricing

_FEW = 16
"""Members of a set, at the most, for which the core goes through all sets of a few rows."""
_MOST_ROWS = 512
"""Rows that can be in a better set, at the most, for a proof."""


def close_gap(found: Found, pricing: Pricing, facts: Facts, clock: Clock, effort: Effort, prove: float) -> Asking[None]:
    """Lower the bound, in place, until it meets the set or the time is up; a better set met on the way is kept.

    Without `prove` seconds this is done only where so few rows can be in a better set that all their sets can be gone
    through.
    """
    if found.is_closed and facts.exact and prove > 0.0:
        found.stopped = found.stats["stopped"] = "optimal"
    if (
        found.is_closed
        or not found.swap_optimal
        or clock.is_over()
        or not (prove > 0.0 or (pricing.may_enclose and found.problem.k <= _FEW))
    ):
        return
    limit = clock.within(prove) if prove > 0.0 else clock
    most = _MOST_ROWS if prove > 0.0 else effort.decided
    if prove > 0.0:
        yield from _grow_until_closed(found, pricing, limit, effort, most)
    block = yield from pricing.enclose(found, most)
    if block is None:
        return
    start = Found(block, block.find(found.block.where[found.chosen]), found.value, found.bound, found.result)
    result = solve_block(block, start, pricing, limit, effort, prove)
    found.bound = min(found.bound, max(found.value, result.bound, result.value))
    found.stats |= {"survivors": len(block), "nodes": result.nodes}
    if result.value > found.value and not (result.can_grow and block.problem.k < block.asked):
        yield from _adopt(found, block, result.chosen, result.value, pricing, clock)
    if facts.exact and found.is_closed:
        found.swap_optimal, found.stopped = True, "optimal" if prove > 0.0 else "swap_optimal"
    found.stats["stopped"] = found.stopped


def _grow_until_closed(found: Found, pricing: Pricing, limit: Clock, effort: Effort, most: int) -> Asking[None]:
    """Take rows into the block until no row outside can be in a better set."""
    block = found.block
    while found.result.outside and len(block) < most and not limit.is_over():
        more = yield from pricing.grow(block)
        if len(more) == 0:
            return
        block.enter(more)
        result = solve_block(block, found, pricing, limit, effort)
        found.result, found.bound = result, min(found.bound, max(result.bound, result.value))
        if result.value > found.value:
            found.chosen, found.value = result.chosen, result.value


def _adopt(found: Found, block: Block, chosen: Positions, value: float, pricing: Pricing, clock: Clock) -> Asking[None]:
    """Go on with a better set, and see whether it is swap-optimal in the whole collection."""
    if block is not found.block:
        members = block.where[chosen]
        new = np.setdiff1d(members, found.block.where)
        if len(new):
            found.block.enter(new)
        chosen = found.block.find(members)
    found.chosen, found.value = chosen, value
    found.bound = max(found.bound, value)
    found.swap_optimal = yield from pricing.confirm(found, clock.is_over())
    found.stopped = "swap_optimal" if found.swap_optimal else "prove"
