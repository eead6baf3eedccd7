"""Bounds: relaxations, what they prove about rows, and diagonals."""

from __future__ import annotations

import numpy as np
from numba import float64, int64, njit, types

from breadth.kernels.compiled.products import ANY_ORDER
from breadth.kernels.compiled.signatures import GRAM, NUMBERS, PARTS, VECTOR


@njit(nogil=True, cache=True)
def _choose_receivers(slope, x, parts, load, steepest):
    """Fill in the entry of each part below 1 with the largest slope (-1: none); the best in a part with room."""
    steepest[:] = -1
    to = -1
    for i in range(len(slope)):
        if x[i] < 1.0:
            part = parts.part[i]
            if steepest[part] < 0 or slope[i] > slope[steepest[part]]:
                steepest[part] = i
            if load[part] < parts.room[part] - 1e-9 and (to < 0 or slope[i] > slope[to]):
                to = i
    return to


@njit(nogil=True, cache=True)
def _promise(gram, coupling, slope, to, away):
    """What a step from one entry to another promises, and its curvature; 0 if it does not rise."""
    if slope[away] >= slope[to]:
        return 0.0, 1.0
    rise = slope[to] - slope[away]
    own = np.float64(gram[to, to]) + np.float64(gram[away, away])
    curve = max(coupling * (own - 2.0 * np.float64(gram[to, away])), 1e-9)
    return rise * rise / curve, curve


@njit(nogil=True, cache=True)
def _choose_step(gram, coupling, slope, x, parts, load, steepest):
    """The step that promises most: to which entry, from which (-1 if none rises), and its curvature.

    Weight may go anywhere in a part with room, and inside a part that is full.
    """
    free = _choose_receivers(slope, x, parts, load, steepest)
    to, away, promised, bend = -1, -1, 0.0, 1.0
    for j in range(len(slope)):
        if x[j] <= 0.0 or parts.locked[j]:
            continue
        if free >= 0:
            promise, curve = _promise(gram, coupling, slope, free, j)
            if promise > promised:
                to, away, promised, bend = free, j, promise, curve
        within = steepest[parts.part[j]]
        if within >= 0 and within != free:
            promise, curve = _promise(gram, coupling, slope, within, j)
            if promise > promised:
                to, away, promised, bend = within, j, promise, curve
    return to, away, bend


@njit(nogil=True, cache=True)
def _choose_free_step(gram, coupling, slope, x, locked):
    """The same where all rows are in one part, which has room for all."""
    to, away, promised, bend = -1, -1, 0.0, 1.0
    for i in range(len(slope)):
        if x[i] < 1.0 and (to < 0 or slope[i] > slope[to]):
            to = i
    for j in range(len(slope)):
        if to >= 0 and x[j] > 0.0 and not locked[j]:
            promise, curve = _promise(gram, coupling, slope, to, j)
            if promise > promised:
                away, promised, bend = j, promise, curve
    return to, away, bend


@njit(nogil=True, cache=True)
def _move_weight(x, parts, load, to, away, amount):
    """Move weight between two entries, no more than there is and than there is room for; how much it was."""
    amount = min(amount, 1.0 - x[to])
    if parts.part[to] != parts.part[away]:
        amount = min(amount, parts.room[parts.part[to]] - load[parts.part[to]])
    if amount >= x[away]:
        amount = x[away]
        x[away] = 0.0
    else:
        x[away] -= amount
    x[to] += amount
    if x[to] > 1.0 - 1e-12:
        x[to] = 1.0
    load[parts.part[to]] += amount
    load[parts.part[away]] -= amount
    return amount


@njit(nogil=True, cache=True)
def _sum_largest(slope, k, locked):
    """The sum of the locked slopes and of the largest others, k in all."""
    free = np.empty(len(slope))
    total, left, count = 0.0, k, 0
    for i in range(len(slope)):
        if locked[i]:
            total += slope[i]
            left -= 1
        else:
            free[count] = slope[i]
            count += 1
    left = min(left, count)
    return total + np.partition(free[:count], count - left)[count - left :].sum() if left > 0 else total


@njit(nogil=True, cache=True)
def _largest_sum(slope, k, parts):
    """The largest sum of slopes of k rows that respect the parts."""
    if len(parts.room) == 1 and parts.room[0] > k:
        return _sum_largest(slope, k, parts.locked)
    room = parts.room.copy()
    total, left = 0.0, k
    for i in range(len(slope)):
        if parts.locked[i]:
            total += slope[i]
            room[parts.part[i]] -= 1
            left -= 1
    for i in np.argsort(-slope, kind="mergesort"):
        if left == 0:
            break
        if not parts.locked[i] and room[parts.part[i]] > 0:
            total += slope[i]
            room[parts.part[i]] -= 1
            left -= 1
    return total


@njit(nogil=True, cache=True)
def find_slopes(linear, gram, coupling, x):
    slope = linear.copy()
    for i in range(len(x)):
        if x[i] != 0.0:
            weight = coupling * x[i]
            for j in range(len(slope)):
                slope[j] -= weight * np.float64(gram[i, j])
    return slope


@njit(
    types.UniTuple(float64, 2)(VECTOR, GRAM, int64, float64, PARTS, NUMBERS, float64, float64, float64, int64),
    nogil=True,
    cache=True,
)
def relax(linear, gram, k, coupling, parts, x, base, share, least, steps):
    slope = find_slopes(linear, gram, coupling, x)
    load = np.zeros(len(parts.room))
    for i in range(len(x)):
        load[parts.part[i]] += x[i]
    steepest = np.empty(len(parts.room), dtype=np.int64)
    gap = np.inf
    value = -np.inf
    for step in range(steps + 1):
        if step % 32 == 0 or step == steps:
            along = (slope * x).sum()
            gap = _largest_sum(slope, k, parts) - along
            value = 0.5 * ((linear * x).sum() + along)
            if step == steps or gap <= max(least, share * (value - base)):
                break
        if len(parts.room) == 1 and parts.room[0] > k:
            to, away, bend = _choose_free_step(gram, coupling, slope, x, parts.locked)
        else:
            to, away, bend = _choose_step(gram, coupling, slope, x, parts, load, steepest)
        if away < 0:  # no step rises
            gap = 0.0
            value = 0.5 * ((linear * x).sum() + (slope * x).sum())
            break
        weight = coupling * _move_weight(x, parts, load, to, away, (slope[to] - slope[away]) / bend)
        for j in range(len(slope)):
            slope[j] -= weight * (np.float64(gram[to, j]) - np.float64(gram[away, j]))
    return gap, value


@njit(types.Tuple((float64, NUMBERS))(VECTOR, int64, PARTS, float64), nogil=True, cache=True)
def judge(slope, k, parts, supply):
    size = len(slope)
    room, taken = parts.room.copy(), np.zeros(size, dtype=np.bool_)
    total, left = 0.0, k
    for i in range(size):
        if parts.locked[i]:
            total += slope[i]
            taken[i] = True
            room[parts.part[i]] -= 1
            left -= 1
    weakest = np.inf
    by_part = np.full(len(room), np.inf)
    for i in np.argsort(-slope, kind="mergesort"):
        if left <= 0 or slope[i] <= supply:
            break
        if not taken[i] and room[parts.part[i]] > 0:
            total += slope[i]
            taken[i] = True
            room[parts.part[i]] -= 1
            left -= 1
            weakest = by_part[parts.part[i]] = slope[i]
    if left > 0:
        weakest = supply
        total += left * supply
    losses = np.empty(size + 1)
    for i in range(size):
        least = by_part[parts.part[i]] if room[parts.part[i]] <= 0 else weakest
        losses[i] = 0.0 if taken[i] else max(least - slope[i], 0.0)
    losses[size] = max(weakest - supply, 0.0) if supply > -np.inf else np.inf
    return total, losses


@njit(fastmath=ANY_ORDER, nogil=True, cache=True)
def _sum_line(line, scaling):
    """The sum of a line of similarities, and of their absolute values times the scaling."""
    total = scaled = 0.0
    for j in range(len(scaling)):
        number = np.float64(line[j])
        total += number
        scaled += abs(number) * scaling[j]
    return total, scaled


@njit(fastmath=ANY_ORDER, nogil=True, cache=True)
def _sum_rest(line, u, own, scaling):
    """The sum of |s_ij - u_i u_j| times the scaling, for the line of row i with u_i = `own`."""
    scaled = 0.0
    for j in range(len(scaling)):
        scaled += abs(np.float64(line[j]) - own * u[j]) * scaling[j]
    return scaled


@njit(NUMBERS(GRAM, VECTOR), nogil=True, cache=True)
def dominate(gram, weights):
    size = len(weights)
    scaling = np.sqrt(weights)
    plain, flat, sums = np.empty(size), np.empty(size), np.empty(size)
    total = 0.0
    for i in range(size):
        row, scaled = _sum_line(gram[i], scaling)
        own = np.float64(gram[i, i])
        plain[i] = own - (scaled - own * scaling[i]) / scaling[i]
        sums[i] = row - own
        total += sums[i]
    if total <= 0.0:
        return plain
    u = sums * np.sqrt(size / ((size - 1) * total))
    for i in range(size):
        own = np.float64(gram[i, i]) - u[i] * u[i]
        scaled = _sum_rest(gram[i], u, u[i], scaling) - abs(own) * scaling[i]
        flat[i] = own - scaled / scaling[i]
    return flat if (weights * flat).sum() > (weights * plain).sum() else plain
