"""The kernels as compiled loops (the extra `fast`). `breadth.kernels` says what each of them promises.

Types are fixed, so nothing is ever compiled inside a query. Sums that decide something are taken in float64, so that
these loops and `breadth.kernels.numpy` decide alike. All loops use one thread and release the GIL.
"""

from __future__ import annotations

import os

import numpy as np
from numba import boolean, float32, float64, int8, int64, njit, types, uint8, void

from breadth import feasible, problem
from breadth.kernels import numpy as plain
from breadth.kernels import vnni
from breadth.kernels.contract import MOST_STEPS, ROUNDING, STEPS, UNDECIDED, Aims

NAME = "numba"
STEPS_AT_ONCE = 1 << 21
"""Elementary steps that one call may take: a few milliseconds."""

SPREADS = True
CODED = vnni.TOGETHER
gather = vnni.gather if CODED else plain.gather
MOST_SWAPS = 10_000
"""Swaps from one start, at the most: there is no known case that takes more than a few hundred."""

_NEVER = 1 << 62
"""A turn at which every row is free."""
_DENSE = 6
"""Looking at all rows side by side takes as long as looking at one in so many by itself."""

_gram = types.Array(float32, 2, "C", readonly=True)
_vector = types.Array(float64, 1, "C", readonly=True)
_row = types.Array(float32, 1, "C", readonly=True)
_numbers = types.Array(float64, 1, "C")
_places = types.Array(int64, 1, "C")

_marginal = njit(inline="always")(problem.marginal)
_floor = njit(inline="always")(problem.floor)
_exchange_gain = njit(inline="always")(problem.exchange_gain)
_may_add = njit(inline="always")(feasible.may_add)
_may_exchange = njit(inline="always")(feasible.may_exchange)

_mask = types.Array(boolean, 1, "C")
_rules = types.NamedTuple(
    (boolean, types.Array(uint8, 2, "C"), _places, _places, _mask, _numbers, float64), feasible.Rules
)
_parts = types.NamedTuple((_places, _places, _mask), feasible.Parts)
_Parts = feasible.Parts
_aims = types.NamedTuple((int64, float64, float64, int64, int64, float64, float64, float64, float64), Aims)


@njit(void(types.Array(float64, 2, "C", readonly=True), _vector, _numbers), fastmath=True, nogil=True, cache=True)
def _inner(rows, direction, out):
    for i in range(rows.shape[0]):
        total = 0.0
        for j in range(rows.shape[1]):
            total += rows[i, j] * direction[j]
        out[i] = total


@njit(
    [
        void(types.Array(kind, 2, "C", readonly=True), types.Array(int64, 1, "C", readonly=True), _vector, _numbers)
        for kind in (float32, float64)
    ],
    fastmath=True,
    nogil=True,
    cache=True,
)
def _inner_at(rows, where, direction, out):
    for i in range(len(where)):
        row = rows[where[i]]
        total = 0.0
        for j in range(len(row)):
            total += np.float64(row[j]) * direction[j]
        out[i] = total


def inner_at(rows, where, direction):
    out = np.empty(len(where))
    _inner_at(rows, where, direction, out)
    return out


@njit(_numbers(_vector, types.Array(float64, 2, "C", readonly=True)), nogil=True, cache=True)
def combine(weights, rows):
    total = np.zeros(rows.shape[1])
    for i in range(len(weights)):
        if weights[i] != 0.0:
            for j in range(rows.shape[1]):
                total[j] += weights[i] * rows[i, j]
    return total


def inner(rows, direction):
    out = np.empty(len(rows))
    _inner(rows, direction, out)
    return out


@njit(
    void(types.Array(float64, 2, "C", readonly=True), int64, types.Array(float32, 2, "C")),
    fastmath=True,
    nogil=True,
    cache=True,
)
def fill_gram(rows, old, gram):
    """Three rows with three others at a time: every number that is loaded is used three times."""
    count, dim = rows.shape
    r = old
    while r < count:
        height = min(3, count - r)
        c = 0
        while height == 3 and c + 3 <= r:
            t00 = t01 = t02 = t10 = t11 = t12 = t20 = t21 = t22 = 0.0
            for j in range(dim):
                a0, a1, a2 = rows[r, j], rows[r + 1, j], rows[r + 2, j]
                b0, b1, b2 = rows[c, j], rows[c + 1, j], rows[c + 2, j]
                t00 += a0 * b0
                t01 += a0 * b1
                t02 += a0 * b2
                t10 += a1 * b0
                t11 += a1 * b1
                t12 += a1 * b2
                t20 += a2 * b0
                t21 += a2 * b1
                t22 += a2 * b2
            gram[r, c], gram[r, c + 1], gram[r, c + 2] = t00, t01, t02
            gram[r + 1, c], gram[r + 1, c + 1], gram[r + 1, c + 2] = t10, t11, t12
            gram[r + 2, c], gram[r + 2, c + 1], gram[r + 2, c + 2] = t20, t21, t22
            c += 3
        for i in range(r, r + height):
            for m in range(c, i + 1):
                total = 0.0
                for j in range(dim):
                    total += rows[i, j] * rows[m, j]
                gram[i, m] = total
        for i in range(r, r + height):
            for m in range(i + 1):
                gram[m, i] = gram[i, m]
        r += height


@njit(nogil=True, cache=True)
def _tally(rules, chosen, clashes, counts):
    """Fill how many members each row may not stand beside and how many are of each group; what the set costs."""
    spent = 0.0
    for j in chosen:
        _join(rules, clashes, counts, j, 1)
        spent += rules.cost[j]
    return spent


@njit(nogil=True, cache=True)
def _join(rules, clashes, counts, row, sign):
    """Take note of a row that joins the set (`sign` 1) or leaves it (-1)."""
    for i in range(len(clashes)):
        clashes[i] += sign * np.int64(rules.apart[row, i])
    counts[rules.group[row]] += sign


@njit(nogil=True, cache=True)
def _replace(rules, clashes, counts, new, old):
    """Take note of an exchange; what it costs."""
    if rules.free:
        return 0.0
    _join(rules, clashes, counts, old, -1)
    _join(rules, clashes, counts, new, 1)
    return rules.cost[new] - rules.cost[old]


@njit(nogil=True, cache=True)
def _is_addable(rules, clashes, counts, spent, row):
    group = rules.group[row]
    return _may_add(clashes[row], counts[group], rules.room[group], spent + rules.cost[row], rules.budget)


@njit(nogil=True, cache=True)
def _is_exchangeable(rules, clashes, counts, spent, row, member):
    group = rules.group[row]
    cost = spent - rules.cost[member] + rules.cost[row]
    return _may_exchange(
        rules.locked[member],
        clashes[row],
        np.int64(rules.apart[row, member]),
        group == rules.group[member],
        counts[group],
        rules.room[group],
        cost,
        rules.budget,
    )


@njit(int64(_vector, _gram, float64, _rules, _places, int64), nogil=True, cache=True)
def greedy(linear, gram, coupling, rules, picks, given):
    merits = linear.copy()
    clashes, counts = np.zeros(len(rules.group), dtype=np.int64), np.zeros(len(rules.room), dtype=np.int64)
    spent = 0.0
    for size in range(len(picks)):
        if size >= given:
            following = -1
            most = -np.inf
            for i in range(len(merits)):
                if merits[i] > most and (rules.free or _is_addable(rules, clashes, counts, spent, i)):
                    following, most = i, merits[i]
            if following < 0:
                return size
            picks[size] = following
        pick = picks[size]
        merits[pick] = -np.inf
        for i in range(len(merits)):
            merits[i] = _marginal(merits[i], np.float64(gram[pick, i]), coupling)
        if not rules.free:
            _join(rules, clashes, counts, pick, 1)
            spent += rules.cost[pick]
    return len(picks)


@njit(_numbers(_vector, _gram, float64, types.Array(int64, 1, "C", readonly=True)), nogil=True, cache=True)
def marginals(linear, gram, coupling, chosen):
    out = linear.copy()
    for j in chosen:
        for i in range(len(out)):
            out[i] = _marginal(out[i], np.float64(gram[j, i]), coupling)
    return out


@njit(float64(_vector, _gram, float64, types.Array(int64, 1, "C", readonly=True)), nogil=True, cache=True)
def set_value(linear, gram, coupling, chosen):
    total = 0.0
    for c in range(len(chosen)):
        similarity = 0.0
        for b in range(c):
            similarity += np.float64(gram[chosen[c], chosen[b]])
        total += _marginal(linear[chosen[c]], similarity, coupling)
    return total


@njit(nogil=True, cache=True)
def _max_norm(gram, size):
    """The largest length of a row."""
    squared = np.float64(0.0)
    for i in range(size):
        squared = max(squared, np.float64(gram[i, i]))
    return np.sqrt(squared)


@njit(nogil=True, cache=True)
def _set_floors(gram, coupling, merits, members, max_norm, floors):
    """Fill the floors of the members; the marginal value up to which no row can gain by replacing any of them."""
    lowest = np.inf
    for c in range(len(members)):
        own = np.float64(gram[members[c], members[c]])
        floors[c] = _floor(merits[members[c]], own, coupling)
        lowest = min(lowest, floors[c] - coupling * np.sqrt(own) * max_norm)
    return lowest


@njit(nogil=True, cache=True)
def _exchange(gram, coupling, merits, new, old):
    for i in range(len(merits)):
        merits[i] += coupling * (np.float64(gram[old, i]) - np.float64(gram[new, i]))


@njit(nogil=True, cache=True)
def _choose_member(gram, coupling, merits, members, floors, row, turn, free_at):
    """What F gains at the most when a row replaces a member that is free at this turn, and which member that is."""
    gain, column = -np.inf, -1
    for c in range(len(members)):
        if free_at[members[c]] <= turn:
            value = _exchange_gain(merits[row], np.float64(gram[row, members[c]]), floors[c], coupling)
            if value > gain:
                gain, column = value, c
    return gain, column


@njit(nogil=True, cache=True)
def _choose_from_all(gram, coupling, merits, members, floors, inside, turn, free_at, gains):
    """The row that gains most, from the gains of all rows, member by member: rows lie side by side in memory."""
    gains[:] = -np.inf
    for c in range(len(members)):
        if free_at[members[c]] <= turn:
            line = gram[members[c]]
            for i in range(len(gains)):
                value = _exchange_gain(merits[i], np.float64(line[i]), floors[c], coupling)
                gains[i] = value if value > gains[i] else gains[i]
    new = -1
    for i in range(len(gains)):
        if not inside[i] and free_at[i] <= turn and (new < 0 or gains[i] > gains[new]):
            new = i
    return new


@njit(nogil=True, cache=True)
def _choose_exchange(gram, coupling, merits, members, floors, lowest, inside, turn, free_at, gains):
    """The exchange that gains most where any set is allowed: the gain, the row (-1: none), and which member.

    A row cannot gain more than its marginal value less `lowest`. Where that excludes most rows, only the others are
    looked at.
    """
    leader = -1
    for i in range(len(merits)):
        if not inside[i] and free_at[i] <= turn and (leader < 0 or merits[i] > merits[leader]):
            leader = i
    if leader < 0:
        return -np.inf, -1, -1
    bar, _ = _choose_member(gram, coupling, merits, members, floors, leader, turn, free_at)
    count = 0
    for i in range(len(merits)):
        count += merits[i] - lowest >= bar
    if _DENSE * count > len(merits):
        new = _choose_from_all(gram, coupling, merits, members, floors, inside, turn, free_at, gains)
        gain, column = _choose_member(gram, coupling, merits, members, floors, new, turn, free_at)
        return gain, new if column >= 0 else -1, column
    gain, new, column = -np.inf, -1, -1
    for i in range(len(merits)):
        if merits[i] - lowest >= bar and not inside[i] and free_at[i] <= turn:
            value, member = _choose_member(gram, coupling, merits, members, floors, i, turn, free_at)
            if value > gain:
                gain, new, column = value, i, member
    return gain, new, column


@njit(nogil=True, cache=True)
def _choose_allowed(
    gram, coupling, rules, clashes, counts, spent, merits, members, floors, lowest, inside, turn, free_at, least, better
):
    """The exchange that gains most, and more than `least`, under rules: the gain, the row (-1: none), which member.

    Rows that are not free at this turn may move all the same if the gain is more than `better`.
    """
    gain, new, column = least, -1, -1
    for i in range(len(merits)):
        if inside[i] or merits[i] - lowest <= gain:
            continue
        for c in range(len(members)):
            value = _exchange_gain(merits[i], np.float64(gram[i, members[c]]), floors[c], coupling)
            held = free_at[i] > turn or free_at[members[c]] > turn
            if value <= gain or (held and value <= better):
                continue
            if _is_exchangeable(rules, clashes, counts, spent, i, members[c]):
                gain, new, column = value, i, c
    return gain, new, column


@njit(int64(_vector, _gram, float64, _rules, _places, float64, int64), nogil=True, cache=True)
def swap(linear, gram, coupling, rules, chosen, least_gain, most):
    size = len(linear)
    clashes, counts = np.zeros(len(rules.group), dtype=np.int64), np.zeros(len(rules.room), dtype=np.int64)
    spent = 0.0 if rules.free else _tally(rules, chosen, clashes, counts)
    merits = marginals(linear, gram, coupling, chosen)
    inside = np.zeros(size, dtype=np.bool_)
    inside[chosen] = True
    max_norm = _max_norm(gram, size)
    floors, gains, free_at = np.empty(len(chosen)), np.empty(size), np.zeros(size, dtype=np.int64)
    for done in range(most):
        lowest = _set_floors(gram, coupling, merits, chosen, max_norm, floors)
        if rules.free:
            gain, new, column = _choose_exchange(
                gram, coupling, merits, chosen, floors, lowest, inside, 0, free_at, gains
            )
        else:
            gain, new, column = _choose_allowed(
                gram, coupling, rules, clashes, counts, spent, merits, chosen, floors, lowest, inside, 0, free_at,
                least_gain, np.inf,
            )  # fmt: skip
        if new < 0 or gain <= least_gain:
            return done
        old = chosen[column]
        _exchange(gram, coupling, merits, new, old)
        spent += _replace(rules, clashes, counts, new, old)
        chosen[column] = new
        inside[new], inside[old] = True, False
    return most


@njit(
    int64(
        _vector, _gram, float64, _rules, _places, types.Array(float64, 2, "C", readonly=True), _vector, _places, float64
    ),
    nogil=True,
    cache=True,
)
def try_starts(linear, gram, coupling, rules, given, merits, couplings, chosen, least_gain):
    most, swaps = set_value(linear, gram, coupling, chosen), 0
    picks = np.empty(len(chosen), dtype=np.int64)
    for start in range(len(couplings)):
        picks[: len(given)] = given
        if greedy(merits[start], gram, couplings[start], rules, picks, len(given)) < len(picks):
            continue
        swaps += swap(linear, gram, coupling, rules, picks, least_gain, MOST_SWAPS)
        value = set_value(linear, gram, coupling, picks)
        if value > most:
            most = value
            chosen[:] = picks
    return swaps


@njit(
    void(_vector, _gram, float64, _rules, _places, _places, _numbers, _places, _numbers, int64, int64, float64),
    nogil=True,
    cache=True,
)
def tabu(linear, gram, coupling, rules, chosen, current, merits, free_at, totals, now, iterations, least_gain):
    size, k = len(linear), len(chosen)
    clashes, counts = np.zeros(len(rules.group), dtype=np.int64), np.zeros(len(rules.room), dtype=np.int64)
    spent = 0.0 if rules.free else _tally(rules, current, clashes, counts)
    inside_for, outside_for = 1 + min(k // 2, 5), 8
    inside = np.zeros(size, dtype=np.bool_)
    inside[current] = True
    max_norm = _max_norm(gram, size)
    floors, gains = np.empty(k), np.empty(size)
    for turn in range(now, now + iterations):
        lowest = _set_floors(gram, coupling, merits, current, max_norm, floors)
        # A row that is held may move all the same if that gives the best set so far.
        better = totals[1] + least_gain - totals[0]
        if rules.free:
            gain, new, column = _choose_exchange(
                gram, coupling, merits, current, floors, lowest, inside, _NEVER, free_at, gains
            )
            if gain <= better:
                gain, new, column = _choose_exchange(
                    gram, coupling, merits, current, floors, lowest, inside, turn, free_at, gains
                )
        else:
            gain, new, column = _choose_allowed(
                gram, coupling, rules, clashes, counts, spent, merits, current, floors, lowest, inside, turn, free_at,
                -np.inf, better,
            )  # fmt: skip
        if new < 0:
            continue
        old = current[column]
        totals[0] += gain
        _exchange(gram, coupling, merits, new, old)
        spent += _replace(rules, clashes, counts, new, old)
        current[column] = new
        inside[new], inside[old] = True, False
        free_at[old], free_at[new] = turn + outside_for, turn + inside_for
        if totals[0] > totals[1] + least_gain:
            totals[1] = totals[0]
            chosen[:] = current


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
def _largest_sum(slope, k, parts):
    """The largest sum of slopes of k rows that respect the parts."""
    if len(parts.room) == 1 and not parts.locked.any():
        return np.partition(slope, len(slope) - k)[len(slope) - k :].sum()
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
def _slopes(linear, gram, coupling, x):
    slope = linear.copy()
    for i in range(len(x)):
        if x[i] != 0.0:
            weight = coupling * x[i]
            for j in range(len(slope)):
                slope[j] -= weight * np.float64(gram[i, j])
    return slope


@njit(
    types.UniTuple(float64, 2)(_vector, _gram, int64, float64, _parts, _numbers, float64, float64, float64, int64),
    nogil=True,
    cache=True,
)
def relax(linear, gram, k, coupling, parts, x, base, share, least, steps):
    slope = _slopes(linear, gram, coupling, x)
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
        to, away, bend = _choose_step(gram, coupling, slope, x, parts, load, steepest)
        if away < 0:  # no step rises
            gap = 0.0
            value = 0.5 * ((linear * x).sum() + (slope * x).sum())
            break
        weight = coupling * _move_weight(x, parts, load, to, away, (slope[to] - slope[away]) / bend)
        for j in range(len(slope)):
            slope[j] -= weight * (np.float64(gram[to, j]) - np.float64(gram[away, j]))
    return gap, value


@njit(types.Tuple((float64, _numbers))(_vector, int64, _parts, float64), nogil=True, cache=True)
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


@njit(_numbers(_gram, _vector), nogil=True, cache=True)
def dominate(gram, weights):
    size = len(weights)
    scaling = np.sqrt(weights)
    plain, flat, sums = np.empty(size), np.empty(size), np.empty(size)
    total = 0.0
    for i in range(size):
        row = scaled = 0.0
        for j in range(size):
            row += np.float64(gram[i, j])
            scaled += abs(np.float64(gram[i, j])) * scaling[j]
        own = np.float64(gram[i, i])
        plain[i] = own - (scaled - own * scaling[i]) / scaling[i]
        sums[i] = row - own
        total += sums[i]
    if total <= 0.0:
        return plain
    u = sums * np.sqrt(size / ((size - 1) * total))
    for i in range(size):
        scaled = 0.0
        for j in range(size):
            scaled += abs(np.float64(gram[i, j]) - u[i] * u[j]) * scaling[j]
        own = np.float64(gram[i, i])
        scaled -= abs(own - u[i] * u[i]) * scaling[i]
        flat[i] = own - u[i] * u[i] - scaled / scaling[i]
    return flat if (weights * flat).sum() > (weights * plain).sum() else plain


@njit(nogil=True, cache=True)
def _shift(gram, rules, where, weights):
    """The similarities of some rows less a dominant diagonal. Those of rows that conflict count as 0."""
    size = len(where)
    shifted = np.empty((size, size), dtype=np.float32)
    for i in range(size):
        for j in range(size):
            conflict = not rules.free and rules.apart[where[i], where[j]] != 0
            shifted[i, j] = np.float32(0.0) if conflict else gram[where[i], where[j]]
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
    slope = _slopes(own, gram, coupling, x)
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
def _offer(linear, gram, rules, coupling, least_gain, start, chosen, totals):
    """Swap from a set, which replaces `chosen` if it is then better; how many swaps."""
    swaps = swap(linear, gram, coupling, rules, start, least_gain, MOST_SWAPS)
    value = set_value(linear, gram, coupling, start)
    if value > totals[0]:
        totals[0] = value
        chosen[:] = start
    return swaps


@njit(nogil=True, cache=True)
def _search_longer(linear, gram, rules, k, coupling, locked, aims, x, chosen, totals):
    """Start from the relaxation; then tabu search, the longer the more is left open. How many swaps."""
    swaps = 0
    trial = np.empty(k, dtype=np.int64)
    trial[: len(locked)] = locked
    if greedy(x, gram, 0.0, rules, trial, len(locked)) == k:
        swaps += _offer(linear, gram, rules, coupling, aims.least_gain, trial, chosen, totals)
    iterations = int(aims.tabu * min(max(totals[1] - totals[0], 0.0) / aims.spread, 1.0) ** 0.5)
    if iterations > 0:
        trial, current = chosen.copy(), chosen.copy()
        merits = marginals(linear, gram, coupling, current)
        free_at = np.zeros(len(linear), dtype=np.int64)
        tabu(
            linear, gram, coupling, rules, trial, current, merits, free_at, np.zeros(2), 1, iterations, aims.least_gain
        )
        swaps += _offer(linear, gram, rules, coupling, aims.least_gain, trial, chosen, totals)
    return swaps


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
            swaps += _offer(linear, gram, rules, coupling, aims.least_gain, picks, chosen, totals)
    return swaps


@njit(
    types.Tuple((int64, int64))(
        _vector, _gram, _rules, int64, float64, _places, _parts, _places, float64, _aims,
        _places, _numbers, _numbers, _numbers, _mask, _mask, _numbers,
    ),
    nogil=True,
    cache=True,
)  # fmt: skip
def settle(
    linear, gram, rules, k, coupling, locked, parts, twins, supply, aims,
    chosen, totals, x, slope, survivors, left, inner_x,
):  # fmt: skip
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


_STEP = 256
"""Rows that `scan` handles together, so that they are still in the cache for the next few directions."""


@njit(fastmath=True, nogil=True, cache=True)
def _scan_one(rows, scales, w, out, i):
    total = np.float32(0.0)
    for j in range(rows.shape[1]):
        total += np.float32(rows[i, j]) * w[j]
    out[i] = total * scales[i]


@njit(fastmath=True, nogil=True, cache=True)
def _scan_two(rows, scales, w0, w1, out0, out1, i):
    total0 = total1 = np.float32(0.0)
    for j in range(rows.shape[1]):
        number = np.float32(rows[i, j])
        total0 += number * w0[j]
        total1 += number * w1[j]
    out0[i] = total0 * scales[i]
    out1[i] = total1 * scales[i]


@njit(fastmath=True, nogil=True, cache=True)
def _scan_four(rows, scales, w0, w1, w2, w3, out, i):
    """Rows i and i + 1 with four directions: every number that is loaded is used several times."""
    a0 = a1 = a2 = a3 = b0 = b1 = b2 = b3 = np.float32(0.0)
    for j in range(rows.shape[1]):
        a, b = np.float32(rows[i, j]), np.float32(rows[i + 1, j])
        a0 += a * w0[j]
        b0 += b * w0[j]
        a1 += a * w1[j]
        b1 += b * w1[j]
        a2 += a * w2[j]
        b2 += b * w2[j]
        a3 += a * w3[j]
        b3 += b * w3[j]
    scale = scales[i]
    out[0, i], out[1, i], out[2, i], out[3, i] = a0 * scale, a1 * scale, a2 * scale, a3 * scale
    scale = scales[i + 1]
    out[0, i + 1], out[1, i + 1], out[2, i + 1], out[3, i + 1] = b0 * scale, b1 * scale, b2 * scale, b3 * scale


@njit(
    [
        void(types.Array(kind, 2, "C", readonly=True), _row, _gram, types.Array(float32, 2, "A"))
        for kind in (int8, float32)
    ],
    fastmath=True,
    nogil=True,
    cache=True,
)
def scan(rows, scales, directions, out):
    count = directions.shape[0]
    for first in range(0, rows.shape[0], _STEP):
        last = min(rows.shape[0], first + _STEP)
        b = 0
        while b + 4 <= count:
            i = first
            while i + 2 <= last:
                w0, w1, w2, w3 = directions[b], directions[b + 1], directions[b + 2], directions[b + 3]
                _scan_four(rows, scales, w0, w1, w2, w3, out[b:], i)
                i += 2
            if i < last:
                for c in range(b, b + 4):
                    _scan_one(rows, scales, directions[c], out[c], i)
            b += 4
        if b + 2 <= count:
            for i in range(first, last):
                _scan_two(rows, scales, directions[b], directions[b + 1], out[b], out[b + 1], i)
            b += 2
        if b < count:
            for i in range(first, last):
                _scan_one(rows, scales, directions[b], out[b], i)


@njit(
    int64(_row, _row, float32, float32, float32, _places, types.Array(float32, 1, "C")),
    nogil=True,
    cache=True,
)
def _sift(scores, errors, length, rounding, least, positions, reaches):
    count = 0
    for i in range(len(scores)):
        reach = length * errors[i] + rounding
        if scores[i] + reach >= least:
            positions[count] = i
            reaches[count] = reach
            count += 1
    return count


def sift(scores, errors, length, rounding, least):
    positions = np.empty(len(scores), dtype=np.int64)
    reaches = np.empty(len(scores), dtype=np.float32)
    count = _sift(scores, errors, length, rounding, least, positions, reaches)
    return positions[:count].copy(), reaches[:count].copy()


if hasattr(os, "preadv"):  # not on Windows, where rows of a file are mapped instead
    _pread = types.ExternalFunction("pread", types.intp(types.int32, types.intp, types.uintp, int64))

    @njit(boolean(int64, types.Array(int64, 1, "A", readonly=True), int64, int64, int64), nogil=True, cache=True)
    def _read_rows(file, ids, base, width, address):
        for place in range(len(ids)):
            if _pread(file, address + place * width, width, base + ids[place] * width) != width:
                return False
        return True

    def read_rows(file, ids, base, out):
        return _read_rows(file, ids, base, out.itemsize * out.shape[1], out.ctypes.data)
