"""Diagonals D with S - D positive semidefinite: the larger D, the tighter the bound (`bound.py`).

    dominant    S - D is diagonally dominant after a scaling (and after a matrix of rank one): sums over rows
    even        D = λ_min(S)·I: an eigenvalue
    largest     the largest weighted sum of entries: an interior point method

Each is tighter and dearer than the one before. A diagonal should be large where x is undecided, for ∂bound/∂d_i =
-coupling/2 · x_i(1-x_i): these are its weights.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from breadth import kernels
from breadth.arrays import Matrix, Positions, Vector
from breadth.kernels.contract import ROUNDING

FindDiagonal: TypeAlias = Callable[[Matrix, Vector, Positions], Vector]
"""From similarities S and weights, a diagonal d with S - diag(d) positive semidefinite.

The similarities of some pairs (2, pairs) are free: they may be changed, in place.
"""
NO_PAIRS: Positions = np.empty((2, 0), dtype=np.int64)
_NEWTON_STEPS = 12


def dominant_diagonal(similarities: Matrix, weights: Vector, free: Positions) -> Vector:
    """A diagonal d with S - diag(d) positive semidefinite, from sums over rows, large where the weights are.

    Free similarities become 0.
    """
    similarities[free[0], free[1]] = similarities[free[1], free[0]] = 0.0
    return kernels.current().dominate(similarities, weights)


def even_diagonal(similarities: Matrix, weights: Vector, free: Positions) -> Vector:
    """λ_min(S) for each row. Free similarities stay what they are: S is then positive semidefinite."""
    return np.full(len(weights), float(np.linalg.eigvalsh(similarities.astype(np.float64))[0]))


def largest_diagonal(similarities: Matrix, weights: Vector, free: Positions) -> Vector:
    """A diagonal d with S - diag(d) positive definite and Σ weights_i d_i about as large as it can be.

    Newton's steps on Σ weights_i d_i + μ log det(S - diag(d)) from λ_min(S), μ falling: an interior point method. Every
    iterate is valid. Free similarities are variables too.
    """
    exact: Vector = similarities.astype(np.float64)
    size = len(weights)
    weights = weights / weights.sum()
    scale = float(exact.diagonal().max())
    diagonal = even_diagonal(similarities, weights, free) - 0.02 * scale - ROUNDING * size
    barrier = 0.1 * scale / size
    slopes = np.concatenate((weights, np.zeros(free.shape[1])))
    for _ in range(_NEWTON_STEPS):
        inverse: Vector = np.asarray(np.linalg.inv(exact - np.diag(diagonal)), dtype=np.float64)
        gradient = slopes + barrier * _log_det_slopes(inverse, free)
        curvature = barrier * _log_det_curvature(inverse, free)
        step = np.asarray(np.linalg.solve(curvature + 1e-12 * np.eye(len(slopes)), gradient), dtype=np.float64)
        length = _find_length(exact, diagonal, step, free)
        diagonal = diagonal + length * step[:size]
        exact = _move_free(exact, length * step[size:], free)
        barrier *= 0.4
    similarities[:] = exact
    return diagonal


def _log_det_slopes(inverse: Vector, free: Positions) -> Vector:
    """The derivatives of log det(S - diag(d)) by the d_i and by the free s_ij."""
    return np.concatenate((-inverse.diagonal(), 2.0 * inverse[free[0], free[1]]))


def _log_det_curvature(inverse: Vector, free: Positions) -> Vector:
    """Its second derivatives, negated: a positive semidefinite matrix."""
    if free.shape[1] == 0:
        return np.asarray(inverse * inverse)
    left, right = inverse[free[0]], inverse[free[1]]
    mixed: Vector = -2.0 * left * right
    among: Vector = 2.0 * (left[:, free[0]] * right[:, free[1]] + left[:, free[1]] * right[:, free[0]])
    return np.asarray(np.block([[inverse * inverse, mixed.T], [mixed, among]]), dtype=np.float64)


def _move_free(exact: Vector, step: Vector, free: Positions) -> Vector:
    """The similarities with the free ones moved."""
    if len(step) == 0:
        return exact
    moved: Vector = exact.copy()
    moved[free[0], free[1]] += step
    moved[free[1], free[0]] += step
    return moved


def _find_length(exact: Vector, diagonal: Vector, step: Vector, free: Positions) -> float:
    """The longest of ever shorter steps that stays positive definite."""
    size, length = len(diagonal), 1.0
    while length > 1e-4:
        try:
            np.linalg.cholesky(_move_free(exact, length * step[size:], free) - np.diag(diagonal + length * step[:size]))
            return length
        except np.linalg.LinAlgError:
            length *= 0.5
    return 0.0
