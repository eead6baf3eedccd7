"""The best of all sets of a few rows, by going through those that can be better."""

from __future__ import annotations

import numpy as np
from numba import njit

from breadth.kernels.compiled.products import NO_NAN


@njit(nogil=True, cache=True)
def _sum_smallest(pairs, k, out):
    """Fill out[m, i]: the sum of the m smallest similarities of row i to others, for m < k."""
    smallest = np.empty(k)
    for i in range(len(pairs)):
        smallest[:] = np.inf
        for j in range(len(pairs)):
            if j != i and pairs[i, j] < smallest[k - 2]:
                place = k - 2
                while place > 0 and smallest[place - 1] > pairs[i, j]:
                    smallest[place] = smallest[place - 1]
                    place -= 1
                smallest[place] = pairs[i, j]
        out[0, i] = 0.0
        for m in range(1, k):
            out[m, i] = out[m - 1, i] + smallest[m - 1]


@njit(nogil=True, cache=True)
def _find_next(worth, start, m, need, best):
    """The first row from `start` on that can be one of m whose sum is more than needed; -1 if there is none.

    `best` is room for m numbers.
    """
    best[:m] = -np.inf
    for i in range(start, len(worth)):
        if worth[i] > best[m - 1]:
            place = m - 1
            while place > 0 and best[place - 1] < worth[i]:
                best[place] = best[place - 1]
                place -= 1
            best[place] = worth[i]
    others = 0.0
    for place in range(m - 1):
        others += best[place]
    if others + best[m - 1] <= need:
        return -1
    row = start
    while row < len(worth) and worth[row] + others <= need:
        row += 1
    return row if row < len(worth) else -1


@njit(fastmath=NO_NAN, nogil=True, cache=True)
def _find_last(merits, start):
    """The row from `start` on with the largest marginal value."""
    most = -np.inf
    for i in range(start, len(merits)):
        most = merits[i] if merits[i] > most else most
    row = start
    while merits[row] != most:
        row += 1
    return row


@njit(nogil=True, cache=True)
def exhaust(linear, pairs, k, coupling, chosen, value, least, most):
    """Look for a set that is worth more than `value` by more than `least`; `chosen` becomes the best one, if any.

    Sets are built row by row, each row behind the ones before. A row that joins m others behind a partial set, none of
    which is known yet, costs at least half of the coupling times the sum of its m smallest similarities: so much is
    taken off its marginal value, and no completion is worth more than the best of these sums. `linear` should fall.

    Returns what the best set is worth, and whether all sets were decided on within `most` looks at a row.
    """
    size = len(linear)
    smallest, merits, worth = np.empty((k, size)), np.empty((k, size)), np.empty((k, size))
    _sum_smallest(pairs, k, smallest)
    merits[0] = linear
    values, following, path, best = np.zeros(k), np.zeros(k, dtype=np.int64), np.empty(k, np.int64), np.empty(k)
    depth, entered, looks = 0, True, 0
    while depth >= 0:
        m, start, row = k - depth, following[depth], -1
        looks += size - start
        if looks > most:
            return value, False
        if m == 1 and start < size:
            path[depth] = _find_last(merits[depth], start)
            found = values[depth] + merits[depth, path[depth]]
            if found > value + least:
                value = found
                chosen[:] = path
        elif size - start >= m:
            if entered:
                for i in range(start, size):
                    worth[depth, i] = merits[depth, i] - 0.5 * coupling * smallest[m - 1, i]
            row = _find_next(worth[depth], start, m, value + least - values[depth], best)
        entered = row >= 0
        if not entered:
            depth -= 1
            continue
        path[depth], following[depth], following[depth + 1] = row, row + 1, row + 1
        values[depth + 1] = values[depth] + merits[depth, row]
        for j in range(row + 1, size):
            merits[depth + 1, j] = merits[depth, j] - coupling * pairs[row, j]
        depth += 1
    return value, True
