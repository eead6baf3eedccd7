"""VRSD (Gao, Deng and Zhang, 2024): the set whose sum points most nearly at the query."""

from __future__ import annotations

from typing import Any

import numpy as np

from breadth.arrays import Array, Vector
from breadth.clock import NO_LIMIT, Clock
from breadth.errors import InputError
from breadth.methods.sequential import pick_by_rule
from breadth.oracles.protocol import Facts
from breadth.problem import Problem
from breadth.requests import Asking, Scores
from breadth.selection import Selection


def vrsd(problem: Problem, facts: Facts, *, clock: Clock = NO_LIMIT) -> Asking[Selection]:
    """Add the row that maximises cos(q, s + e_i), s being the sum of the picks.

    It has no trade-off parameter: θ changes only the reported objective.
    """
    if problem.similarity_dim is not None:
        raise InputError("method 'vrsd' compares with the query vector; pass query, not scores")
    relevance = (yield from Scores(problem.query[None]))[0]
    return (yield from pick_by_rule(problem, "vrsd", relevance, _Alignment(problem.query, relevance), clock))


class _Alignment:
    """cos(q, s + e_i), from q·s + c_i and ‖s + e_i‖² = ‖s‖² + 2 s·e_i + 1; s·e_i is kept as a running sum."""

    def __init__(self, query: Vector, relevance: Array) -> None:
        self._query, self._relevance = query, relevance
        self._along = np.zeros_like(relevance)  # s·e_i
        self._total = np.zeros(len(query))  # s
        self.stats: dict[str, Any] = {}

    def rate(self) -> Array:
        number = self._relevance.dtype.type
        squared = 2 * self._along + number(self._total @ self._total + 1.0)
        # A sum that cancels to nothing has no direction: the smallest positive length keeps it finite.
        np.maximum(squared, np.finfo(squared.dtype).eps, out=squared)
        merits: Array = self._relevance + number(self._total @ self._query)
        merits /= np.sqrt(squared)
        return merits

    def needs_similarities(self, pick: int) -> bool:
        return True

    def learn(self, pick: int, row: Vector, similarities: Array | None) -> None:
        self._total += row
        self._along += similarities  # type: ignore[arg-type]
