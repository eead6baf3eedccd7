"""VRSD (Gao, Deng and Zhang, 2024): the set whose sum points most nearly at the query."""

from __future__ import annotations

import numpy as np

from breadth.errors import InputError
from breadth.oracles.protocol import Facts
from breadth.problem import Problem
from breadth.requests import Asking, Rows, Scores
from breadth.selection import conclude


def vrsd(problem: Problem, facts: Facts) -> Asking:
    """Add the row that maximises cos(q, s + e_i), s being the sum so far. It has no trade-off parameter:

    θ changes only the reported objective. cos needs q·s + c_i and ‖s + e_i‖² = ‖s‖² + 2 s·e_i + 1, and s·e_i
    is kept as a running sum: k scans.
    """
    if problem.similarity_dim is not None:
        raise InputError("method 'vrsd' compares with the query vector; pass query, not scores")
    relevance = (yield Scores(problem.query[None]))[0].copy()
    along = np.zeros_like(relevance)  # s·e_i
    chosen = np.empty(problem.k, dtype=np.int64)
    rows = np.empty((problem.k, len(problem.query)))
    total = np.zeros(len(problem.query))
    pick = int(np.argmax(relevance))
    for size in range(problem.k):
        chosen[size] = pick
        rows[size] = (yield Rows(chosen[size : size + 1]))[0]
        relevance[pick] = -np.inf
        if size + 1 == problem.k:
            break
        total += rows[size]
        along += (yield Scores(rows[size][None]))[0]
        squared = 2 * along + relevance.dtype.type(total @ total + 1.0)
        # A sum that cancels to nothing has no direction: the smallest positive length keeps it finite.
        np.maximum(squared, np.finfo(squared.dtype).eps, out=squared)
        merit = relevance + relevance.dtype.type(total @ problem.query)
        merit /= np.sqrt(squared)
        pick = int(np.argmax(merit))
    return conclude(problem, chosen, rows, "vrsd", picked_in_order=True)
