"""Coverage: the set that stands for the largest share of the relevant material."""

from __future__ import annotations

from typing import Any

import numpy as np

from breadth.arrays import Positions, Vector
from breadth.checks import check_count, check_number
from breadth.clock import NO_LIMIT, Clock
from breadth.coverage.dual import Covering, prove, solve
from breadth.coverage.search import TIE
from breadth.coverage.smallest import find_smallest
from breadth.coverage.worth import TARGETS, measure, state_worth, weigh_targets
from breadth.errors import InputError
from breadth.feasible import addable
from breadth.oracles.protocol import Facts
from breadth.problem import Problem
from breadth.requests import Asking
from breadth.selection import Selection
from breadth.solve.block import Block
from breadth.solve.conclude import conclude_on_block
from breadth.solve.pick import MOST
from breadth.solve.pool import fetch_pool


def coverage(
    problem: Problem,
    facts: Facts,
    *,
    clock: Clock = NO_LIMIT,
    targets: int | None = None,
    cover: float | None = None,
) -> Asking[Selection]:
    """Choose the k rows that stand for the largest share of the relevant material. One scan.

        C(S) = Σ_t ω_t max_{i∈S} s_it

    The M most relevant rows that the constraints allow are both the relevant material and the rows to choose from. s_it
    is their cosine to the power `sharpness` (at 1 a negative cosine counts 0), and ω weighs the more relevant rows
    more: see `breadth.coverage`. `targets` is M; by default 400, at least 2k, and at most all rows. `cover`: the
    smallest set that stands for this share, k being the largest size allowed.

    The set is found by greedy and exchanges. `stats` holds its `coverage` and `coverage_bound`: no k of these M rows
    have a larger coverage. With `cover`, `reached` says whether it got there, and `minimal` whether it is proved that
    no smaller set does. All this is about coverage, so there is no certificate for the objective. θ changes only the
    reported objective. When the time is up, the most relevant rows fill the free places.
    """
    share = None if cover is None else check_number(cover, "cover", 0.0, 1.0)
    block = yield from _fetch_block(problem, facts, targets)
    similar = problem.similar(block.pool.rows).astype(np.float32)
    worth = state_worth(similar, similar, weigh_targets(block.relevance), problem.sharpness)
    most = min(problem.k, len(block))
    stats: dict[str, Any] = {"targets": len(block)}
    if block.problem.constraints.limits_sets:
        found = _cover_within(block, worth, most, share, clock)
        stats |= {} if share is None else {"reached": found.coverage >= share - TIE, "minimal": False}
    elif share is None:
        found = solve(worth, most, clock)
    else:
        fewest = find_smallest(worth, share, most, clock)
        found = Covering(fewest.chosen, fewest.coverage, fewest.bound, fewest.stopped)
        stats |= {"reached": fewest.reached, "minimal": fewest.minimal}
    stats |= {"coverage": found.coverage, "coverage_bound": found.bound}
    if found.stopped:
        stats["stopped"] = "time_limit"
    if share is not None:
        block.asked = len(found.chosen)
    block.resize(len(found.chosen))
    return conclude_on_block(block, found.chosen, "coverage", stats, picked_in_order=False)


def _fetch_block(problem: Problem, facts: Facts, targets: int | None) -> Asking[Block]:
    """The rows to choose from: as many as are wanted, and more if the constraints need them."""
    count = _count_targets(problem.k, facts.size, targets)
    while True:
        pool = yield from fetch_pool(problem, facts, count)
        last = pool.is_complete or count >= MOST
        if len(pool):
            block = Block(pool, np.arange(len(pool)))
            if last or len(block.pick(block.relevance, 0.0)) == problem.k:
                return block
        elif last:
            raise problem.constraints.say_nothing_fits(facts.size)
        count *= 2


def _count_targets(k: int, size: int, targets: int | None) -> int:
    if targets is None:
        return min(size, max(TARGETS, 2 * k))
    count = check_count(targets, "targets")
    if not k <= count <= size:
        raise InputError(f"targets must be between k ({k}) and the number of rows ({size}), got {count}")
    return count


def _cover_within(block: Block, worth: Vector, most: int, share: float | None, clock: Clock) -> Covering:
    """Greedy and exchanges under constraints. The bound is that of all sets of the size, allowed or not."""
    chosen = block.locked.copy()
    while len(chosen) < most and not (share is not None and len(chosen) and measure(worth, chosen) >= share - TIE):
        row = _best_addition(block, worth, chosen)
        if row < 0:
            break
        chosen = np.append(chosen, row)
    if len(chosen) == 0:
        raise block.problem.constraints.say_nothing_fits(len(block))
    chosen = _exchange_within(block, worth, chosen, clock)
    proved = prove(worth, chosen, clock)
    return Covering(chosen, measure(worth, chosen), proved.bound, proved.stopped)


def _best_addition(block: Block, worth: Vector, chosen: Positions) -> int:
    """The allowed row that adds most to the coverage; -1 if none may join."""
    covered = worth[chosen].max(axis=0, initial=0.0)
    gains = np.where(
        addable(block.rules, chosen, len(block), block.problem.k), np.maximum(worth, covered).sum(axis=1), -np.inf
    )
    row = int(np.argmax(gains))
    return row if gains[row] > -np.inf else -1


def _exchange_within(block: Block, worth: Vector, chosen: Positions, clock: Clock) -> Positions:
    """Exchange members for allowed rows as long as the coverage grows."""
    value, improved = measure(worth, chosen), True
    while improved and not clock.is_over():
        improved = False
        for place in range(len(block.locked), len(chosen)):
            rest = np.delete(chosen, place)
            row = _best_addition(block, worth, rest)
            tried = np.append(rest, row)
            if row >= 0 and measure(worth, tried) > value + TIE:
                chosen, value, improved = tried, measure(worth, tried), True
    return chosen
