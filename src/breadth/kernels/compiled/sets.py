"""Search for sets: greedy, swaps, tabu search."""

from __future__ import annotations

import numpy as np
from numba import float64, int64, njit, void

from breadth import feasible, problem
from breadth.kernels.compiled.products import NO_NAN
from breadth.kernels.compiled.signatures import GRAM, NUMBERS, PLACES, ROWS, RULES, SET, VECTOR

MOST_SWAPS = 10_000
"""Swaps from one start, at the most: there is no known case that takes more than a few hundred."""

_NEVER = 1 << 62
"""A turn at which every row is free."""
_DENSE = 6
"""Looking at all rows side by side takes as long as looking at one in so many by itself."""
_FEW = 16
"""Members up to which looking at all rows side by side takes no longer than asking which of them to look at."""

_marginal = njit(inline="always")(problem.marginal)
_floor = njit(inline="always")(problem.floor)
_exchange_gain = njit(inline="always")(problem.exchange_gain)
_may_add = njit(inline="always")(feasible.may_add)
_may_exchange = njit(inline="always")(feasible.may_exchange)


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


@njit(fastmath=NO_NAN, nogil=True, cache=True)
def _find_first_largest(numbers):
    """The first place of the largest number, -1 if all are -∞."""
    most = -np.inf
    for i in range(len(numbers)):
        most = numbers[i] if numbers[i] > most else most
    if most > -np.inf:
        for i in range(len(numbers)):
            if numbers[i] == most:
                return i
    return -1


@njit(nogil=True, cache=True)
def _find_addable(merits, rules, clashes, counts, spent):
    """The first row with the largest marginal value that may join, -1 if none may."""
    found, most = -1, -np.inf
    for i in range(len(merits)):
        if merits[i] > most and _is_addable(rules, clashes, counts, spent, i):
            found, most = i, merits[i]
    return found


@njit(int64(VECTOR, GRAM, float64, RULES, PLACES, int64), nogil=True, cache=True)
def greedy(linear, gram, coupling, rules, picks, given):
    merits = linear.copy()
    clashes, counts = np.zeros(len(rules.group), dtype=np.int64), np.zeros(len(rules.room), dtype=np.int64)
    spent = 0.0
    for size in range(len(picks)):
        if size >= given:
            free = rules.free
            following = _find_first_largest(merits) if free else _find_addable(merits, rules, clashes, counts, spent)
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


@njit(NUMBERS(VECTOR, GRAM, float64, SET), nogil=True, cache=True)
def marginals(linear, gram, coupling, chosen):
    out = linear.copy()
    for j in chosen:
        for i in range(len(out)):
            out[i] = _marginal(out[i], np.float64(gram[j, i]), coupling)
    return out


@njit(float64(VECTOR, GRAM, float64, SET), nogil=True, cache=True)
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


@njit(fastmath=NO_NAN, nogil=True, cache=True)
def _rate_beside_few(gram, coupling, merits, members, shut, turn, free_at, gains, others):
    """Fill what each row gains at the most by replacing a member where both are free at this turn, and where any is.

    `shut` is -∞ for members and 0 for other rows. Returns the largest of each kind.
    """
    size = len(merits)
    for i in range(size):
        gains[i] = others[i] = -np.inf
    for member in members:
        floor = _floor(merits[member], np.float64(gram[member, member]), coupling)
        if free_at[member] <= turn:
            for i in range(size):
                value = _exchange_gain(merits[i], np.float64(gram[member, i]), floor, coupling)
                gains[i] = value if value > gains[i] else gains[i]
        else:
            for i in range(size):
                value = _exchange_gain(merits[i], np.float64(gram[member, i]), floor, coupling)
                others[i] = value if value > others[i] else others[i]
    most = most_of_all = -np.inf
    for i in range(size):
        free = gains[i] + shut[i]
        value = free if gains[i] > others[i] else others[i] + shut[i]
        others[i] = value
        gains[i] = -np.inf if free_at[i] > turn else free
        most = gains[i] if gains[i] > most else most
        most_of_all = value if value > most_of_all else most_of_all
    return most, most_of_all


@njit(nogil=True, cache=True)
def _choose_beside_few(gram, coupling, merits, members, shut, turn, free_at, better, gains, others):
    """The exchange that gains most for a few members: the gain, the row (-1: none), and which member.

    Rows and members that are not free at this turn may move all the same if the gain is more than `better`.
    """
    gain, most = _rate_beside_few(gram, coupling, merits, members, shut, turn, free_at, gains, others)
    held = most > better
    if held:
        gain, turn = most, _NEVER
    if gain == -np.inf:
        return gain, -1, -1
    new = 0
    if held:
        while others[new] != gain:
            new += 1
    else:
        while gains[new] != gain:
            new += 1
    for c in range(len(members)):
        if free_at[members[c]] <= turn:
            floor = _floor(merits[members[c]], np.float64(gram[members[c], members[c]]), coupling)
            if _exchange_gain(merits[new], np.float64(gram[members[c], new]), floor, coupling) == gain:
                return gain, new, c
    return gain, -1, -1


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


@njit(int64(VECTOR, GRAM, float64, RULES, PLACES, float64, int64), nogil=True, cache=True)
def swap(linear, gram, coupling, rules, chosen, least_gain, most):
    size = len(linear)
    clashes, counts = np.zeros(len(rules.group), dtype=np.int64), np.zeros(len(rules.room), dtype=np.int64)
    spent = 0.0 if rules.free else _tally(rules, chosen, clashes, counts)
    merits = marginals(linear, gram, coupling, chosen)
    inside = np.zeros(size, dtype=np.bool_)
    inside[chosen] = True
    max_norm = _max_norm(gram, size)
    floors, gains, free_at = np.empty(len(chosen)), np.empty(size), np.zeros(size, dtype=np.int64)
    few, others, shut = rules.free and len(chosen) <= _FEW, np.empty(size), np.zeros(size)
    shut[chosen] = -np.inf
    for done in range(most):
        lowest = 0.0 if few else _set_floors(gram, coupling, merits, chosen, max_norm, floors)
        if few:
            gain, new, column = _choose_beside_few(
                gram, coupling, merits, chosen, shut, 0, free_at, np.inf, gains, others
            )
        elif rules.free:
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
        shut[new], shut[old] = -np.inf, 0.0
    return most


@njit(
    int64(VECTOR, GRAM, float64, RULES, PLACES, ROWS, VECTOR, PLACES, float64),
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
    void(VECTOR, GRAM, float64, RULES, PLACES, PLACES, NUMBERS, PLACES, NUMBERS, int64, int64, float64),
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
    few, others, shut = rules.free and k <= _FEW, np.empty(size), np.zeros(size)
    shut[current] = -np.inf
    for turn in range(now, now + iterations):
        lowest = 0.0 if few else _set_floors(gram, coupling, merits, current, max_norm, floors)
        # A row that is held may move all the same if that gives the best set so far.
        better = totals[1] + least_gain - totals[0]
        if few:
            gain, new, column = _choose_beside_few(
                gram, coupling, merits, current, shut, turn, free_at, better, gains, others
            )
        elif rules.free:
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
        shut[new], shut[old] = -np.inf, 0.0
        free_at[old], free_at[new] = turn + outside_for, turn + inside_for
        if totals[0] > totals[1] + least_gain:
            totals[1] = totals[0]
            chosen[:] = current


@njit(nogil=True, cache=True)
def offer(linear, gram, coupling, rules, least_gain, start, chosen, totals):
    """Swap from a set, which replaces `chosen`, worth totals[0], if it is then better; how many swaps."""
    swaps = swap(linear, gram, coupling, rules, start, least_gain, MOST_SWAPS)
    value = set_value(linear, gram, coupling, start)
    if value > totals[0]:
        totals[0] = value
        chosen[:] = start
    return swaps


@njit(nogil=True, cache=True)
def search_on(linear, gram, coupling, rules, aims, bound, chosen, totals):
    """Tabu search from the set, the longer the more its bound leaves open; how many swaps."""
    iterations = int(aims.tabu * min(max(bound - totals[0], 0.0) / aims.spread, 1.0) ** 0.5)
    if iterations == 0:
        return 0
    trial, current = chosen.copy(), chosen.copy()
    merits = marginals(linear, gram, coupling, current)
    held = np.zeros(len(linear), dtype=np.int64)
    tabu(linear, gram, coupling, rules, trial, current, merits, held, np.zeros(2), 1, iterations, aims.least_gain)
    return offer(linear, gram, coupling, rules, aims.least_gain, trial, chosen, totals)
