"""The loops of `breadth.certified` on a Gram matrix: the relaxation, greedy, swaps and tabu search.

`gram` may be larger than the problem: the rows and columns up to len(linear) count. A score is
linear_i - a · Σ_{j in set} gram_ij, as in `breadth.certified.block`.
"""

from __future__ import annotations

import numpy as np
from numba import float32, float64, int64, njit, types

_matrix = types.Array(float32, 2, "C", readonly=True)
_vector = types.Array(float64, 1, "C", readonly=True)
_positions = types.Array(int64, 1, "C")


@njit(float64(_vector, _matrix, int64, float64, types.Array(float64, 1, "C"), float64, int64), nogil=True, cache=True)
def relax(linear, gram, k, a, x, tolerance, steps):
    """Move x, in place, to a duality gap of at most `tolerance`, by steps between pairs; the gap it ends with.

    max linear'x - a/2 x'Hx over 0 ≤ x ≤ 1, 1'x = k. A step takes from one entry and gives to another, exactly as much
    as is best: the receiving entry has the largest slope, the giving one promises most.
    """
    size = len(linear)
    slope = linear.copy()
    for i in range(size):
        if x[i] != 0.0:
            for j in range(size):
                slope[j] -= a * x[i] * gram[i, j]
    gap = np.inf
    for step in range(steps):
        if step % 32 == 0:
            gap = np.partition(slope, size - k)[size - k :].sum() - (slope * x).sum()
            if gap <= tolerance:
                break
        to = -1
        steepest = -np.inf
        for i in range(size):
            if x[i] < 1.0 and slope[i] > steepest:
                to, steepest = i, slope[i]
        away = -1
        promised = 0.0
        for j in range(size):
            if x[j] > 0.0 and slope[j] < steepest:
                rise = steepest - slope[j]
                bend = max(a * (gram[to, to] + gram[j, j] - 2.0 * gram[to, j]), 1e-9)
                if rise * rise > promised * bend:
                    away, promised = j, rise * rise / bend
        if away < 0:
            gap = 0.0
            break
        bend = max(a * (gram[to, to] + gram[away, away] - 2.0 * gram[to, away]), 1e-9)
        amount = (steepest - slope[away]) / bend
        if amount >= 1.0 - x[to]:
            amount = 1.0 - x[to]
        if amount >= x[away]:
            amount = x[away]
            x[to] += amount
            x[away] = 0.0
        else:
            x[to] += amount
            x[away] -= amount
        if x[to] > 1.0 - 1e-12:
            x[to] = 1.0
        for j in range(size):
            slope[j] -= a * amount * (gram[to, j] - gram[away, j])
    return gap


@njit(types.void(_vector, _matrix, float64, int64, _positions), nogil=True, cache=True)
def greedy(linear, gram, a, first, picks):
    """Fill `picks`: each time the row with the best score for what is taken so far."""
    gains = linear.copy()
    pick = first
    for size in range(len(picks)):
        picks[size] = pick
        gains[pick] = -np.inf
        following = 0
        for i in range(len(gains)):
            gains[i] -= a * gram[pick, i]
            if gains[i] > gains[following]:
                following = i
        pick = following


@njit(nogil=True, cache=True)
def _scores(linear, gram, a, chosen):
    scores = linear.copy()
    for j in chosen:
        for i in range(len(scores)):
            scores[i] -= a * gram[j, i]
    return scores


@njit(nogil=True, cache=True)
def _exchange(gram, a, scores, new, old):
    for i in range(len(scores)):
        scores[i] += a * (gram[old, i] - gram[new, i])


@njit(int64(_vector, _matrix, float64, _positions, float64, int64), nogil=True, cache=True)
def swaps(linear, gram, a, chosen, least_gain, most):
    """Exchange one row for another, in place, as long as it gains, best exchange first; how many there were."""
    size, k = len(linear), len(chosen)
    scores = _scores(linear, gram, a, chosen)
    inside = np.zeros(size, dtype=np.bool_)
    inside[chosen] = True
    longest = 0.0
    for i in range(size):
        longest = max(longest, gram[i, i])
    longest = np.sqrt(longest)
    floors = np.empty(k)
    for done in range(most):
        lowest = np.inf
        for c in range(k):
            own = gram[chosen[c], chosen[c]]
            floors[c] = scores[chosen[c]] + a * own
            lowest = min(lowest, floors[c] - a * np.sqrt(own) * longest)
        gain, new, column = least_gain, -1, -1
        for i in range(size):
            if inside[i] or scores[i] - lowest <= gain:
                continue
            for c in range(k):
                value = scores[i] + a * gram[i, chosen[c]] - floors[c]
                if value > gain:
                    gain, new, column = value, i, c
        if new < 0:
            return done
        old = chosen[column]
        _exchange(gram, a, scores, new, old)
        chosen[column] = new
        inside[new], inside[old] = True, False
    return most


@njit(types.void(_vector, _matrix, float64, _positions, int64, float64), nogil=True, cache=True)
def tabu(linear, gram, a, chosen, iterations, least_gain):
    """The best exchange every time, gaining or not, with rows kept from moving back at once; `chosen` becomes the best
    set met."""
    size, k = len(linear), len(chosen)
    inside_for, outside_for = 1 + min(k // 2, 5), 8
    free_at = np.zeros(size, dtype=np.int64)
    current = chosen.copy()
    scores = _scores(linear, gram, a, current)
    inside = np.zeros(size, dtype=np.bool_)
    inside[current] = True
    floors = np.empty(k)
    total = best_total = 0.0
    longest = 0.0
    for i in range(size):
        longest = max(longest, gram[i, i])
    longest = np.sqrt(longest)
    for now in range(1, iterations + 1):
        lowest = np.inf
        for c in range(k):
            own = gram[current[c], current[c]]
            floors[c] = scores[current[c]] + a * own
            lowest = min(lowest, floors[c] - a * np.sqrt(own) * longest)
        gain, new, column = -np.inf, -1, -1
        for i in range(size):
            if inside[i] or scores[i] - lowest <= gain:
                continue
            held = free_at[i] > now
            for c in range(k):
                value = scores[i] + a * gram[i, current[c]] - floors[c]
                if value > gain:
                    # A row that is held may move all the same if that gives the best set so far.
                    if (held or free_at[current[c]] > now) and total + value <= best_total + least_gain:
                        continue
                    gain, new, column = value, i, c
        if new < 0:
            continue
        old = current[column]
        total += gain
        _exchange(gram, a, scores, new, old)
        current[column] = new
        inside[new], inside[old] = True, False
        free_at[old], free_at[new] = now + outside_for, now + inside_for
        if total > best_total + least_gain:
            best_total = total
            chosen[:] = current


@njit(fastmath=True, nogil=True, cache=True)
def _dot(one, other):
    total = np.float32(0.0)
    for j in range(len(one)):
        total += one[j] * other[j]
    return total


@njit(fastmath=True, nogil=True, cache=True)
def _products(rows, positions, old, new, gram):
    """Extend the Gram matrix of rows[positions] from `old` to `new` rows: four inner products for every number read."""
    dim = rows.shape[1]
    for r in range(old, new):
        first = rows[positions[r]]
        c = 0
        while c + 4 <= r + 1:
            e0, e1, e2, e3 = rows[positions[c]], rows[positions[c + 1]], rows[positions[c + 2]], rows[positions[c + 3]]
            t0 = t1 = t2 = t3 = np.float32(0.0)
            for j in range(dim):
                number = first[j]
                t0 += number * e0[j]
                t1 += number * e1[j]
                t2 += number * e2[j]
                t3 += number * e3[j]
            gram[r, c], gram[r, c + 1], gram[r, c + 2], gram[r, c + 3] = t0, t1, t2, t3
            gram[c, r], gram[c + 1, r], gram[c + 2, r], gram[c + 3, r] = t0, t1, t2, t3
            c += 4
        while c <= r:
            gram[r, c] = gram[c, r] = _dot(first, rows[positions[c]])
            c += 1


@njit(fastmath=True, nogil=True, cache=True)
def _scores_of(rows, linear, a, v, which, out):
    """The scores of some rows of the reserve for a sum v of rows, in their places."""
    for i in which:
        out[i] = linear[i] - a * _dot(rows[i], v)


@njit(fastmath=True, nogil=True, cache=True)
def _sum_of(rows, positions, weights):
    total = np.zeros(rows.shape[1], dtype=np.float32)
    for c in range(len(weights)):
        if weights[c] != 0.0:
            weight, row = np.float32(weights[c]), rows[positions[c]]
            for j in range(len(total)):
                total[j] += weight * row[j]
    return total


@njit(nogil=True, cache=True)
def _value(linear, gram, a, chosen):
    total = 0.0
    for c in range(len(chosen)):
        i = chosen[c]
        total += linear[i]
        for b in range(c):
            total -= a * gram[i, chosen[b]]
    return total


@njit(nogil=True, cache=True)
def _enter(rows, positions, gram, x, inside, entering):
    """Take rows of the reserve into the block; positions, Gram matrix and x, longer by these."""
    old, new = len(positions), len(positions) + len(entering)
    longer = np.empty(new, dtype=np.int64)
    longer[:old] = positions
    longer[old:] = entering
    inside[entering] = True
    if new > len(gram):
        room = max(new, 2 * len(gram))
        larger = np.empty((room, room), dtype=np.float32)
        larger[:old, :old] = gram[:old, :old]
        gram = larger
    _products(rows, longer, old, new, gram)
    weights = np.zeros(new)
    weights[:old] = x
    return longer, gram, weights


@njit(nogil=True, cache=True)
def _leading(scores, candidates, count):
    """The `count` of these candidates with the best scores; of equal ones the first."""
    if len(candidates) <= count:
        return candidates
    merits = scores[candidates]
    least = np.partition(merits, len(merits) - count)[len(merits) - count]
    above = candidates[merits > least]
    tied = candidates[merits == least][: count - len(above)]
    return np.concatenate((above, tied))


@njit(nogil=True, cache=True)
def _try(linear, gram, a, start, chosen, value, least_gain):
    """Swap local search from a set; `chosen` becomes what it finds, if that is better. Value and number of swaps."""
    done = swaps(linear, gram, a, start, least_gain, 10_000)
    found = _value(linear, gram, a, start)
    if found > value:
        chosen[:] = start
        return found, done
    return value, done


@njit(nogil=True, cache=True)
def _gaining(rows, linear, a, positions, gram, chosen, scores, inside, least_gain, longest, most):
    """Rows outside the block that gain by a swap with some member: those that gain most."""
    k = len(chosen)
    floors = np.empty(k)
    lowest = np.inf
    for c in range(k):
        own = gram[chosen[c], chosen[c]]
        floors[c] = scores[positions[chosen[c]]] + a * own
        lowest = min(lowest, floors[c] - a * np.sqrt(own * longest))
    found = np.empty(len(scores), dtype=np.int64)
    gains = np.empty(len(scores))
    count = 0
    for i in range(len(scores)):
        if inside[i] or scores[i] - lowest <= least_gain:
            continue
        best = -np.inf
        for c in range(k):
            if scores[i] + a * np.sqrt(gram[chosen[c], chosen[c]] * longest) - floors[c] > max(best, least_gain):
                best = max(best, scores[i] + a * _dot(rows[i], rows[positions[chosen[c]]]) - floors[c])
        if best > least_gain:
            found[count], gains[count] = i, best
            count += 1
    if count > most:
        return found[:count][np.argsort(-gains[:count])[:most]]
    return found[:count]


@njit(nogil=True, cache=True)
def _relaxed_value(block, gram, a, x):
    """What the relaxation is worth at x; for a set that is F."""
    total = 0.0
    for i in range(len(block)):
        if x[i] != 0.0:
            total += block[i] * x[i] + 0.5 * a * x[i]
            inner = 0.0
            for j in range(len(block)):
                inner += gram[i, j] * x[j]
            total -= 0.5 * a * x[i] * inner
    return total


@njit(nogil=True, cache=True)
def _greedy_rows(rows, linear, a, k, which):
    """Greedy over some rows in memory: positions of those it takes."""
    gains = linear[which]
    picks = np.empty(k, dtype=np.int64)
    for size in range(k):
        place = np.argmax(gains)
        pick = which[place]
        picks[size] = pick
        gains[place] = -np.inf
        for c in range(len(which)):
            gains[c] -= a * _dot(rows[which[c]], rows[pick])
    return picks


_settle_types = (
    _matrix,
    _vector,
    int64,
    float64,
    _positions,
    types.Array(float32, 2, "C"),
    types.Array(float64, 1, "C"),
    _positions,
    types.Array(types.boolean, 1, "C"),
    types.Array(int64, 1, "C", readonly=True),
    float64,
    int64,
    float64,
    float64,
    float64,
    types.boolean,
)


@njit(_settle_types, nogil=True, cache=True)
def settle(
    rows, linear, k, a, positions, gram, x, chosen, inside, entering, longest, starts, rate, least_gain, scale, lightly
):
    """The best set and the best x on all rows in memory: `breadth.certified.workbench` in one go.

    `positions`: rows of the reserve that are in the block; `chosen` and x are about the block. `entering`: rows that
    enter it first. `starts`: first rows for greedy, 0 if it has been run on these. `rate`: tabu iterations for a gap
    of (1-θ)/(k-1). Returns what has changed, and the number of swaps.
    """
    if len(entering):
        positions, gram, x = _enter(rows, positions, gram, x, inside, entering)
    scores = np.empty(len(linear))
    done = 0
    unit = 0.5 * a * k  # (1-θ)/(k-1), on the scale of F
    block = linear[positions]
    if len(chosen) == 0:
        chosen = np.empty(k, dtype=np.int64)
        greedy(block, gram, a, np.argmax(block), chosen)
        done += swaps(block, gram, a, chosen, least_gain, 10_000)
        x[chosen] = 1.0
    value = _value(block, gram, a, chosen)
    share = 0.1
    everyone = np.arange(len(linear))
    watched = everyone  # all rows are priced; then, until none of them enters, only those that came close
    for _ in range(60 if starts else 0):  # on the same rows x is as good as it gets
        wanted = share * (_relaxed_value(block, gram, a, x) - value)
        relax(block, gram, k, a, x, max(1e-6 * scale, wanted), 20_000)
        u = _sum_of(rows, positions, x)
        _scores_of(rows, linear, a, u, positions, scores)
        inner = scores[positions]
        threshold = np.partition(inner, len(inner) - k)[len(inner) - k]
        _scores_of(rows, linear, a, u, watched, scores)
        outside = watched[~inside[watched]]
        entering = outside[scores[outside] > threshold]
        if len(entering) == 0 and len(watched) < len(everyone):
            watched = everyone
            continue
        if len(entering) == 0:
            if share < 0.1 or lightly:
                break
            share = 0.003
            continue
        if len(watched) == len(everyone):
            watched = _leading(scores, outside, 128 + 8 * k)
        positions, gram, x = _enter(rows, positions, gram, x, inside, _leading(scores, entering, 32 + k // 2))
        block = linear[positions]
    order = np.argsort(-x)
    value, more = _try(block, gram, a, order[:k].copy(), chosen, value, least_gain)
    done += more
    picks = np.empty(k, dtype=np.int64)
    by_relevance = np.argsort(-block)
    for s in range(starts):
        # Half of the first rows are the most relevant ones, half are spread over the block.
        first = by_relevance[s // 2 if s % 4 < 2 else (len(block) - 1) * s // starts]
        greedy(block * (1.0 if s % 2 == 0 else 0.5), gram, a, first, picks)
        value, more = _try(block, gram, a, picks.copy(), chosen, value, least_gain)
        done += more
    if not lightly and starts and _relaxed_value(block, gram, a, x) - value > 0.05 * unit:
        # Much is left open: greedy, with all and with half of the relevance, over some thousand rows.
        near = _leading(scores, everyone, max(4096, 2 * k))
        for weight in (1.0, 0.5):
            taken = _greedy_rows(rows, linear * weight, a, k, near)
            outside = taken[~inside[taken]]
            if len(outside):
                positions, gram, x = _enter(rows, positions, gram, x, inside, outside)
                block = linear[positions]
            start = np.empty(k, dtype=np.int64)
            for c in range(k):
                start[c] = np.flatnonzero(positions == taken[c])[0]
            value, more = _try(block, gram, a, start, chosen, value, least_gain)
            done += more
    # The set itself may be from before the block grew.
    value, more = _try(block, gram, a, chosen.copy(), chosen, value, least_gain)
    done += more
    for _ in range(1000):
        if not lightly:
            loose = (_relaxed_value(block, gram, a, x) - value) / unit
            effort = min(int(rate * loose), int(rate))
            if effort > 0:
                trial = chosen.copy()
                tabu(block, gram, a, trial, effort, least_gain)
                value, more = _try(block, gram, a, trial, chosen, value, least_gain)
                done += more
        weights = np.zeros(len(positions))
        weights[chosen] = 1.0
        _scores_of(rows, linear, a, _sum_of(rows, positions, weights), everyone, scores)
        entering = _gaining(rows, linear, a, positions, gram, chosen, scores, inside, least_gain, longest, 32 + k // 2)
        if len(entering) == 0:
            break
        positions, gram, x = _enter(rows, positions, gram, x, inside, entering)
        block = linear[positions]
        value, more = _try(block, gram, a, chosen.copy(), chosen, value, least_gain)
        done += more
    return positions, gram, x, chosen, done
