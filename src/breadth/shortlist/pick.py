"""Pick row by row on a shortlist that is long enough to stand for the whole collection."""

from __future__ import annotations

import numpy as np

from breadth.arrays import Positions, Vector
from breadth.clock import Clock
from breadth.oracles.protocol import Facts
from breadth.problem import Problem
from breadth.requests import Asking
from breadth.shortlist.fetch import fetch_shortlist
from breadth.shortlist.table import Table

FIRST, FOR_EACH, MOST = 256, 4, 4096
"""Rows of the first shortlist, at least, and for each of the k; beyond the last number it does not grow."""


def first_count(problem: Problem) -> int:
    """How many rows to ask for first."""
    return max(FIRST, FOR_EACH * problem.k) + len(problem.constraints.excluded)


def pick_on_shortlist(
    problem: Problem, facts: Facts, clock: Clock, relevance_share: float = 1.0, relevance_only: bool = False
) -> Asking[tuple[Table, Positions]]:
    """Greedy on F from the most relevant row, with all or a share of the relevance, or by relevance alone.

    The shortlist doubles until no row outside can have been worth more than a pick. The table, and positions in it.
    """
    count = first_count(problem)
    while True:
        shortlist = yield from fetch_shortlist(problem, facts, count)
        table = Table(problem, shortlist, len(shortlist))
        weights = table.relevance if relevance_only else relevance_share * table.linear
        coupling = 0.0 if relevance_only else problem.coupling
        picks = table.pick(weights, coupling)
        if len(picks) == problem.k and (relevance_only or _is_enough(table, picks, weights, relevance_share)):
            return table, picks
        if shortlist.is_final or count >= MOST or (len(picks) and clock.is_over()):
            if len(picks) == 0:
                raise problem.constraints.say_nothing_fits(len(shortlist))
            return table, picks
        count *= 2


def _is_enough(table: Table, picks: Positions, weights: Vector, relevance_share: float) -> bool:
    """Whether every pick was worth at least what a row outside can be worth."""
    supply = relevance_share * table.supply
    pairs = np.tril(table.gram[np.ix_(picks, picks)].astype(np.float64), k=-1).sum(axis=1)
    worth = weights[picks] - table.problem.coupling * pairs
    return bool((worth[len(table.locked) :] >= supply).all())
