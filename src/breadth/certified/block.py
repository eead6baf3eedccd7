"""A growing block of rows with its Gram matrix: the small dense problem that stands for the whole collection."""

from __future__ import annotations

from copy import copy
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from breadth.problem import Array, Ids, Problem, Vector

Matrix = npt.NDArray[np.float32]


class Block:
    """Rows, Gram matrix and weighted relevance of the rows that may matter.

    `linear` is θ(k-1)c_i and `coupling` is 2(1-θ), so that F(S) = Σ linear_i - coupling/2 · Σ_{i≠j} gram_ij and
    e_i·w(v_S) = linear_i - coupling · Σ_{j∈S} gram_ij. The Gram matrix is extended, never made anew.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.coupling = 2.0 * (1.0 - problem.theta)
        self.ids: Ids = np.empty(0, dtype=np.int64)
        self.relevance: Vector = np.empty(0)
        self._rows: Array = np.empty((0, len(problem.query)), dtype=np.float32)
        self._gram: Matrix = np.empty((0, 0), dtype=np.float32)

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def rows(self) -> Array:
        return self._rows[: len(self)]

    @property
    def gram(self) -> Matrix:
        """Similarities of all pairs (float32: half the memory traffic, resolution 1e-7)."""
        return self._gram[: len(self), : len(self)]

    @property
    def storage(self) -> Matrix:
        """The Gram matrix with room to grow: contiguous, as compiled loops want it."""
        return self._gram

    @property
    def linear(self) -> Vector:
        return self.problem.relevance_weight * self.relevance

    def at(self, theta: float) -> Block:
        """The same rows for another trade-off; it shares the arrays, so only one of the two may grow."""
        other = copy(self)
        other.problem = replace(self.problem, theta=theta)
        other.coupling = 2.0 * (1.0 - theta)
        return other

    def adopt(self, ids: Ids, rows: Array, relevance: Vector, gram: Matrix) -> None:
        """Hold these rows with their Gram matrix, made elsewhere, instead."""
        self.ids, self._rows, self.relevance, self._gram = ids, rows, relevance, gram

    def add(self, ids: Ids, rows: Array) -> None:
        """Take in rows that are not held yet."""
        old, new = len(self), len(self) + len(ids)
        if new > min(len(self._rows), len(self._gram)):
            self._reserve(max(new, 2 * len(self._rows)), rows.dtype)
        self._rows[old:new] = rows
        self.ids = np.concatenate((self.ids, ids))
        self.relevance = np.concatenate((self.relevance, rows.astype(np.float64) @ self.problem.query))
        inside = self.problem.similar(self._rows[:new])
        cross = inside[old:] @ inside.T
        self._gram[old:new, :new] = cross
        self._gram[:new, old:new] = cross.T

    def _reserve(self, capacity: int, dtype: npt.DTypeLike) -> None:
        rows: Array = np.empty((capacity, self._rows.shape[1]), dtype=dtype)
        rows[: len(self)] = self.rows
        gram: Matrix = np.empty((capacity, capacity), dtype=np.float32)
        gram[: len(self), : len(self)] = self.gram
        self._rows, self._gram = rows, gram

    def value(self, chosen: npt.NDArray[np.intp]) -> float:
        """F of a set of positions."""
        inside = self.gram[np.ix_(chosen, chosen)]
        pairs = float(inside.sum(dtype=np.float64)) - float(np.trace(inside, dtype=np.float64))
        return float(self.linear[chosen].sum()) - self.coupling / 2.0 * pairs
