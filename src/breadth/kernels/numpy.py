"""The kernels in NumPy alone. `breadth.kernels` says what each of them promises.

They take the same steps in the same order as `breadth.kernels.numba`, and they decide by float64 numbers as well, so
both return the same sets.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import numpy.typing as npt

from breadth.arrays import Array, Mask, Matrix, Positions, Vector
from breadth.feasible import Parts, Rules, best_sum, find_losses, may_add, may_exchange
from breadth.problem import exchange_gain, floor, marginal

NAME = "numpy"
STEPS_AT_ONCE = 1 << 15
SPREADS = False
CODED = 0
settle = choose = choose_plain = None
_ROWS_AT_ONCE = 4096
MOST_SWAPS = 10_000
_CANDIDATES_AT_ONCE = 64


def inner(rows: Vector, direction: Vector) -> Vector:
    # Unlike a product by BLAS, this gives copies of a row the same number wherever they stand.
    return np.asarray(np.einsum("ij,j->i", rows, direction))


def inner_at(rows: Array, where: Positions, direction: Vector) -> Vector:
    return inner(rows[where].astype(np.float64, copy=False), direction)


def combine(weights: Vector, rows: Vector) -> Vector:
    return np.asarray(np.einsum("i,ij->j", weights, rows))


def fill_gram(rows: Vector, old: int, gram: Matrix) -> None:
    count = len(rows)
    products = rows[old:] @ rows.T
    gram[old:count, :count] = products
    gram[:count, old:count] = products.T


def multiply_pairs(rows: Matrix) -> Matrix:
    return np.asarray(rows @ rows.T)


class _Tally:
    """What the rules ask of a set: how many members each row may not stand beside, of each group, and the cost."""

    def __init__(self, rules: Rules, chosen: Positions) -> None:
        self._rules = rules
        self._clashes: Positions = np.zeros(len(rules.group), dtype=np.int64)
        self._counts: Positions = np.zeros(len(rules.room), dtype=np.int64)
        self._spent = 0.0
        for row in chosen if not rules.free else ():
            self.add(int(row))

    def add(self, row: int, sign: int = 1) -> None:
        """Take note of a row that joins the set, or leaves it (-1)."""
        if not self._rules.free:
            self._clashes += sign * self._rules.apart[row].astype(np.int64)
            self._counts[self._rules.group[row]] += sign
            self._spent += sign * float(self._rules.cost[row])

    def addable(self) -> Mask | bool:
        """Which rows may join."""
        rules = self._rules
        if rules.free:
            return True
        count, room = self._counts[rules.group], rules.room[rules.group]
        mask: Mask = may_add(self._clashes, count, room, self._spent + rules.cost, rules.budget)
        return mask

    def exchangeable(self, rows: Positions, members: Positions) -> Mask | bool:
        """Which rows may take the place of which members."""
        rules = self._rules
        if rules.free:
            return True
        group = rules.group[rows]
        mask: Mask = may_exchange(
            rules.locked[members],
            self._clashes[rows, None],
            rules.apart[rows[:, None], members],
            group[:, None] == rules.group[members],
            self._counts[group, None],
            rules.room[group, None],
            self._spent - rules.cost[members] + rules.cost[rows, None],
            rules.budget,
        )
        return mask


def greedy(linear: Vector, gram: Matrix, coupling: float, rules: Rules, picks: Positions, given: int) -> int:
    merits = linear.copy()
    tally = _Tally(rules, picks[:0])
    for size in range(len(picks)):
        if size >= given:
            possible = np.where(tally.addable(), merits, -np.inf)
            best = int(np.argmax(possible)) if len(possible) else -1
            if best < 0 or possible[best] == -np.inf:
                return size
            picks[size] = best
        pick = int(picks[size])
        merits[pick] = -np.inf
        merits = marginal(merits, _row(gram, pick, len(merits)), coupling)
        tally.add(pick)
    return len(picks)


def marginals(linear: Vector, gram: Matrix, coupling: float, chosen: Positions) -> Vector:
    out = linear.copy()
    for j in chosen:
        out = marginal(out, _row(gram, int(j), len(out)), coupling)
    return np.asarray(out)


def set_value(linear: Vector, gram: Matrix, coupling: float, chosen: Positions) -> float:
    inside = np.tril(gram[np.ix_(chosen, chosen)].astype(np.float64), k=-1)
    return float(marginal(linear[chosen], inside.sum(axis=1), coupling).sum())


def swap(
    linear: Vector, gram: Matrix, coupling: float, rules: Rules, chosen: Positions, least_gain: float, most: int
) -> int:
    tally = _Tally(rules, chosen)
    merits = marginals(linear, gram, coupling, chosen)
    own = gram.diagonal()[: len(linear)].astype(np.float64)
    outside = np.ones(len(linear), dtype=bool)
    outside[chosen] = False
    free = np.zeros(len(linear), dtype=np.int64)
    for done in range(most):
        new, column, _ = _best_exchange(
            gram, coupling, tally, merits, own, chosen, outside, free, 0, np.inf, least_gain
        )
        if new < 0:
            return done
        _exchange(gram, coupling, tally, merits, outside, chosen, new, column)
    return most


def try_starts(
    linear: Vector,
    gram: Matrix,
    coupling: float,
    rules: Rules,
    given: Positions,
    merits: Vector,
    couplings: Vector,
    chosen: Positions,
    least_gain: float,
) -> int:
    most, swaps = set_value(linear, gram, coupling, chosen), 0
    picks: Positions = np.empty(len(chosen), dtype=np.int64)
    for own, weight in zip(merits, couplings, strict=True):
        picks[: len(given)] = given
        if greedy(own, gram, float(weight), rules, picks, len(given)) < len(picks):
            continue
        swaps += swap(linear, gram, coupling, rules, picks, least_gain, MOST_SWAPS)
        value = set_value(linear, gram, coupling, picks)
        if value > most:
            most = value
            chosen[:] = picks
    return swaps


def tabu(
    linear: Vector,
    gram: Matrix,
    coupling: float,
    rules: Rules,
    chosen: Positions,
    current: Positions,
    merits: Vector,
    free_at: Positions,
    totals: Vector,
    now: int,
    iterations: int,
    least_gain: float,
) -> None:
    k = len(chosen)
    tally = _Tally(rules, current)
    inside_for, outside_for = 1 + min(k // 2, 5), 8
    own = gram.diagonal()[: len(linear)].astype(np.float64)
    outside = np.ones(len(linear), dtype=bool)
    outside[current] = False
    for turn in range(now, now + iterations):
        # A row that is held may move all the same if that gives the best set so far.
        enough = totals[1] + least_gain - totals[0]
        found = _best_exchange(gram, coupling, tally, merits, own, current, outside, free_at, turn, enough, -np.inf)
        new, column, gain = found
        if new < 0:
            continue
        old = int(current[column])
        totals[0] += gain
        _exchange(gram, coupling, tally, merits, outside, current, new, column)
        free_at[old], free_at[new] = turn + outside_for, turn + inside_for
        if totals[0] > totals[1] + least_gain:
            totals[1] = totals[0]
            chosen[:] = current


def _best_exchange(
    gram: Matrix,
    coupling: float,
    tally: _Tally,
    merits: Vector,
    own: Vector,
    members: Positions,
    outside: Mask,
    free_at: Positions,
    turn: int,
    enough: float,
    least: float,
) -> tuple[int, int, float]:
    """The exchange that gains most, if that is more than `least`: the row, the place of the member, the gain.

    A row or a member that is held (`free_at` > `turn`) only moves if that gains more than `enough`. Rows are looked at
    in the order of their marginal values, which bound what they can gain; of equal gains the first row, then the first
    member counts.
    """
    lengths = own[members]
    floors = floor(merits[members], lengths, coupling)
    lowest = float((floors - coupling * np.sqrt(lengths) * np.sqrt(own.max())).min())
    candidates = np.flatnonzero(outside)
    candidates = candidates[np.argsort(-merits[candidates], kind="stable")]
    held_members = free_at[members] > turn
    gain, row, column = least, -1, -1
    for start in range(0, len(candidates), _CANDIDATES_AT_ONCE):
        some = candidates[start : start + _CANDIDATES_AT_ONCE]
        if merits[some[0]] - lowest < gain:
            break
        similarity = gram[some[:, None], members].astype(np.float64)
        gains = exchange_gain(merits[some, None], similarity, floors, coupling)
        held = (free_at[some] > turn)[:, None] | held_members
        gains[held & (gains <= enough)] = -np.inf
        gains = np.where(tally.exchangeable(some, members), gains, -np.inf)
        largest = float(gains.max())
        if largest > gain or (largest == gain and row >= 0):
            places, columns = np.nonzero(gains == largest)
            first = int(np.lexsort((columns, some[places]))[0])
            if largest > gain or some[places[first]] < row:
                gain, row, column = largest, int(some[places[first]]), int(columns[first])
    return row, column, gain


def _exchange(
    gram: Matrix,
    coupling: float,
    tally: _Tally,
    merits: Vector,
    outside: Mask,
    members: Positions,
    new: int,
    column: int,
) -> None:
    """Put `new` in the place of a member, in all that is kept up to date."""
    old = int(members[column])
    merits += coupling * (_row(gram, old, len(merits)) - _row(gram, new, len(merits)))
    tally.add(old, -1)
    tally.add(new)
    members[column] = new
    outside[new], outside[old] = False, True


def relax(
    linear: Vector,
    gram: Matrix,
    k: int,
    coupling: float,
    parts: Parts,
    x: Vector,
    base: float,
    share: float,
    least: float,
    steps: int,
) -> tuple[float, float]:
    size = len(linear)
    own = gram.diagonal()[:size].astype(np.float64)
    slope = linear.copy()
    for i in np.flatnonzero(x):
        slope -= (coupling * x[i]) * _row(gram, int(i), size)
    load: Vector = np.bincount(parts.part, x, minlength=len(parts.room)).astype(np.float64)
    gap, value = np.inf, -np.inf
    for step in range(steps + 1):
        if step % 32 == 0 or step == steps:
            along = float((slope * x).sum())
            gap = best_sum(slope, k, parts) - along
            value = 0.5 * (float((linear * x).sum()) + along)
            if step == steps or gap <= max(least, share * (value - base)):
                break
        to, away, bend = _choose_step(gram, coupling, own, slope, x, parts, load)
        if away < 0:  # no step rises
            gap = 0.0
            value = 0.5 * (float((linear * x).sum()) + float((slope * x).sum()))
            break
        amount = _move_weight(x, parts, load, to, away, (slope[to] - slope[away]) / bend)
        slope -= (coupling * amount) * (_row(gram, to, size) - _row(gram, away, size))
    return gap, value


def _choose_step(
    gram: Matrix, coupling: float, own: Vector, slope: Vector, x: Vector, parts: Parts, load: Vector
) -> tuple[int, int, float]:
    """The step that promises most: to which entry, from which (-1 if none rises), and its curvature.

    Weight may go anywhere in a part with room, and inside a part that is full.
    """
    givers = np.flatnonzero((x > 0.0) & ~parts.locked)
    if len(givers) == 0:
        return -1, -1, 1.0
    receiving = np.where(x < 1.0, slope, -np.inf)
    roomy = np.where((load < parts.room - 1e-9)[parts.part], receiving, -np.inf)
    free = int(np.argmax(roomy))
    targets = np.empty((len(givers), 2), dtype=np.int64)
    targets[:, 0] = free if roomy[free] > -np.inf else -1
    if len(parts.room) > 1 or targets[0, 0] < 0:
        targets[:, 1] = _steepest_of_parts(receiving, parts)[parts.part[givers]]
    else:
        targets[:, 1] = targets[:, 0]
    rises = np.where(targets >= 0, slope[targets] - slope[givers, None], 0.0)
    curves = own[targets] + own[givers, None] - 2.0 * gram[targets, givers[:, None]].astype(np.float64)
    curves = np.maximum(coupling * curves, 1e-9)
    promises = np.where(rises > 0.0, rises * rises / curves, 0.0)
    place, side = divmod(int(np.argmax(promises)), 2)
    if promises[place, side] <= 0.0:
        return -1, -1, 1.0
    return int(targets[place, side]), int(givers[place]), float(curves[place, side])


def _steepest_of_parts(slope: Vector, parts: Parts) -> Positions:
    """For each part the first entry with the largest slope; -1 where all are -∞."""
    order = np.lexsort((np.arange(len(slope)), -slope, parts.part))
    first = np.flatnonzero(np.diff(parts.part[order], prepend=-1))
    steepest = np.full(len(parts.room), -1, dtype=np.int64)
    entries = order[first]
    entries = entries[slope[entries] > -np.inf]
    steepest[parts.part[entries]] = entries
    return steepest


def _move_weight(x: Vector, parts: Parts, load: Vector, to: int, away: int, amount: float) -> float:
    """Move weight between two entries, no more than there is and than there is room for; how much it was."""
    amount = min(amount, 1.0 - float(x[to]))
    if parts.part[to] != parts.part[away]:
        amount = min(amount, float(parts.room[parts.part[to]] - load[parts.part[to]]))
    if amount >= x[away]:
        amount = float(x[away])
        x[away] = 0.0
    else:
        x[away] -= amount
    x[to] += amount
    if x[to] > 1.0 - 1e-12:
        x[to] = 1.0
    load[parts.part[to]] += amount
    load[parts.part[away]] -= amount
    return amount


def _row(gram: Matrix, row: int, size: int) -> Vector:
    return gram[row, :size].astype(np.float64)


def judge(slope: Vector, k: int, parts: Parts, supply: float) -> tuple[float, Vector]:
    return best_sum(slope, k, parts, supply), find_losses(slope, k, parts, supply)


def dominate(gram: Matrix, weights: Vector) -> Vector:
    similarities, scaling = gram.astype(np.float64), np.sqrt(weights)
    own = similarities.diagonal()
    plain: Vector = own - (np.abs(similarities) @ scaling - own * scaling) / scaling
    sums = similarities.sum(axis=1) - own
    total = float(sums.sum())
    if total <= 0.0:
        return plain
    u = sums * np.sqrt(len(sums) / ((len(sums) - 1) * total))
    rest = np.abs(similarities - np.multiply.outer(u, u))
    flat: Vector = own - u * u - (rest @ scaling - rest.diagonal() * scaling) / scaling
    return flat if weights @ flat > weights @ plain else plain


def scan(rows: npt.NDArray[Any], scales: Matrix, directions: Matrix, out: Matrix) -> None:
    for start in range(0, len(rows), _ROWS_AT_ONCE):
        stop = min(start + _ROWS_AT_ONCE, len(rows))
        out[:, start:stop] = (rows[start:stop].astype(np.float32, copy=False) @ directions.T).T
    out *= scales


def sift(scores: Matrix, errors: Matrix, length: float, rounding: float, least: float) -> tuple[Positions, Matrix]:
    near = np.flatnonzero(scores >= least - (length * float(errors.max()) + rounding))
    reach = np.float32(length) * errors[near] + np.float32(rounding)
    kept = scores[near] + reach >= np.float32(least)
    return near[kept], reach[kept]


def gather(
    codes: npt.NDArray[np.int8],
    scales: npt.NDArray[np.float32],
    errors: npt.NDArray[np.float32],
    packed: npt.NDArray[np.uint8],
    factors: npt.NDArray[np.float32],
    lengths: npt.NDArray[np.float32],
    rounding: npt.NDArray[np.float32],
    keeps: Positions,
    first: int,
    bars: npt.NDArray[np.float32],
    positions: Positions,
    scores: npt.NDArray[np.float32],
    counts: Positions,
) -> int:
    directions = packed.transpose(1, 0, 2).reshape(packed.shape[1], -1).astype(np.float64) - 128.0
    row, most = first, positions.shape[1]
    while row < len(codes) and counts.max() < most:
        part = slice(row, row + min(_ROWS_AT_ONCE, most - int(counts.max())))
        sums = (codes[part].astype(np.float64) @ directions.T).astype(np.float32)
        found = sums * scales[part, None] * factors
        for b in range(len(factors)):
            near = np.flatnonzero(found[:, b] + lengths[b] * errors[part] >= bars[b])
            place = slice(int(counts[b]), int(counts[b]) + len(near))
            positions[b, place], scores[b, place] = row + near, found[near, b]
            counts[b] += len(near)
        row = min(part.stop, len(codes))
    return row


def read_rows(file: int, ids: Positions, base: int, out: npt.NDArray[Any]) -> bool:
    width = out.itemsize * out.shape[1]
    room = out.reshape(-1).view(np.uint8).data
    return all(
        os.preadv(file, [room[place * width : (place + 1) * width]], base + i * width) == width
        for place, i in enumerate(ids.tolist())
    )
