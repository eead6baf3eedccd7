"""The paper's objective on an array in memory: from its rows to the chosen set and its bound, in one call.

A block of rows grows until no row outside can move the bound. The search for sets is done on the block. Then rows
outside that gain by a swap with a member enter it, until there are none. These are the steps of `certified/settle.py`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import boolean, float64, int64, njit, types

from breadth import feasible, problem
from breadth.kernels.compiled.bounds import relax
from breadth.kernels.compiled.choose import (
    dot,
    find_largest,
    keep_best,
    order_set,
    score,
    score_and_check,
)
from breadth.kernels.compiled.exhaust import exhaust
from breadth.kernels.compiled.products import fill_few, multiply_with
from breadth.kernels.compiled.sets import MOST_SWAPS, greedy, offer, search_on, set_value, swap
from breadth.kernels.compiled.signatures import AIMS, GRAM, NUMBERS, PLACES, VECTOR, WANTED
from breadth.kernels.contract import MOST_STEPS, STEPS

_Rules, _Parts = feasible.Rules, feasible.Parts
_floor = njit(inline="always")(problem.floor)
_exchange_gain = njit(inline="always")(problem.exchange_gain)
_GRID = 2.0**33
"""Relevance is rounded to multiples of 1/this, so that rows with one relevance tie."""
_ROUNDING = 1e-6
"""What float32 arithmetic changes in a score, relative to the length of the direction."""


class _Block(NamedTuple):
    """Rows with their numbers in the array, weighted relevance and similarities, with room to grow.

    inside    which rows of the array are in the block
    """

    rows: Any
    places: Any
    linear: Any
    gram: Any
    inside: Any


@njit(nogil=True, cache=True)
def _make_block(count, dim, most):
    """An empty block with room for `most` of `count` rows."""
    return _Block(
        np.empty((most, dim), dtype=np.float32),
        np.empty(most, dtype=np.int64),
        np.empty(most),
        np.empty((most, most), dtype=np.float32),
        np.zeros(count, dtype=np.bool_),
    )


@njit(nogil=True, cache=True)
def _take(rows, query, weight, new, block, size):
    """Take rows into the block; how many it then has, -1 if there is no room."""
    old = size
    if size + len(new) > len(block.linear):
        return -1
    for row in new:
        block.places[size] = row
        block.inside[row] = True
        block.rows[size] = rows[row]
        block.linear[size] = weight * (np.rint(dot(rows[row], query) * _GRID) / _GRID)
        size += 1
    fill_few(block.rows, old, size, block.gram)
    return size


@njit(nogil=True, cache=True)
def _climb(linear, gram, wanted, x, value, share, aims):
    """Raise the relaxation at x to a share of what is open above the value of a set; the most a set can be worth."""
    parts = _Parts(np.zeros(len(x), dtype=np.int64), np.full(1, wanted.k + 1), np.zeros(len(x), dtype=np.bool_))
    least, base = 10.0 * aims.least, value - aims.spread
    gap = at = 0.0
    for _ in range(MOST_STEPS // STEPS):
        gap, at = relax(linear, gram, wanted.k, wanted.coupling, parts, x, base, share, least, STEPS)
        if gap <= max(least, share * (at - base)):
            break
    return at + gap + aims.spread


@njit(nogil=True, cache=True)
def _find_direction(query, wanted, x, block, w):
    """Fill w(u) for u = Σ x_i e_i; ‖u‖²."""
    u = np.zeros(len(query))
    for i in range(len(x)):
        if x[i] != 0.0:
            for j in range(len(u)):
                u[j] += x[i] * np.float64(block[i, j])
    w[:] = wanted.relevance_weight * query - wanted.coupling * u
    return (u * u).sum()


@njit(nogil=True, cache=True)
def _find_best(scores, inside, most):
    """The rows outside the block with the largest scores."""
    found = np.flatnonzero(~inside)
    return keep_best(found, scores[found], most)[0]


@njit(nogil=True, cache=True)
def _slack(w):
    """What a score for w may be off by."""
    return _ROUNDING * np.sqrt(dot(w, w))


@njit(nogil=True, cache=True)
def _find_better(rows, w, scores, inside, bar, most):
    """The rows outside the block that score above a bar, in float64; the best ones, where they are more than `most`."""
    near = np.flatnonzero((scores > bar - _slack(w)) & ~inside)
    exact, count = np.empty(len(near)), 0
    for row in near:
        exact[count] = dot(rows[row], w)
        if exact[count] > bar:
            near[count] = row
            count += 1
    return keep_best(near[:count], exact[:count], most)[0]


@njit(nogil=True, cache=True)
def _go_on(linear, gram, wanted, rules, aims, relaxed, chosen, totals):
    """Swap from the set, then tabu search, the longer the more is left open; how many swaps."""
    coupling = wanted.coupling
    swaps = offer(linear, gram, coupling, rules, aims.least_gain, chosen.copy(), chosen, totals)
    if relaxed - totals[0] <= aims.least:
        return swaps
    return swaps + search_on(linear, gram, coupling, rules, aims, relaxed, chosen, totals)


@njit(nogil=True, cache=True)
def _try_starts(linear, gram, wanted, rules, aims, relaxed, count, chosen, totals):
    """Greedy from several first rows, with all and with half of the relevance, then swaps; how many swaps."""
    size, swaps, picks = len(linear), 0, np.empty(wanted.k, dtype=np.int64)
    order = np.argsort(-linear, kind="mergesort")
    for number in range(min(count, 2 * size)):
        if relaxed - totals[0] <= aims.least:
            break
        merits = linear.copy() if number % 2 == 0 else 0.5 * linear
        merits[order[number // 2 if number % 4 < 2 else (size - 1) * number // count]] = np.finfo(np.float64).max
        greedy(merits, gram, wanted.coupling, rules, picks, 0)
        swaps += offer(linear, gram, wanted.coupling, rules, aims.least_gain, picks, chosen, totals)
    return swaps


@njit(nogil=True, cache=True)
def _search(linear, gram, wanted, rules, aims, relaxed, many, x, chosen, totals):
    """Search for a better set on the block as long as something is open; how many swaps. `many`: further starts."""
    picks = np.argsort(-x, kind="mergesort")[: wanted.k].copy()
    swaps = offer(linear, gram, wanted.coupling, rules, aims.least_gain, picks, chosen, totals)
    swaps += _try_starts(linear, gram, wanted, rules, aims, relaxed, aims.starts, chosen, totals)
    swaps += _go_on(linear, gram, wanted, rules, aims, relaxed, chosen, totals)
    if many > 0 and relaxed - totals[0] > aims.least:
        swaps += _try_starts(linear, gram, wanted, rules, aims, relaxed, many, chosen, totals)
    return swaps


@njit(nogil=True, cache=True)
def _find_replacements(rows, query, wanted, block, gram, chosen, inside, squared, least_gain, most, scores):
    """The rows outside the block that gain by a swap with a member; the best ones, where they are more than `most`."""
    k, coupling = len(chosen), wanted.coupling
    x, w = np.zeros(len(block)), np.empty(len(query))
    x[chosen] = 1.0
    _find_direction(query, wanted, x, block, w)
    score(rows, w.astype(np.float32), scores)
    floors, lowest = np.empty(k), np.inf
    for c in range(k):
        own = np.float64(gram[chosen[c], chosen[c]])
        floors[c] = _floor(dot(block[chosen[c]], w), own, coupling)
        lowest = min(lowest, floors[c] - coupling * np.sqrt(own * squared))
    least = least_gain - _slack(w) - _ROUNDING * coupling
    where = np.flatnonzero((scores > lowest + least) & ~inside)
    members = block[chosen]
    cosines = multiply_with(rows, where, members)
    gains = np.empty(len(where))
    for i in range(len(where)):
        gains[i] = -np.inf
        for c in range(k):
            gains[i] = max(gains[i], _exchange_gain(scores[where[i]], np.float64(cosines[i, c]), floors[c], coupling))
    count = 0
    for i in range(len(where)):
        if gains[i] <= least:
            continue
        merit, gain = dot(rows[where[i]], w), -np.inf
        for c in range(k):
            gain = max(gain, _exchange_gain(merit, dot(rows[where[i]], members[c]), floors[c], coupling))
        if gain > least_gain:
            where[count], gains[count] = where[i], gain
            count += 1
    return keep_best(where[:count], gains[:count], most)[0]


@njit(nogil=True, cache=True)
def _score_all(rows, query, check, low, high, squared, scores):
    """Fill the relevance of all rows; the largest squared length there can be, or -1 if a length is wrong."""
    if not (low <= dot(query, query) <= high):
        return -1.0
    if not check:
        score(rows, query.astype(np.float32), scores)
        return squared
    good, error = score_and_check(rows, query.astype(np.float32), low, high, scores)
    return 1.0 + error if good else -1.0


@njit(nogil=True, cache=True)
def _grow_for_bound(rows, query, wanted, aims, squared, entering, block, size, x, w, own, scores, totals):
    """Relax, and let rows enter that move the bound: roughly at first, then finely. totals[1] becomes the bound.

    `w` becomes w(u), `own` the scores of the block for it, and `scores` those of all rows if some are outside.
    Returns how many rows the block then has (-1: it has no room), and the most that a set of it can be worth.
    """
    k, count = wanted.k, len(rows)
    share = aims.fine if size == count else aims.rough
    while True:
        relaxed = _climb(block.linear[:size], block.gram, wanted, x[:size], totals[0], share, aims)
        norm = _find_direction(query, wanted, x[:size], block.rows, w)
        for i in range(size):
            own[i] = dot(block.rows[i], w)
        new = np.empty(0, dtype=np.int64)
        if size < count:
            score(rows, w.astype(np.float32), scores)
            bar = find_largest(own[:size], k) + 0.01 * aims.least_gain
            new = _find_better(rows, w, scores, block.inside, bar, entering)
        if len(new) > 0:
            size = _take(rows, query, wanted.relevance_weight, new, block, size)
            if size < 0:
                return -1, 0.0
        elif share == aims.fine or relaxed - totals[0] <= aims.least:
            break
        else:
            share = aims.fine
    best = np.partition(own[:size], size - k)[size - k :].sum()
    totals[1] = 0.5 * wanted.coupling * (k * squared + norm) + best
    return size, relaxed


@njit(nogil=True, cache=True)
def _decide(rows, query, wanted, aims, block, size, w, own, scores, chosen, totals):
    """Go through all sets of the rows that can be in a better one, where these are few.

    Returns how many rows the block then has (-1: it has no room), and whether the set is now known to be the best.
    """
    k = wanted.k
    bar = find_largest(own[:size], k) - (totals[1] - totals[0]) - _slack(w)
    near = np.flatnonzero(own[:size] > bar)
    if len(near) > aims.decided:
        return size, False
    old = size
    if size < len(rows):
        new = np.flatnonzero((scores > bar) & ~block.inside)
        if len(near) + len(new) > aims.decided:
            return size, False
        size = _take(rows, query, wanted.relevance_weight, new, block, size)
        if size < 0:
            return size, False
    where = np.concatenate((near, np.arange(old, size)))
    where = where[np.argsort(-block.linear[where], kind="mergesort")]
    pairs, best = np.empty((len(where), len(where))), np.empty(k, dtype=np.int64)
    for i in range(len(where)):
        for j in range(len(where)):
            pairs[i, j] = np.float64(block.gram[where[i], where[j]])
    value, decided = exhaust(
        block.linear[where], pairs, k, wanted.coupling, best, totals[0], 0.5 * aims.least, aims.looks
    )
    if value > totals[0]:
        totals[0] = value
        chosen[:] = where[best]
    if decided:
        totals[1] = min(totals[1], totals[0] + 0.5 * aims.least)
    return size, decided


@njit(nogil=True, cache=True)
def _grow_for_swaps(rows, query, wanted, rules, aims, squared, entering, relaxed, block, size, scores, chosen, totals):
    """Let rows enter that gain by a swap, until there are none; how many swaps, and how many rows (-1: no room)."""
    swaps = 0
    while 0 <= size < len(rows):
        new = _find_replacements(
            rows, query, wanted, block.rows[:size], block.gram, chosen, block.inside, squared, aims.least_gain,
            entering, scores,
        )  # fmt: skip
        if len(new) == 0:
            break
        size = _take(rows, query, wanted.relevance_weight, new, block, size)
        if size > 0:
            swaps += _go_on(block.linear[:size], block.gram, wanted, rules, aims, relaxed, chosen, totals)
    return swaps, size


@njit(nogil=True, cache=True)
def _report(block, query, chosen, ids, values):
    """Fill the rows of the set and their relevance; Σ e_i·e_j over its pairs i < j, which is ½(‖Σ e_i‖² - Σ ‖e_i‖²)."""
    total, own = np.zeros(len(query)), 0.0
    for c in range(len(chosen)):
        member = block.rows[chosen[c]]
        ids[c], values[c] = block.places[chosen[c]], dot(member, query)
        own += dot(member, member)
        for j in range(len(total)):
            total[j] += np.float64(member[j])
    return 0.5 * (dot(total, total) - own)


@njit(
    types.UniTuple(int64, 3)(
        int64, int64, int64, GRAM, VECTOR, boolean, float64, float64, float64, WANTED, AIMS, int64, int64, PLACES,
        NUMBERS, NUMBERS, NUMBERS, NUMBERS,
    ),
    nogil=True,
    cache=True,
)  # fmt: skip
def choose_plain(
    size, most, wide, rows, query, check, low, high, squared, wanted, aims, entering, many, ids, values, totals, w, best
):
    count, k, coupling = rows.shape[0], wanted.k, wanted.coupling
    scores = np.empty(count)
    squared = _score_all(rows, query, check, low, high, squared, scores)
    if squared < 0.0:
        return -1, 0, 0
    block = _make_block(count, rows.shape[1], most)
    first = _find_best(scores, block.inside, min(size, most))
    size = _take(rows, query, wanted.relevance_weight, first, block, 0)
    nobody = np.empty(0, dtype=np.int64)
    rules = _Rules(
        True, np.empty((0, 0), dtype=np.uint8), nobody, nobody, np.empty(0, dtype=np.bool_), np.empty(0), np.inf
    )
    chosen, x = np.empty(k, dtype=np.int64), np.zeros(most)
    greedy(block.linear[:size], block.gram, coupling, rules, chosen, 0)
    swaps = swap(block.linear[:size], block.gram, coupling, rules, chosen, aims.least_gain, MOST_SWAPS)
    totals[0] = set_value(block.linear[:size], block.gram, coupling, chosen)
    x[chosen] = 1.0
    scored, decided = np.empty(most), False
    size, relaxed = _grow_for_bound(
        rows, query, wanted, aims, squared, entering, block, size, x, w, scored, scores, totals
    )
    if size > 0:
        best[:] = -np.sort(-scored[:size])[:k]
    is_open = relaxed - totals[0] > aims.least
    if size > 0 and is_open:
        size, decided = _decide(rows, query, wanted, aims, block, size, w, scored, scores, chosen, totals)
    if 0 < size < min(wide, count) and is_open and not decided:  # `scores` are those for w(u)
        new = _find_best(scores, block.inside, min(wide, count) - size)
        size = _take(rows, query, wanted.relevance_weight, new, block, size)
    if size > 0 and not decided:
        linear = block.linear[:size]
        swaps += _search(linear, block.gram, wanted, rules, aims, relaxed, many, x[:size], chosen, totals)
        more, size = _grow_for_swaps(
            rows, query, wanted, rules, aims, squared, entering, relaxed, block, size, scores, chosen, totals
        )
        swaps += more
    if size < 0:
        return 4, swaps, 0
    order_set(block.linear, block.places, chosen)
    totals[5] = totals[6] = _report(block, query, chosen, ids, values)
    return 2 if decided else 1, swaps, size
