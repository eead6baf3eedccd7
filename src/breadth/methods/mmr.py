"""Maximal marginal relevance (Carbonell and Goldstein, 1998)."""

from __future__ import annotations

import numpy as np

from breadth.oracles.protocol import Facts
from breadth.problem import Problem
from breadth.requests import Asking, Rows, Scores
from breadth.selection import conclude


def mmr(problem: Problem, facts: Facts) -> Asking:
    """Add the row that maximises θ c_i - (1-θ) max_{j∈S} e_i·e_j; the first is the most relevant one.

    The running maximum is kept, so a step is one scan and O(n) more: k scans in all.
    """
    relevance = (yield Scores(problem.query[None]))[0]
    theta = relevance.dtype.type(problem.theta)
    weighted = theta * relevance
    nearest = np.full_like(relevance, -np.inf)
    merit = np.empty_like(relevance)
    chosen = np.empty(problem.k, dtype=np.int64)
    rows = np.empty((problem.k, len(problem.query)))
    pick = int(np.argmax(relevance))
    for size in range(problem.k):
        chosen[size] = pick
        rows[size] = (yield Rows(chosen[size : size + 1]))[0]
        weighted[pick] = -np.inf
        if size + 1 == problem.k:
            break
        similarity = (yield Scores(problem.likeness(rows[size])[None]))[0]
        np.maximum(nearest, similarity, out=nearest)
        np.multiply(nearest, 1 - theta, out=merit)
        np.subtract(weighted, merit, out=merit)
        pick = int(np.argmax(merit))
    return conclude(problem, chosen, rows, "mmr", picked_in_order=True)
