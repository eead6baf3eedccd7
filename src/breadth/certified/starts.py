"""More places to start from, where the rows in memory leave much open."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

import numpy as np

from breadth.certified.bench import Bench
from breadth.certified.settle import start_from_many
from breadth.drivers import run_many
from breadth.methods.dpp import dpp
from breadth.methods.frank_wolfe import frank_wolfe
from breadth.methods.greedy import greedy, msd
from breadth.methods.mmr import mmr
from breadth.methods.vrsd import vrsd
from breadth.oracles.array import ArrayOracle
from breadth.oracles.protocol import Facts, describe
from breadth.picking import pick_greedily, spread_firsts
from breadth.requests import Asking, Rows, Top
from breadth.selection import Selection

Solve: TypeAlias = Callable[..., Asking[Selection]]

_SEARCHING = (frank_wolfe, partial(frank_wolfe, init="topk"), greedy, msd)
"""Methods that need searches alone."""
_SCORING = (mmr, dpp, vrsd)
"""Methods that need the scores of all rows."""


def start_from_methods(bench: Bench, facts: Facts) -> Asking[None]:
    """Start from what the other methods find: on the rows in memory, and on a modest collection as a whole.

    Where they run on the whole collection, none of them can then be better.
    """
    problem = bench.problem
    block = ArrayOracle.over_block(bench.held.rows, problem.similarity_dim)
    scoring = _SCORING if problem.similarity_dim is None else _SCORING[:-1]
    solvers = [solve(problem, describe(block), clock=bench.clock) for solve in (*_SEARCHING, *scoring)]
    found = run_many(solvers, block)
    bench.improve_from(np.array([selection.ids for selection in found]))
    yield from _start_from_searches(bench, facts, (*_SEARCHING, *(scoring if facts.scores_all else ())))


def start_from_greedy_searches(bench: Bench, facts: Facts) -> Asking[None]:
    """Start from what greedy and max-sum dispersion find on the whole of a modest collection."""
    yield from _start_from_searches(bench, facts, (greedy, msd))


def _start_from_searches(bench: Bench, facts: Facts, methods: Sequence[Solve]) -> Asking[None]:
    """Start from what methods find on the whole of a modest collection that is not held as a whole."""
    if len(bench.held) == facts.size or facts.size > bench.effort.whole_when_low:
        return
    for solve in methods:
        if bench.clock.is_over():
            return
        selection = yield from solve(bench.problem, facts, clock=bench.clock)
        bench.take(selection.ids, (yield from Rows(selection.ids)))
        bench.improve_from(bench.held.find(selection.ids)[None])


def start_everywhere(bench: Bench, size: int) -> Asking[None]:
    """Bring the rows that greedy would take from the whole collection into memory, from several first rows.

    Greedy in memory takes some rows, the collection is searched for the best rows to go on with, and so on: after every
    row for a very small k, after every few for a larger one. Then greedy and local search on all that.
    """
    problem, effort = bench.problem, bench.effort
    steps = tuple(range(1, problem.k)) if problem.k <= effort.few else (1, max(2, problem.k // 3))
    for step in effort.far_passes * steps:
        if bench.clock.is_over():
            return
        rows = bench.held.rows
        firsts = np.repeat(spread_firsts(bench.held.scores(problem.query), effort.far_starts), 2)
        shares = np.tile([1.0, 0.5], len(firsts) // 2)
        sets = pick_greedily(problem, rows, firsts, shares, step, bench.clock)
        sums = rows[sets].sum(axis=1, dtype=np.float64)
        directions = np.array([problem.direction(v, share) for v, share in zip(sums, shares, strict=True)])
        found = yield from Top(directions, min(size, step + effort.far_rows))
        new = np.setdiff1d(found.ids, bench.held.ids)
        bench.take(new, (yield from Rows(new)))
    start_from_many(bench)


__all__ = ["start_everywhere", "start_from_greedy_searches", "start_from_many", "start_from_methods"]
