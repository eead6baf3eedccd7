"""Greedy over all rows of a pool, most of which are in no block: sets to start from."""

from __future__ import annotations

import numpy as np

from breadth.arrays import Array, Mask, Positions, Vector
from breadth.clock import Clock
from breadth.feasible import NO_RULES, addable
from breadth.oracles.protocol import Facts
from breadth.problem import sharpen
from breadth.requests import Asking, Top
from breadth.solve.block import Block
from breadth.solve.effort import LOOSE_THETA, Effort
from breadth.solve.partial import Scored
from breadth.solve.pool import Pool, take_rows

_FAR_STARTS, _FAR_ROWS, _FAR_STEPS = 16, 32, 8
"""A collection is searched for the rows that greedy would take next from so many first rows, for so many rows each,
about so many times."""
_ROWS_OF_STARTS = 256
"""Rows of greedy's sets that enter the block."""
_ROUNDING = 2e-7
"""What float32 arithmetic changes in a cosine: a pair in doubt counts as too close."""


def pick_sets(
    block: Block, firsts: Positions, shares: Vector, clock: Clock, count: int | None = None
) -> list[Positions]:
    """Pick k rows of the pool, or only the first `count`, beside the locked ones: each time the one with the largest
    marginal value that may join.

    firsts   the first rows, one for each start, if they may be in a set
    shares   what share of the relevance counts, for each start

    Sets are positions in the pool. They are shorter where no further row may join; once the time is up there is none.
    """
    pool, problem, constraints = block.pool, block.problem, block.problem.constraints
    count = problem.k if count is None else count
    rules = constraints.number(pool.ids, problem.k) if constraints.limits_sets else NO_RULES
    locked = block.where[block.locked]
    merits = shares[:, None] * problem.linear(pool.scores)  # -∞ where a row may not join: it never may again
    merits[:, ~addable(rules, locked[:0], len(pool), problem.k)] = -np.inf
    starts = np.arange(len(firsts))
    sets = np.full((len(firsts), count), -1, dtype=np.int64)
    for size in range(count):
        if clock.is_over():
            return []
        picks = np.full(len(firsts), locked[size]) if size < len(locked) else merits.argmax(axis=1)
        if size == len(locked):
            picks = np.where(merits[starts, firsts] > -np.inf, firsts, picks)
        if size >= len(locked):
            picks[merits[starts, picks] == -np.inf] = -1
        sets[:, size] = picks
        going = np.flatnonzero(picks >= 0)
        last = picks[going]
        if len(going) == 0 or size + 1 == count:
            break
        cosines = pool.multiply(pool.flat[last])
        free = constraints.forgive(pool.ids[last], pool.ids)
        costs = sharpen(cosines, problem.sharpness)
        left = merits[going] - problem.coupling * (costs if free is None else np.where(free, 0.0, costs))
        if constraints.limits_sets:
            closed = _find_conflicts(pool, last, cosines)
            for place, start in enumerate(going.tolist()):
                closed[place] |= ~addable(rules, sets[start, : size + 1], len(pool), problem.k)
            left[closed] = -np.inf
        merits[going] = left
        merits[going, last] = -np.inf
    return [chosen[chosen >= 0] for chosen in sets]


def spread_firsts(relevance: Array, count: int) -> Positions:
    """Where to start from: half of them the most relevant rows, half spread over all relevances."""
    if count == 1:
        return np.array([np.argmax(relevance)])
    order = np.argsort(-relevance, kind="stable")
    count = min(count, len(order))
    near = (count + 1) // 2
    spread = np.linspace(near, len(order) - 1, count - near).astype(np.int64)
    return np.asarray(order[np.concatenate((np.arange(near), spread))], dtype=np.int64)


def _find_conflicts(pool: Pool, last: Positions, cosines: Array) -> Mask:
    """Which rows may not be in one set with each of these."""
    constraints = pool.problem.constraints
    if not constraints.limits_pairs:
        return np.zeros(cosines.shape, dtype=bool)
    return constraints.clash(Scored(pool.ids[last], pool.ids, cosines, _ROUNDING))


def pick_from_many(block: Block, count: int, clock: Clock) -> list[Positions]:
    """Sets of k rows from `count` first rows, each with all and with half of the relevance; the best of them first."""
    pool = block.pool
    firsts = np.repeat(spread_firsts(pool.scores, count), 2)
    sets = pick_sets(block, firsts, np.tile([1.0, 0.5], len(firsts) // 2), clock)
    whole = [chosen for chosen in sets if len(chosen) == block.problem.k]
    return sorted(whole, key=lambda chosen: -block.problem.value(pool.exact(chosen), pool.ids[chosen]))


def pick_one(block: Block, clock: Clock) -> Positions:
    """Greedy on F from the most relevant row that is allowed; as many rows as fit."""
    found = pick_sets(block, np.array([int(np.argmax(block.pool.scores))]), np.ones(1), clock)
    return found[0] if found else np.empty(0, dtype=np.int64)


def find_addition(block: Block, chosen: Positions) -> int:
    """The position in the pool of the row with the largest marginal value that may join a set; -1 if there is none."""
    pool, problem, where, k = block.pool, block.problem, block.where[chosen], len(chosen) + 1
    cosines = pool.multiply(pool.flat[where])
    closed = ~addable(problem.constraints.number(pool.ids, k), where, len(pool), k)
    closed |= _find_conflicts(pool, where, cosines).any(axis=0)
    closed[block.where] = True  # the core has said that none of these may
    merits = problem.linear(pool.scores) - problem.coupling * sharpen(cosines, problem.sharpness).sum(axis=0)
    return -1 if closed.all() else int(np.argmax(np.where(closed, -np.inf, merits)))


def pick_starts(block: Block, effort: Effort, clock: Clock, times: int) -> list[Positions]:
    """The best of greedy's sets: `times` as many as at other θ."""
    pool, problem = block.pool, block.problem
    if problem.theta >= LOOSE_THETA:
        return pick_from_many(block, 1, clock)
    work = len(pool) * (pool.flat.shape[1] + 32) * problem.k
    count = max(1, times * effort.first_rows // problem.k, times * effort.products // work)
    most = max(2, min(times * effort.promising, _ROWS_OF_STARTS // problem.k))
    return pick_from_many(block, count, clock)[:most]


def search_far(block: Block, facts: Facts, clock: Clock) -> Asking[None]:
    """Bring rows into the pool that greedy would take next, after its first rows from several starts."""
    pool, problem = block.pool, block.problem
    shares = np.tile([1.0, 0.5], _FAR_STARTS)
    for step in range(1, problem.k, max(1, problem.k // _FAR_STEPS)):
        firsts = np.repeat(spread_firsts(pool.scores, _FAR_STARTS), 2)
        sets = pick_sets(block, firsts, shares[: len(firsts)], clock, step)
        sums = [pool.exact(chosen).sum(axis=0) for chosen in sets]
        if not sums:
            return
        directions = np.array([problem.direction(v, share) for v, share in zip(sums, shares, strict=False)])
        found = yield from Top(directions, min(facts.most_rows, step + _FAR_ROWS))
        yield from take_rows(pool, np.unique(found.ids))
