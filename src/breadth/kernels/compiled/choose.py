"""From the rows of a collection, or of a shortlist, to the chosen set and what is reported of it, in one call."""

from __future__ import annotations

import numpy as np
from numba import boolean, float64, int64, njit, types

from breadth import feasible, problem
from breadth.kernels.compiled.bounds import judge
from breadth.kernels.compiled.products import ANY_ORDER, multiply_few, multiply_with
from breadth.kernels.compiled.sets import marginals
from breadth.kernels.compiled.settle import settle
from breadth.kernels.compiled.signatures import AIMS, GRAM, NUMBERS, OUTCOME, PLACES, VECTOR, WANTED
from breadth.kernels.contract import DOUBT, Outcome

_Rules, _Parts, _Outcome = feasible.Rules, feasible.Parts, Outcome
_floor = njit(inline="always")(problem.floor)
_sharpen = njit(problem.sharpen)


@njit(fastmath=ANY_ORDER, nogil=True, cache=True)
def score(rows, direction, out):
    """Fill the inner products of all rows with a direction."""
    for i in range(rows.shape[0]):
        total = np.float32(0.0)
        for j in range(rows.shape[1]):
            total += rows[i, j] * direction[j]
        out[i] = np.float64(total)


@njit(fastmath=ANY_ORDER, nogil=True, cache=True)
def score_and_check(rows, direction, low, high, out):
    """The same with a check: whether all squared lengths are in [low, high], and the largest difference from 1."""
    good, error = True, np.float32(0.0)
    for i in range(rows.shape[0]):
        total = squared = np.float32(0.0)
        for j in range(rows.shape[1]):
            total += rows[i, j] * direction[j]
            squared += rows[i, j] * rows[i, j]
        out[i] = np.float64(total)
        good = good and low <= squared and squared <= high
        error = max(error, abs(squared - np.float32(1.0)))
    return good, np.float64(error)


@njit(nogil=True, cache=True)
def _rate(rows, query, given, check, low, high, out):
    """Fill the relevance of all rows: what is given, or the inner products with the query; whether all is well."""
    if len(given) > 0:
        nowhere = np.zeros(rows.shape[1], dtype=np.float32)
        good = not check or score_and_check(rows, nowhere, low, high, out)[0]
        out[:] = given
        return good
    direction = query.astype(np.float32)
    if check:
        return score_and_check(rows, direction, low, high, out)[0]
    score(rows, direction, out)
    return True


@njit(nogil=True, cache=True)
def find_largest(scores, m):
    """The m-th largest score."""
    return np.partition(scores, len(scores) - m)[len(scores) - m]


@njit(nogil=True, cache=True)
def keep_best(found, scores, most):
    """Of some rows the `most` with the largest scores, of equal ones the first; and the score that no other exceeds."""
    if len(found) <= most:
        return found, -np.inf
    cut = find_largest(scores, most)
    tied = most - (scores > cut).sum()
    kept = np.empty(most, dtype=np.int64)
    count = 0
    for place in range(len(found)):
        is_tied = scores[place] == cut
        if scores[place] > cut or (is_tied and tied > 0):
            tied -= is_tied
            kept[count] = found[place]
            count += 1
    return kept[:count], cut


@njit(nogil=True, cache=True)
def _rank(relevance, wanted, ids, scores):
    """Fill the most relevant rows that are allowed, best first; how many there are, and how relevant others can be."""
    kth = find_largest(relevance, wanted.k)
    bar = wanted.floor
    if wanted.on_topic > 0.0 and kth > 0.0:
        bar = max(bar, wanted.on_topic * kth)
    admitted = np.flatnonzero(relevance >= bar)
    admitted, ceiling = keep_best(admitted, relevance[admitted], len(ids))
    order = np.argsort(-relevance[admitted], kind="mergesort")
    for place in range(len(order)):
        ids[place] = admitted[order[place]]
        scores[place] = relevance[ids[place]]
    return len(order), ceiling


@njit(fastmath=ANY_ORDER, nogil=True, cache=True)
def dot(one, other):
    total = 0.0
    for j in range(len(one)):
        total += np.float64(one[j]) * np.float64(other[j])
    return total


@njit(nogil=True, cache=True)
def _find_conflicts(rows, cosines, distinct, apart):
    """Mark the pairs of rows with a cosine above `distinct`; how many there are."""
    count = 0
    if distinct == np.inf:
        return count
    bar, sure = np.float32(distinct - DOUBT), np.float32(distinct + DOUBT)
    for i in range(len(cosines)):
        line = cosines[i]
        for j in range(i):
            if line[j] > bar and (line[j] >= sure or dot(rows[j], rows[i]) > distinct):
                apart[i, j] = apart[j, i] = 1
                count += 1
    return count


@njit(nogil=True, cache=True)
def _find_cliques(apart, number):
    """Fill the number of a clique for each row, -1 where it is in none, as `breadth.feasible` does; how many."""
    size, cliques = len(apart), 0
    number[:] = -1
    left = np.empty(size, dtype=np.bool_)
    for i in range(size):
        left[i] = apart[i].any()
    for seed in range(size):
        if not left[seed]:
            continue
        left[seed] = False
        fitting = left & (apart[seed] != 0)
        if not fitting.any():
            continue
        number[seed] = cliques
        for row in range(size):
            if fitting[row]:
                number[row], left[row] = cliques, False
                fitting &= apart[row] != 0
        cliques += 1
    return cliques


@njit(nogil=True, cache=True)
def _find_twins(rows, apart, twins):
    """Fill, for each row, the first row that it conflicts with and is an exact copy of, or else the row itself."""
    for i in range(len(twins)):
        twins[i] = i
        for j in range(i):
            if apart[i, j] and (rows[i] == rows[j]).all():
                twins[i] = j
                break


@njit(nogil=True, cache=True)
def _is_settled(linear, gram, rules, k, coupling, parts, supply, least_gain, chosen, slope):
    """Whether rows outside the table change neither the set, by a swap, nor the bound."""
    merits = marginals(linear, gram, coupling, chosen)
    for member in chosen:
        floor = _floor(merits[member], np.float64(gram[member, member]), coupling)
        if floor < supply - least_gain and not rules.locked[member]:
            return False
    return judge(slope, k, parts, supply)[0] <= judge(slope, k, parts, -np.inf)[0]


@njit(nogil=True, cache=True)
def order_set(relevance, ids, chosen):
    """Sort the set: the most relevant row first, of equal ones the lower id."""
    for place in range(1, len(chosen)):
        row, at = chosen[place], place
        while at > 0:
            before = chosen[at - 1]
            if relevance[before] > relevance[row] or (relevance[before] == relevance[row] and ids[before] < ids[row]):
                break
            chosen[at] = before
            at -= 1
        chosen[at] = row


@njit(fastmath=ANY_ORDER, nogil=True, cache=True)
def _multiply_three(row, others, start, stop, out):
    """The inner products of a row with three others, the last one of them again where there are fewer."""
    one, two, three = others[start], others[min(start + 1, stop - 1)], others[min(start + 2, stop - 1)]
    a = b = c = out[0] * 0
    for j in range(len(row)):
        a += row[j] * one[j]
        b += row[j] * two[j]
        c += row[j] * three[j]
    out[0], out[1], out[2] = a, b, c


@njit(nogil=True, cache=True)
def _sum_pairs(members, sharpness):
    """Σ s_ij and Σ e_i·e_j over the pairs i < j of a set, in float64."""
    sharp = plain = 0.0
    cosines = np.zeros(3)
    for i in range(len(members)):
        for start in range(0, i, 3):
            _multiply_three(members[i], members, start, i, cosines)
            for place in range(min(3, i - start)):
                plain += cosines[place]
                sharp += _sharpen(cosines[place], sharpness)
    return sharp, plain


@njit(nogil=True, cache=True)
def _find_copies(rows, where, first, cosines, distinct, chosen, stands):
    """Fill, for each row of the shortlist, which chosen row it is a copy of, -1 for none; how many copies."""
    stands[:] = -1
    if distinct == np.inf:
        return 0
    size, count, bar = len(first), 0, np.float32(distinct)
    inside = np.zeros(size, dtype=np.bool_)
    inside[chosen] = True
    for place in range(size):
        most = bar
        for c in range(0 if inside[place] else len(chosen)):
            if cosines[chosen[c], place] > most:
                most, stands[place] = cosines[chosen[c], place], c
        count += stands[place] >= 0
    if len(where) > size:
        beyond = multiply_with(rows, where[size:], first[chosen])
        for place in range(size, len(where)):
            most = bar
            for c in range(len(chosen)):
                if beyond[place - size, c] > most:
                    most, stands[place] = beyond[place - size, c], c
            count += stands[place] >= 0
    return count


@njit(nogil=True, cache=True)
def _make_rules(rows, cosines, relevance, wanted):
    """The rules for a table, the rows that stay, the relaxation of the rules, and which rows are exact copies."""
    size = len(rows)
    apart, stays = np.zeros((size, size), dtype=np.uint8), np.zeros(size, dtype=np.bool_)
    locked = np.empty(1 if wanted.keep_best else 0, dtype=np.int64)
    if wanted.keep_best:
        locked[0] = np.argmax(relevance)
        stays[locked[0]] = True
    part, twins = np.zeros(size, dtype=np.int64), np.arange(size)
    cliques = 0
    if _find_conflicts(rows, cosines, wanted.distinct, apart) > 0:
        cliques = _find_cliques(apart, part)
        part[part < 0] = cliques
        _find_twins(rows, apart, twins)
    room = np.ones(cliques + 1, dtype=np.int64)
    room[cliques] = wanted.k + 1
    nobody, anyhow = np.zeros(size, dtype=np.int64), np.full(1, wanted.k + 1)
    rules = _Rules(False, apart, nobody, anyhow, stays, np.zeros(size), np.inf)
    return rules, locked, _Parts(part, room, stays), twins


@njit(nogil=True, cache=True)
def _solve_on(size, rows, where, ids, scores, ceiling, query, wanted, aims, outcome, values, stands):
    """Choose from a shortlist, whose rows are those at the places `where`, on the first `size` of them."""
    k = wanted.k
    if size < k:
        return 0, 0, 0
    first = np.empty((size, rows.shape[1]), dtype=np.float32)
    relevance = scores[:size].copy()
    for i in range(size):
        first[i] = rows[where[i]]
        if len(query) > 0:
            relevance[i] = dot(first[i], query)
    cosines = multiply_few(first)
    gram = _sharpen(cosines.reshape(cosines.size), wanted.sharpness).reshape(cosines.shape)
    rules, locked, parts, twins = _make_rules(first, cosines, relevance, wanted)
    linear = wanted.relevance_weight * relevance
    supply = scores[size] if len(scores) > size else ceiling
    supply = wanted.relevance_weight * supply if supply > -np.inf else supply
    chosen, totals, slope = outcome.chosen, outcome.totals, outcome.slope[:size]
    inner = _Outcome(
        chosen, totals, outcome.x[:size], slope, outcome.survivors[:size], outcome.left[:size], outcome.inner_x[:size]
    )
    ended, swaps = settle(linear, gram, rules, k, wanted.coupling, locked, parts, twins, supply, aims, inner)
    matters = ended > 0 and supply > -np.inf and totals[3] > 0.0
    if matters and not _is_settled(
        linear, gram, rules, k, wanted.coupling, parts, supply, aims.least_gain, chosen, slope
    ):
        return 4, swaps, 0
    if ended != 1:
        return ended, swaps, 0
    order_set(relevance, ids, chosen)
    members = np.empty((k, rows.shape[1]))
    for c in range(k):
        values[c] = relevance[chosen[c]]
        members[c] = first[chosen[c]]
    totals[5], totals[6] = _sum_pairs(members, wanted.sharpness)
    return 1, swaps, _find_copies(rows, where, first, cosines, wanted.distinct, chosen, stands)


@njit(
    types.UniTuple(int64, 5)(
        int64, boolean, GRAM, VECTOR, VECTOR, boolean, float64, float64, WANTED, AIMS, PLACES, NUMBERS, OUTCOME,
        NUMBERS, PLACES,
    ),
    nogil=True,
    cache=True,
)  # fmt: skip
def choose(size, listed, rows, query, given, check, low, high, wanted, aims, ids, scores, outcome, values, stands):
    held, where = len(ids), np.arange(len(ids))
    if not listed:
        relevance = np.empty(rows.shape[0])
        squared = 1.0 if len(query) == 0 else dot(query, query)
        if not (low <= squared <= high) or not _rate(rows, query, given, check, low, high, relevance):
            return -1, 0, 0, 0, 0
        held, outcome.totals[7] = _rank(relevance, wanted, ids, scores)
        ids, scores, stands = ids[:held], scores[:held], stands[:held]
        where = ids
    size = min(size, held)
    while True:
        ended, swaps, copies = _solve_on(
            size, rows, where, ids, scores, outcome.totals[7], query, wanted, aims, outcome, values, stands
        )
        if ended in (1, 2, 3) or size == held:
            return ended, swaps, copies, size, held
        size = min(2 * size, held)  # rows beyond the first ones matter
