"""Find a set with a large coverage: greedy, then exchanges of one member for one other candidate."""

from __future__ import annotations

import numpy as np

from breadth.arrays import Positions, Vector
from breadth.clock import NO_LIMIT, Clock
from breadth.ranking import best

TIE = 1e-12
"""Gains that differ by less are equal: the difference is rounding. Of equal candidates the first one is taken."""

_BATCH = 16
"""Candidates that greedy looks at again together."""


def pick_greedily(worth: Vector, k: int, clock: Clock = NO_LIMIT) -> Positions:
    """Return k candidates, each the one that adds most coverage to those before it, in the order of the picks.

    The first j of them are what greedy picks for j, so one run serves every size up to k. For each size their coverage
    is at least 1 - 1/e of the optimum. If the time is up, there are fewer than k, but at least one.

    What a candidate adds can only shrink as the set grows. So an old gain is an upper bound, and greedy looks again
    only at candidates whose old gain is still among the largest.
    """
    gains = worth.sum(axis=1)
    fresh = np.ones(len(worth), dtype=np.bool_)
    reached = np.zeros(worth.shape[1])
    order: list[int] = []
    while len(order) < k and not (order and clock.is_over()):
        lead = int(np.argmax(gains >= gains.max() - TIE))
        if not fresh[lead]:
            stale = np.flatnonzero(~fresh)
            again = np.append(stale[best(gains[stale], _BATCH)], lead)
            gains[again] = np.maximum(worth[again] - reached, 0.0).sum(axis=1)
            fresh[again] = True
            continue
        order.append(lead)
        reached = np.maximum(reached, worth[lead])
        gains[lead] = -np.inf
        fresh[:] = False
        fresh[order] = True
    return np.array(order, dtype=np.int64)


def exchange(worth: Vector, chosen: Positions, clock: Clock = NO_LIMIT) -> Positions:
    """Return the set after the best exchange of a member for another candidate, again and again, while one gains.

    The result is locally optimal: no single exchange improves it, unless the time was up before.
    """
    members: Positions = chosen.copy()
    while len(members) < len(worth) and not clock.is_over():
        gains = rate_exchanges(worth, members)
        candidate, member = np.unravel_index(int(gains.argmax()), gains.shape)
        if gains[candidate, member] <= TIE:
            break
        members[member] = candidate
    return members


def rate_exchanges(worth: Vector, members: Positions) -> Vector:
    """Return what coverage gains when candidate i replaces the member at place j: (candidates, members).

    A target loses its best member if that one leaves, and falls back to the candidate or to its second best member. All
    other targets can only win. The entries of members themselves are -∞.
    """
    own = worth[members]
    keeper = own.argmax(axis=0)
    high = own.max(axis=0)
    low = find_second(own)
    order = np.argsort(keeper, kind="stable")
    kept, starts = np.unique(keeper[order], return_index=True)
    with_all = np.maximum(worth, high)
    without_keeper = np.maximum(worth, low)
    without_keeper -= with_all
    gains = np.zeros((len(worth), len(members)))
    gains[:, kept] = np.add.reduceat(without_keeper[:, order], starts, axis=1)
    gains += (with_all.sum(axis=1) - high.sum())[:, None]
    gains[members] = -np.inf
    return gains


def find_second(own: Vector) -> Vector:
    """Return the second largest entry of each column, 0 if there is one row only."""
    if len(own) == 1:
        return np.zeros(own.shape[1])
    return np.asarray(np.partition(own, len(own) - 2, axis=0)[len(own) - 2])


def search(worth: Vector, k: int, clock: Clock = NO_LIMIT) -> Positions:
    """Return k candidates by greedy and exchanges. If the time is up, the first candidates fill the free places."""
    picks = pick_greedily(worth, k, clock)
    if len(picks) < k:
        others = np.setdiff1d(np.arange(len(worth)), picks)
        return np.concatenate((picks, others[: k - len(picks)]))
    return exchange(worth, picks, clock)
