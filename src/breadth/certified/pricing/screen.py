"""Which rows can reach a score, by Cauchy-Schwarz from scores that are already known.

Inner products of all rows with a few directions are kept in an orthonormal basis b_1 … b_r. For any further w

    e_i·w ≤ Σ_r (w·b_r)(e_i·b_r) + ‖w⊥‖ ρ_i          ρ_i² = ‖e_i‖² - Σ_r (e_i·b_r)²

in O(n r), without touching a row. Only rows whose bound reaches the threshold have to be fetched, so a search whose
direction is close to what is known costs no scan.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from breadth.arrays import Array, Ids, Vector
from breadth.problem import Problem
from breadth.ranking import best

_ROUNDING = 1e-6
"""Rounding of float32 scores, relative to the length of the direction."""
_NEARLY = 1e-3
"""A direction with a smaller share than this outside the known ones is taken as known."""


class Screen:
    """Upper bounds on the scores of all rows, from the directions scanned so far."""

    def __init__(self, problem: Problem, relevance: Array, max_squared_norm: float) -> None:
        self._problem = problem
        self._relevance = np.asarray(relevance)
        self._basis: list[Vector] = []
        self._known: list[npt.NDArray[np.float32]] = []
        self._left = np.full(len(relevance), max_squared_norm, dtype=np.float32)
        self._errors: list[float] = []
        if problem.similarity_dim is None:  # a query vector is itself a direction of similarity
            self.learn(problem.query, relevance)

    def learn(self, w: Vector, scores: Array) -> None:
        """Take in the scores of all rows for one more direction, unless it is nearly known."""
        inside, rest = self._split(w)
        length, whole = float(np.linalg.norm(rest)), float(np.linalg.norm(w))
        if length <= _NEARLY * whole:  # dividing by so little would blow up the rounding of the scores
            return
        fresh = np.asarray(scores - self._from_known(w, inside), dtype=np.float32)
        fresh /= np.float32(length)
        self._basis.append(rest / length)
        self._known.append(fresh)
        self._errors.append((_ROUNDING * whole + sum(map(abs, inside)) * max(self._errors, default=0.0)) / length)
        self._left -= fresh * fresh
        np.maximum(self._left, 0.0, out=self._left)

    def above(self, w: Vector, threshold: float) -> Ids:
        """Ids of every row whose score for w may exceed the threshold."""
        found: Ids = np.flatnonzero(self.bounds(w) > np.float32(threshold)).astype(np.int64)
        return found

    def bounds(self, w: Vector) -> Array:
        """For every row a number that its score for w does not exceed."""
        inside, rest = self._split(w)
        bounds = self._from_known(w, inside)
        # A length ρ from ρ² is uncertain by the root of what ρ² is uncertain by.
        reach = np.sqrt(self._left + np.float32(_ROUNDING * (1 + len(self._basis))))
        reach *= np.float32(np.linalg.norm(rest))
        bounds += reach
        slack = _ROUNDING * float(np.linalg.norm(w)) * (1 + len(inside))
        slack += sum(abs(part) * error for part, error in zip(inside, self._errors, strict=True))
        bounds += np.float32(slack)
        return bounds

    def leading(self, w: Vector, count: int) -> Ids:
        """Ids of the rows whose known part of the score for w is largest."""
        inside, _ = self._split(w)
        known = self._from_known(w, inside)
        return np.sort(best(known, min(count, len(known)))).astype(np.int64)

    def share_above(self, sample: Array, w: Vector, threshold: float, after: Vector) -> float:
        """The share of sample rows that `above(w, threshold)` would return once the direction `after` was learnt."""
        _, fresh = self._split(after)
        basis = np.array([*self._basis, fresh / max(float(np.linalg.norm(fresh)), 1e-12)])
        similar = np.asarray(self._problem.similar(sample), dtype=np.float64)
        parts = similar @ basis.T
        inside = basis @ self._problem.similar(w)
        rest = float(np.linalg.norm(self._problem.similar(w) - inside @ basis))
        left = np.sqrt(np.maximum(np.square(similar).sum(axis=1) - np.square(parts).sum(axis=1), 0.0))
        known = parts @ inside
        if self._problem.similarity_dim is not None:
            known += w[-1] * sample[:, -1]
        return float(np.mean(known + rest * left > threshold))

    def _split(self, w: Vector) -> tuple[list[float], Vector]:
        """Coefficients of w in the basis, and what is left of it, in the coordinates that enter similarities."""
        rest = np.array(self._problem.similar(w), dtype=np.float64)
        inside = []
        for direction in self._basis:
            part = float(self._problem.similar(w) @ direction)
            inside.append(part)
            rest -= part * direction
        return inside, rest

    def _from_known(self, w: Vector, inside: list[float]) -> Array:
        """The part of every score that is known exactly."""
        dim = self._problem.similarity_dim
        total = np.zeros(len(self._left), np.float32) if dim is None else w[dim] * self._relevance
        for part, known in zip(inside, self._known, strict=True):
            total += np.float32(part) * known
        return total
