"""A concave quadratic over sets, relaxed: its maximiser gives the best dual bound.

    max  linear'x - coupling/2 · x'Hx      0 ≤ x ≤ 1,  1'x = k

Gradient projection finds which x_i are 0, 1 or between; Newton's step on those between ends it. Both search their line
exactly, so the value never falls. Any x gives a valid bound: an early stop costs tightness, never truth.
"""

from __future__ import annotations

import numpy as np

from breadth.arrays import Array, Positions, Vector
from breadth.clock import NO_LIMIT, Clock

_RIDGE = 1e-5
"""Relative to the diagonal: copies and more rows than dimensions make the system singular."""
_MOST_FREE = 256
"""A larger system is not worth its time: the relaxation is then flat and its bound loose anyway."""
_EDGE = 1e-9


def maximise(
    linear: Vector,
    matrix: Array,
    k: int,
    coupling: float,
    start: Vector,
    tolerance: float,
    *,
    enough: float = -np.inf,
    max_rounds: int = 40,
    clock: Clock = NO_LIMIT,
) -> Vector:
    """A feasible x with a duality gap of at most `tolerance`, or with a bound of at most `enough`, or the last one."""
    x, image = start, _times(matrix, start)
    length = 1.0 / coupling
    for _ in range(max_rounds):
        gradient = linear - coupling * image
        top = np.partition(gradient, len(gradient) - k)[len(gradient) - k :]
        gap = float(top.sum() - gradient @ x)
        value = float(linear @ x) - coupling / 2.0 * float(x @ image)
        if gap <= tolerance or value + gap <= enough or clock.is_over():
            break
        step = project(x + length * gradient, k) - x
        along = _times(matrix, step)
        curvature = coupling * float(step @ along)
        if curvature > 0.0:  # Barzilai and Borwein's step length for the next round
            length = min(max(float(step @ step) / curvature, 1e-3 / coupling), 1e3 / coupling)
        x, image = _advance(x, image, step, along, float(gradient @ step), curvature)
        free = np.flatnonzero((x > _EDGE) & (x < 1.0 - _EDGE))
        if 1 < len(free) <= _MOST_FREE:
            target = _stationary(linear, matrix, k, coupling, x, free)
            step = (target if _within(target) else project(target, k)) - x
            gradient = linear - coupling * image
            along = _times(matrix, step)
            x, image = _advance(x, image, step, along, float(gradient @ step), coupling * float(step @ along))
    return x


def _advance(
    x: Vector, image: Vector, step: Vector, along: Vector, slope: float, curvature: float
) -> tuple[Vector, Vector]:
    """The best point of the line from x to x + step."""
    if slope <= 0.0:
        return x, image
    gamma = 1.0 if slope >= curvature else slope / curvature
    return np.clip(x + gamma * step, 0.0, 1.0), image + gamma * along


def _stationary(linear: Vector, matrix: Array, k: int, coupling: float, x: Vector, free: Positions) -> Vector:
    """x with its free entries moved to where the gradient is the same for all of them."""
    size = len(free)
    fixed = x.copy()
    fixed[free] = 0.0
    at_one = np.flatnonzero(fixed > 0.5)
    system = np.empty((size + 1, size + 1))
    system[:size, :size] = coupling * matrix[np.ix_(free, free)]
    system[np.arange(size), np.arange(size)] += _RIDGE * coupling
    system[size, :size] = system[:size, size] = 1.0
    system[size, size] = 0.0
    right = np.empty(size + 1)
    right[:size] = linear[free] - coupling * matrix[np.ix_(free, at_one)].sum(axis=1, dtype=np.float64)
    right[size] = k - len(at_one)
    target = np.where(fixed > 0.5, 1.0, 0.0)
    target[free] = np.linalg.solve(system, right)[:size]
    return target


def _within(x: Vector) -> bool:
    return bool(x.min() >= 0.0 and x.max() <= 1.0)


def _times(matrix: Array, x: Vector) -> Vector:
    """H x for a symmetric H, from the rows where x is not zero."""
    support = np.flatnonzero(x)
    if len(support) * 2 < len(x):
        return np.asarray(x[support].astype(matrix.dtype) @ matrix[support], dtype=np.float64)
    return np.asarray(matrix @ x.astype(matrix.dtype), dtype=np.float64)


def project(y: Vector, k: int) -> Vector:
    """The nearest point with 0 ≤ x ≤ 1 and 1'x = k: clip(y - shift, 0, 1).

    The sum falls piecewise linearly in the shift, with its corners at y_i and y_i - 1: it is evaluated at all of them
    through prefix sums, and the shift is where the right piece meets k.
    """
    ordered = np.sort(y)
    prefix = np.concatenate(([0.0], np.cumsum(ordered)))
    corners = np.sort(np.concatenate((ordered, ordered - 1.0)))
    from_zero = np.searchsorted(ordered, corners)
    from_one = np.searchsorted(ordered, corners + 1.0)
    between = from_one - from_zero
    totals = (len(y) - from_one) + (prefix[from_one] - prefix[from_zero]) - corners * between
    piece = int(np.searchsorted(-totals, -float(k), side="right")) - 1  # the last corner with a sum of at least k
    shift = corners[piece]
    if totals[piece] > k:
        after = min(piece + 1, len(corners) - 1)
        shift += (totals[piece] - k) * (corners[after] - shift) / (totals[piece] - totals[after])
    clipped: Vector = np.minimum(np.maximum(y - shift, 0.0), 1.0)
    return clipped
