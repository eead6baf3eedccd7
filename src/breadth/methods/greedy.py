"""Sequential selection whose every step is one search: greedy on the objective, and max-sum dispersion."""

from __future__ import annotations

from typing import Any

import numpy as np

from breadth.arrays import Array, Ids, Vector
from breadth.clock import NO_LIMIT, Clock
from breadth.oracles.protocol import Facts
from breadth.problem import Problem
from breadth.requests import Asking, Rows, Top
from breadth.selection import Selection, conclude
from breadth.solve.conclude import conclude_on_block
from breadth.solve.partial import Partial
from breadth.solve.pick import pick_on_pool
from breadth.solve.pool import fix_constraints


def greedy(problem: Problem, facts: Facts, *, clock: Clock = NO_LIMIT) -> Asking[Selection]:
    """Greedy on F: add the row with the largest marginal value for the rows so far. k scans."""
    return (yield from _pick_in_turn(problem, facts, "greedy", 1.0, clock))


def msd(problem: Problem, facts: Facts, *, clock: Clock = NO_LIMIT) -> Asking[Selection]:
    """Max-sum dispersion after Borodin, Lee and Ye (2012): the greedy step with the relevance halved.

    F is the max-sum diversification objective. Adding the row that maximises ½·relevance gain + distance gain
    gives at least half of the optimum where the distance is a metric (1 - cosine is not one; it comes close).
    """
    return (yield from _pick_in_turn(problem, facts, "msd", 0.5, clock))


def _pick_in_turn(
    problem: Problem, facts: Facts, method: str, relevance_share: float, clock: Clock
) -> Asking[Selection]:
    if problem.sharpness > 1:
        block, picks = yield from pick_on_pool(problem, facts, clock, relevance_share)
        return conclude_on_block(block, picks, method, {"held": len(block)})
    if not problem.constraints.is_free:
        return (yield from _pick_within(problem, facts, method, relevance_share, clock))
    chosen: list[int] = []
    rows: list[Array] = []
    v = np.zeros(len(problem.query))
    stats: dict[str, Any] = {}
    for size in range(problem.k):
        if size and clock.is_over():
            stats = {"stopped": "time_limit", "filled": problem.k - size}
            rest = yield from _fill(problem, facts, np.array(chosen))
            chosen += rest.tolist()
            rows += list((yield from Rows(rest)))
            break
        # Nothing is chosen yet: the gain is relevance alone (for θ = 0 as well, where F decides nothing).
        direction = problem.direction(v, relevance_share) if size else problem.query
        # The rows already chosen can take up to `size` of the best places.
        ids = (yield from Top(direction[None], size + 1, least=size + 1)).ids[0]
        pick = ids[problem.allowed.may_enter(ids, np.array(chosen, dtype=np.int64))][:1]
        row = (yield from Rows(pick))[0]
        chosen.append(int(pick[0]))
        rows.append(row)
        v += row
    ids = np.array(chosen, dtype=np.int64)
    return conclude(problem, ids, np.array(rows), method, picked_in_order=True, stats=stats)


def _pick_within(
    problem: Problem, facts: Facts, method: str, relevance_share: float, clock: Clock
) -> Asking[Selection]:
    """The same under constraints: a step asks for more and more of the best rows until one of them may join."""
    problem = yield from fix_constraints(problem, facts)
    partial = Partial(problem)
    partial.pin((yield from Rows(problem.constraints.pinned)))
    stats: dict[str, Any] = {}
    while len(partial) < problem.k:
        late = len(partial) > 0 and clock.is_over()
        if late:
            stats = {"stopped": "time_limit"}
        by_relevance = late or len(partial) == len(problem.constraints.pinned)
        v = np.sum([np.zeros(len(problem.query)), *partial.rows], axis=0)
        direction = problem.query if by_relevance else problem.direction(v, relevance_share)
        joined = yield from _join_best(partial, direction, facts, len(partial) + 8)
        if not joined:
            break
    if len(partial) == 0:
        raise problem.constraints.say_nothing_fits(facts.size)
    ids, rows = np.array(partial.ids), np.array(partial.rows)
    return conclude(problem, ids, rows, method, picked_in_order=True, stats=stats)


def _join_best(partial: Partial, direction: Vector, facts: Facts, count: int) -> Asking[bool]:
    """Take the best row for a direction that may join; whether there is one."""
    while True:
        count = min(count, facts.size)
        ids = (yield from Top(direction[None], count)).ids[0]
        rows = yield from Rows(ids)
        fitting = np.flatnonzero(partial.admits(ids, rows))
        if len(fitting):
            partial.add(int(ids[fitting[0]]), rows[fitting[0]])
            return True
        if count == facts.size:
            return False
        count *= 4


def _fill(problem: Problem, facts: Facts, chosen: Ids) -> Asking[Ids]:
    """The most relevant rows that are missing to k."""
    ids = (yield from Top(problem.query[None], min(facts.size, problem.k + len(chosen)))).ids[0]
    return np.asarray(ids[problem.allowed.may_enter(ids, chosen)][: problem.k - len(chosen)])
