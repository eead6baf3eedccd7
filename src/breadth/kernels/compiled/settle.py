"""All that is done on a table of rows, in one call."""

from __future__ import annotations

import numpy as np
from numba import float64, int64, njit, types

from breadth import feasible
from breadth.kernels.compiled.bounds import dominate, find_slopes, judge, relax
from breadth.kernels.compiled.sets import MOST_SWAPS, greedy, offer, search_on, set_value, swap
from breadth.kernels.compiled.signatures import AIMS, GRAM, OUTCOME, PARTS, PLACES, RULES, VECTOR
from breadth.kernels.contract import MOST_STEPS, ROUNDING, STEPS, UNDECIDED

_Parts = feasible.Parts


@njit(nogil=True, cache=True)
def _shift(gram, rules, where, weights):
    """The similarities of some rows less a dominant diagonal. Those of rows that conflict count as 0."""
    size = len(where)
    shifted = np.empty((size, size), dtype=np.float32)
    for i in range(size):
        line = gram[where[i]]
        for j in range(size):
            shifted[i, j] = line[where[j]]
        if not rules.free:
            apart = rules.apart[where[i]]
            for j in range(size):
                if apart[where[j]] != 0:
                    shifted[i, j] = np.float32(0.0)
    diagonal = dominate(shifted, weights)
    for i in range(size):
        shifted[i, i] -= np.float32(diagonal[i] - ROUNDING * size)
    return shifted


@njit(nogil=True, cache=True)
def _bound(linear, gram, where, k, coupling, parts, chosen, best, share, least, supply):
    """A bound over the rows `where` (positions in the block), whose similarities are `gram`.

    Returns it, the x that it was reached at, the slopes there, and what each row loses it when it must be chosen.
    """
    size = len(where)
    own, x = np.empty(size), np.zeros(size)
    for i in range(size):
        own[i] = linear[where[i]] + 0.5 * coupling * np.float64(gram[i, i])
    x[np.searchsorted(where, chosen)] = 1.0
    part = parts
    if size < len(linear):
        part = _Parts(parts.part[where], parts.room, parts.locked[where])
    for _ in range(MOST_STEPS // STEPS):
        gap, value = relax(own, gram, k, coupling, part, x, best, share, least, STEPS)
        if gap <= max(least, share * (value - best)):
            break
    slope = find_slopes(own, gram, coupling, x)
    largest, losses = judge(slope, k, part, supply)
    return 0.5 * ((own * x).sum() - (slope * x).sum()) + largest, x, slope, losses


@njit(nogil=True, cache=True)
def _mark_left(twins, chosen, survivors):
    """The rows that may be in a better set, of exact copies (`twins`) one: a chosen one or else the first."""
    stands = np.full(len(twins), -1, dtype=np.int64)
    for member in chosen:
        stands[twins[member]] = member
    left = survivors.copy()
    for i in range(len(twins)):
        if stands[twins[i]] < 0:
            stands[twins[i]] = i
        left[i] = left[i] and stands[twins[i]] == i
    left[chosen] = True
    return left


@njit(nogil=True, cache=True)
def _tighten(linear, gram, rules, k, coupling, parts, twins, chosen, supply, aims, x, survivors, totals, left, inner_x):
    """Bound what can be in a better set with a dominant diagonal. `left` and `inner_x` say what then is left.

    totals    value, bound, and 1 if rows outside the block can be in a better set, else 0: the last two may fall
    """
    left[:] = _mark_left(twins, chosen, survivors)
    inner_x[:] = x
    where = np.flatnonzero(left)
    if totals[1] - totals[0] <= aims.least or len(where) > aims.tight_rows:
        return
    weights = np.maximum(x[where] * (1.0 - x[where]), UNDECIDED)
    outside = supply if totals[2] > 0.0 else -np.inf
    bound, own, _, losses = _bound(
        linear, _shift(gram, rules, where, weights), where, k, coupling, parts, chosen, totals[0], aims.fine,
        aims.least, outside,
    )  # fmt: skip
    totals[1] = min(totals[1], max(totals[0], bound))
    bar = totals[0] + 0.01 * aims.least
    for i in range(len(where)):
        left[where[i]] = bound - losses[i] > bar
        inner_x[where[i]] = own[i]
    left[chosen] = True
    if not bound - losses[len(where)] > bar:
        totals[2] = 0.0


@njit(nogil=True, cache=True)
def _search_longer(linear, gram, rules, k, coupling, locked, aims, x, chosen, totals):
    """Start from the relaxation; then tabu search, the longer the more is left open. How many swaps."""
    swaps = 0
    trial = np.empty(k, dtype=np.int64)
    trial[: len(locked)] = locked
    if greedy(x, gram, 0.0, rules, trial, len(locked)) == k:
        swaps += offer(linear, gram, coupling, rules, aims.least_gain, trial, chosen, totals)
    return swaps + search_on(linear, gram, coupling, rules, aims, totals[1], chosen, totals)


@njit(nogil=True, cache=True)
def _start(linear, gram, rules, k, coupling, locked, aims, chosen, totals):
    """Greedy and swaps, then the same from several merits: F with a first row, every other time at half the relevance.

    How many swaps; -1 if greedy does not find k rows.
    """
    chosen[: len(locked)] = locked
    if greedy(linear, gram, coupling, rules, chosen, len(locked)) < k:
        return -1
    swaps = swap(linear, gram, coupling, rules, chosen, aims.least_gain, MOST_SWAPS)
    totals[0] = set_value(linear, gram, coupling, chosen)
    order = np.argsort(-linear, kind="mergesort")
    picks = np.empty(k, dtype=np.int64)
    for number in range(aims.starts):
        merits = linear.copy() if number % 2 == 0 else 0.5 * linear
        place = min(number, len(order) - 1) if number % 2 == 0 else (len(order) - 1) * number // aims.starts
        merits[order[place]] = np.finfo(np.float64).max
        picks[: len(locked)] = locked
        if greedy(merits, gram, coupling, rules, picks, len(locked)) == k:
            swaps += offer(linear, gram, coupling, rules, aims.least_gain, picks, chosen, totals)
    return swaps


@njit(
    types.UniTuple(int64, 2)(VECTOR, GRAM, RULES, int64, float64, PLACES, PARTS, PLACES, float64, AIMS, OUTCOME),
    nogil=True,
    cache=True,
)
def settle(linear, gram, rules, k, coupling, locked, parts, twins, supply, aims, outcome):
    chosen, totals, x, slope, survivors, left, inner_x = outcome
    swaps = _start(linear, gram, rules, k, coupling, locked, aims, chosen, totals)
    if swaps < 0:
        return 0, 0
    size = len(linear)
    whole = supply == -np.inf
    totals[1] = totals[0] if k == 1 or (whole and size == k) else np.inf
    every = np.arange(size)
    conflicts = not rules.free and rules.apart.any()
    form = gram.copy() if conflicts else _shift(gram, rules, every, np.ones(size))
    bound, at, slopes, losses = _bound(
        linear, form, every, k, coupling, parts, chosen, totals[0], aims.rough, aims.least, supply
    )
    x[:], slope[:] = at, slopes
    totals[1], totals[4] = min(totals[1], bound), bound
    if totals[1] - totals[0] > aims.spread:  # far from converged: relevance alone may say more
        totals[1] = min(totals[1], judge(linear, k, parts, supply)[0])
    bar = totals[0] + 0.01 * aims.least
    for i in range(size):
        survivors[i] = bound - losses[i] > bar
    totals[3] = 1.0 if bound - losses[size] > bar else 0.0
    for again in range(2):
        totals[2] = totals[3]
        _tighten(
            linear, gram, rules, k, coupling, parts, twins, chosen, supply, aims, x, survivors, totals, left, inner_x
        )
        gap, few = totals[1] - totals[0], left.sum() <= aims.tight_rows
        if gap > aims.least and few and gap / aims.spread >= aims.eigen:
            return 2 + again, swaps
        if gap <= aims.least or again == 1:
            break
        before = totals[0]
        swaps += _search_longer(linear, gram, rules, k, coupling, locked, aims, x, chosen, totals)
        if totals[0] <= before:
            break
    return 1, swaps
