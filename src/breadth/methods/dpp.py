"""Greedy MAP inference for a determinantal point process (Chen, Zhang and Zhou, 2018)."""

from __future__ import annotations

from typing import Any

import numpy as np

from breadth.oracles.protocol import Facts
from breadth.problem import Array, Problem
from breadth.requests import Asking, Rows, Scores
from breadth.selection import conclude

_NO_VOLUME = 1e-6
"""A residual d² below this is float32 rounding: the row lies in the span of the chosen ones. Where rows are only
nearly of unit length, a copy keeps a residual of that size."""


def dpp(problem: Problem, facts: Facts) -> Asking:
    """Add the row that maximises θ c_i + (1-θ) log d_i², with d_i² the squared distance of e_i to span(S).

    d² is kept up to date by one step of a Cholesky factorisation of E E': O(knd + k²n) time, O(kn) memory.
    Once every remaining row lies in the span (k beyond the rank of the data) the logarithm is -∞ for all of
    them; the rest is then picked by relevance, and `stats["beyond_rank"]` says how many were.
    """
    relevance = (yield Scores(problem.query[None]))[0].copy()
    kind = relevance.dtype
    theta = kind.type(problem.theta)
    residual = np.ones_like(relevance)
    floor = max(_NO_VOLUME, 4.0 * facts.length_error)
    factor = np.empty((problem.k - 1, len(relevance)), dtype=kind)
    merit = np.empty_like(relevance)
    chosen = np.empty(problem.k, dtype=np.int64)
    rows = np.empty((problem.k, len(problem.query)))
    beyond_rank = 0
    for size in range(problem.k):
        if size:
            _merit(relevance, residual, theta, floor, merit)
        else:  # a single row has the same volume whichever it is
            merit[:] = relevance
        pick = int(np.argmax(merit))
        if merit[pick] == -np.inf:
            pick = int(np.argmax(relevance))
            beyond_rank += 1
        chosen[size] = pick
        rows[size] = (yield Rows(chosen[size : size + 1]))[0]
        relevance[pick] = -np.inf
        if size + 1 == problem.k:
            break
        update = factor[size]
        if residual[pick] > floor:
            update[:] = (yield Scores(problem.likeness(rows[size])[None]))[0]
            update -= factor[:size, pick] @ factor[:size]
            update /= np.sqrt(residual[pick])
            np.multiply(update, update, out=merit)
            residual -= merit
        else:  # it adds no volume, so no distance changes
            update[:] = 0
    stats = {"beyond_rank": beyond_rank} if beyond_rank else {}
    return conclude(problem, chosen, rows, "dpp", picked_in_order=True, stats=stats)


def _merit(relevance: Array, residual: Array, theta: np.floating[Any], floor: float, out: Array) -> None:
    """θ c + (1-θ) log d² into `out`; -∞ where nothing is left of a row. At θ = 1 relevance alone counts."""
    if theta == 1:
        out[:] = relevance
        return
    with np.errstate(divide="ignore", invalid="ignore"):
        np.log(residual, out=out)
    out[~(residual > floor)] = -np.inf
    out *= 1 - theta
    if theta > 0:
        out += theta * relevance
    else:
        out[relevance == -np.inf] = -np.inf
