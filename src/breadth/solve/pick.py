"""Pick row by row on a pool that is long enough to stand for the whole collection."""

from __future__ import annotations

import numpy as np

from breadth.arrays import Positions, Vector
from breadth.clock import Clock
from breadth.oracles.protocol import Facts
from breadth.problem import Problem
from breadth.requests import Asking
from breadth.solve.block import Block
from breadth.solve.pool import fetch_pool

FIRST, FOR_EACH, MOST = 256, 4, 4096
"""Rows of the first pool, at least, and for each of the k; beyond the last number it does not grow."""


def first_count(problem: Problem) -> int:
    """How many rows to ask for first."""
    return max(FIRST, FOR_EACH * problem.k) + len(problem.constraints.excluded)


def pick_on_pool(
    problem: Problem, facts: Facts, clock: Clock, relevance_share: float = 1.0, relevance_only: bool = False
) -> Asking[tuple[Block, Positions]]:
    """Greedy on F from the most relevant row, with all or a share of the relevance, or by relevance alone.

    The pool doubles until no row outside can have been worth more than a pick. The block, and positions in it.
    """
    count = first_count(problem)
    while True:
        pool = yield from fetch_pool(problem, facts, count)
        if len(pool) == 0:
            raise pool.problem.constraints.say_nothing_fits(facts.size)
        block = Block(pool, np.arange(len(pool)))
        block.supply = pool.ceiling if pool.is_complete else problem.relevance_weight * pool.ceiling
        weights = block.relevance if relevance_only else relevance_share * block.linear
        coupling = 0.0 if relevance_only else problem.coupling
        picks = block.pick(weights, coupling)
        if len(picks) == problem.k and (relevance_only or _is_enough(block, picks, weights, relevance_share)):
            return block, picks
        if pool.is_final or count >= MOST or (len(picks) and clock.is_over()):
            if len(picks) == 0:
                raise problem.constraints.say_nothing_fits(len(pool))
            return block, picks
        count *= 2


def _is_enough(block: Block, picks: Positions, weights: Vector, relevance_share: float) -> bool:
    """Whether every pick was worth at least what a row outside can be worth."""
    supply = relevance_share * block.supply
    pairs = np.tril(block.gram[np.ix_(picks, picks)].astype(np.float64), k=-1).sum(axis=1)
    worth = weights[picks] - block.problem.coupling * pairs
    return bool((worth[len(block.locked) :] >= supply).all())
