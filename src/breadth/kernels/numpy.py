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
from breadth.problem import exchange_gain, floor, marginal

NAME = "numpy"
STEPS_AT_ONCE = 1 << 15
SPREADS = False
_ROWS_AT_ONCE = 4096
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


def greedy(linear: Vector, gram: Matrix, coupling: float, first: int, picks: Positions) -> None:
    merits = linear.copy()
    pick = first
    for size in range(len(picks)):
        picks[size] = pick
        merits[pick] = -np.inf
        merits = marginal(merits, _row(gram, pick, len(merits)), coupling)
        pick = int(np.argmax(merits))


def marginals(linear: Vector, gram: Matrix, coupling: float, chosen: Positions) -> Vector:
    out = linear.copy()
    for j in chosen:
        out = marginal(out, _row(gram, int(j), len(out)), coupling)
    return np.asarray(out)


def set_value(linear: Vector, gram: Matrix, coupling: float, chosen: Positions) -> float:
    inside = np.tril(gram[np.ix_(chosen, chosen)].astype(np.float64), k=-1)
    return float(marginal(linear[chosen], inside.sum(axis=1), coupling).sum())


def swap(linear: Vector, gram: Matrix, coupling: float, chosen: Positions, least_gain: float, most: int) -> int:
    merits = marginals(linear, gram, coupling, chosen)
    own = gram.diagonal()[: len(linear)].astype(np.float64)
    outside = np.ones(len(linear), dtype=bool)
    outside[chosen] = False
    free = np.zeros(len(linear), dtype=np.int64)
    for done in range(most):
        new, column, _ = _best_exchange(gram, coupling, merits, own, chosen, outside, free, 0, np.inf, least_gain)
        if new < 0:
            return done
        _exchange(gram, coupling, merits, outside, chosen, new, column)
    return most


def tabu(
    linear: Vector,
    gram: Matrix,
    coupling: float,
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
    inside_for, outside_for = 1 + min(k // 2, 5), 8
    own = gram.diagonal()[: len(linear)].astype(np.float64)
    outside = np.ones(len(linear), dtype=bool)
    outside[current] = False
    for turn in range(now, now + iterations):
        # A row that is held may move all the same if that gives the best set so far.
        enough = totals[1] + least_gain - totals[0]
        found = _best_exchange(gram, coupling, merits, own, current, outside, free_at, turn, enough, -np.inf)
        new, column, gain = found
        if new < 0:
            continue
        old = int(current[column])
        totals[0] += gain
        _exchange(gram, coupling, merits, outside, current, new, column)
        free_at[old], free_at[new] = turn + outside_for, turn + inside_for
        if totals[0] > totals[1] + least_gain:
            totals[1] = totals[0]
            chosen[:] = current


def _best_exchange(
    gram: Matrix,
    coupling: float,
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
    merits: Vector,
    outside: Mask,
    members: Positions,
    new: int,
    column: int,
) -> None:
    """Put `new` in the place of a member, in all that is kept up to date."""
    old = int(members[column])
    merits += coupling * (_row(gram, old, len(merits)) - _row(gram, new, len(merits)))
    members[column] = new
    outside[new], outside[old] = False, True


def relax(
    linear: Vector,
    gram: Matrix,
    k: int,
    coupling: float,
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
    gap, value = np.inf, -np.inf
    for step in range(steps + 1):
        if step % 32 == 0 or step == steps:
            along = float((slope * x).sum())
            gap = float(np.partition(slope, size - k)[size - k :].sum()) - along
            value = 0.5 * (float((linear * x).sum()) + along)
            if step == steps or gap <= max(least, share * (value - base)):
                break
        to = int(np.argmax(np.where(x < 1.0, slope, -np.inf)))
        steepest = float(slope[to])
        givers = np.flatnonzero((x > 0.0) & (slope < steepest))
        if len(givers) == 0:  # no step rises
            gap = 0.0
            value = 0.5 * (float((linear * x).sum()) + float((slope * x).sum()))
            break
        towards = _row(gram, to, size)
        curves = np.maximum(coupling * (own[to] + own[givers] - 2.0 * towards[givers]), 1e-9)
        rises = steepest - slope[givers]
        place = int(np.argmax(rises * rises / curves))
        away = int(givers[place])
        amount = min(float(rises[place] / curves[place]), 1.0 - x[to])
        if amount >= x[away]:
            amount = float(x[away])
            x[away] = 0.0
        else:
            x[away] -= amount
        x[to] += amount
        if x[to] > 1.0 - 1e-12:
            x[to] = 1.0
        slope -= (coupling * amount) * (towards - _row(gram, away, size))
    return gap, value


def _row(gram: Matrix, row: int, size: int) -> Vector:
    return gram[row, :size].astype(np.float64)


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


def read_rows(file: int, ids: Positions, base: int, out: npt.NDArray[Any]) -> bool:
    width = out.itemsize * out.shape[1]
    room = out.reshape(-1).view(np.uint8).data
    return all(
        os.preadv(file, [room[place * width : (place + 1) * width]], base + i * width) == width
        for place, i in enumerate(ids.tolist())
    )
