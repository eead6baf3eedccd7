"""θ without guessing: many θ on one pool, a relevance to keep, or the knee."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from breadth.altering import alter
from breadth.clock import NO_LIMIT, Clock
from breadth.curve import Frontier, relevance_floor
from breadth.oracles.protocol import Facts
from breadth.problem import Problem
from breadth.requests import Asking
from breadth.selection import Selection
from breadth.settings import DEFAULT_THETAS
from breadth.solve.block import Block
from breadth.solve.certified import certified, conclude_found
from breadth.solve.effort import EFFORT
from breadth.solve.found import Found
from breadth.solve.loop import solve

_AUTO_THETAS = (0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0)
_LIGHT = replace(EFFORT, starts=2, tabu=300, tight_rows=64)
"""For the many θ of a frontier."""
_BISECTIONS, _BACK = 8, 3


def frontier(
    problem: Problem, facts: Facts, *, clock: Clock = NO_LIMIT, thetas: Sequence[float] = DEFAULT_THETAS
) -> Asking[Frontier]:
    """A selection with a certificate for each θ. The rows in memory, with their pair costs, serve all of them.

    Every set found is valued for every θ and the best kept: the objective is linear in θ, so on one family of sets
    relevance can only rise with θ and diversity only fall. `certificate.swap_optimal` says for which of them no
    exchange gains.
    """
    found: list[Found] = []
    block: Block | None = None
    for theta in sorted(thetas, reverse=True):
        one, _ = yield from solve(alter(problem, theta=theta), facts, clock, _LIGHT, block)
        block = one.block
        found.append(one)
    return Frontier(_choose_for_each(found[::-1], facts), _find_top_relevance(found[-1].block))


def _find_top_relevance(block: Block) -> float:
    """The mean relevance of the most relevant set that is allowed."""
    asked = block.at(alter(block.problem, k=block.asked))
    picks = asked.pick(block.relevance, 0.0)
    return float(block.relevance[picks].mean())


def _choose_for_each(found: Sequence[Found], facts: Facts) -> tuple[Selection, ...]:
    """For each θ the best of all sets that were found for any, with its own bound.

    Ties go to the more relevant set, so that equal objectives cannot break the order.
    """
    family = list({tuple(sorted(one.ids.tolist())): one for one in found}.values())
    relevances = np.array([float(one.block.relevance[one.chosen].sum()) for one in family])
    pairs = np.array([one.problem.pair_sum(one.rows, one.ids) for one in family])  # neither depends on θ
    sizes = np.array([len(one.chosen) for one in family])
    selections = []
    for own in found:
        values = own.problem.weigh_sums(relevances, pairs)
        values[sizes != len(own.chosen)] = -np.inf
        place = int(np.lexsort((relevances, values))[-1])
        best = family[place]
        same = set(best.ids.tolist()) == set(own.ids.tolist())
        chosen = Found(
            best.block.at(own.problem), best.chosen, float(values[place]), max(own.bound, float(values[place])),
            own.result, own.swap_optimal and same, own.stopped, {"held": len(own.block.pool)},
        )  # fmt: skip
        selections.append(conclude_found(chosen, facts))
    return tuple(selections)


def keep(problem: Problem, facts: Facts, *, clock: Clock = NO_LIMIT, share: float) -> Asking[Selection]:
    """The certified set of the smallest θ whose mean relevance is at least `share` of top-k's, by bisection on θ.

    `theta` of the selection says which θ that was. Sets that are best for no θ are not looked at. When the time is up
    and no set that keeps enough was found, that is plain top-k.
    """
    top, _ = yield from solve(alter(problem, theta=1.0 - 1e-9), facts, clock, _LIGHT)
    floor = relevance_floor(_find_top_relevance(top.block), share)
    low, high, block = 0.0, 1.0, top.block
    for _ in range(_BISECTIONS):
        if clock.is_over():
            break
        middle = (low + high) / 2.0
        found, _ = yield from solve(alter(problem, theta=middle), facts, clock, _LIGHT, block)
        block = found.block
        enough = float(block.relevance[found.chosen].mean()) >= floor
        low, high = (low, middle) if enough else (middle, high)
    # With all its effort the solver may find a less relevant set: go up in growing steps, and halfway back.
    best = yield from certified(alter(problem, theta=high), facts, clock=clock)
    too_low, step = low, 2.0**-_BISECTIONS
    while best.relevance < floor and best.theta < 1.0:
        too_low, step = best.theta, 2.0 * step
        theta = 1.0 if clock.is_over() else min(too_low + step, 1.0)
        best = yield from certified(alter(problem, theta=theta), facts, clock=clock)
    for _ in range(_BACK if best.theta > high else 0):
        if clock.is_over():
            break
        middle = (too_low + best.theta) / 2.0
        other = yield from certified(alter(problem, theta=middle), facts, clock=clock)
        best, too_low = (other, too_low) if other.relevance >= floor else (best, middle)
    return best.with_stats(keep=share)


def automatic(
    problem: Problem, facts: Facts, *, clock: Clock = NO_LIMIT, judge: Callable[[Selection], float] | None = None
) -> Asking[Selection]:
    """The knee of the frontier, or the set of it that a judge scores highest, then certified at its θ."""
    curve = yield from frontier(problem, facts, clock=clock, thetas=_AUTO_THETAS)
    if judge is not None:
        return curve.choose(judge).with_stats(candidates=len(curve))
    return (yield from certified(alter(problem, theta=curve.knee().theta), facts, clock=clock))
