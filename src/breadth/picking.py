"""Greedy on F over rows in memory whose similarities are not known yet."""

from __future__ import annotations

import numpy as np

from breadth.arrays import Array, Positions, Vector
from breadth.clock import NO_LIMIT, Clock
from breadth.problem import Problem, marginal, sharpen
from breadth.products import multiply, multiply_exactly

_ROUNDING = 2e-6
"""What float32 arithmetic changes in a score or a similarity."""


def pick_greedily(
    problem: Problem,
    rows: Array,
    firsts: Positions,
    shares: Vector | None = None,
    count: int | None = None,
    clock: Clock = NO_LIMIT,
) -> Positions:
    """Positions of the picks from several first rows: (starts, count), in the order of the picks.

    `shares`: what share of the relevance counts, for each start; 1 is greedy on F, ½ is max-sum dispersion, 0 looks at
    distances alone. `count` is k by default. Once the time is up the rest is filled without looking at similarities.
    Merits are kept in the precision of the rows; where that leaves it open which is the best, float64 decides.
    """
    count = problem.k if count is None else count
    weights = np.ones(len(firsts)) if shares is None else shares
    similar = np.ascontiguousarray(problem.similar(rows))
    linear = problem.linear(_relevance(problem, rows))
    merits = weights[:, None] * linear
    picks = np.empty((len(firsts), count), dtype=np.int64)
    picks[:, 0] = firsts
    for size in range(1, count):
        last = picks[:, size - 1]
        if not clock.is_over():
            merits -= problem.coupling * sharpen(multiply(similar, similar[last]), problem.sharpness).T
        merits[np.arange(len(firsts)), last] = -np.inf
        slack = _ROUNDING * (problem.relevance_weight + problem.coupling * size)
        for start, merit in enumerate(merits):
            picks[start, size] = _pick_best(problem, rows, picks[start, :size], merit, slack, weights[start])
    return picks


def _relevance(problem: Problem, rows: Array) -> Vector:
    """The relevance of every row: computed from the query, or the coordinate that came from outside."""
    if problem.similarity_dim is None:
        return np.asarray(multiply(rows, problem.query), dtype=np.float64)
    return np.asarray(rows[:, problem.similarity_dim], dtype=np.float64)


def _pick_best(
    problem: Problem, rows: Array, picks: Positions, merits: Vector, slack: float, relevance_share: float
) -> int:
    """The row with the largest marginal value; of equal ones the first."""
    best = int(np.argmax(merits))
    close = np.flatnonzero(merits >= merits[best] - slack)
    if len(close) == 1:
        return best
    if problem.sharpness == 1:
        w = problem.direction(rows[picks].sum(axis=0, dtype=np.float64), relevance_share)
        return int(close[np.argmax(multiply_exactly(rows[close], w))])
    linear = relevance_share * problem.linear(multiply_exactly(rows[close], problem.query))
    similarity = problem.similarities(rows[close], rows[picks]).sum(axis=1)
    return int(close[np.argmax(marginal(linear, similarity, problem.coupling))])


def spread_firsts(relevance: Array, count: int) -> Positions:
    """Where to start from: half of them the most relevant rows, half spread over all relevances."""
    if count == 1:
        return np.array([np.argmax(relevance)])
    order = np.argsort(-relevance, kind="stable")
    count = min(count, len(order))
    near = (count + 1) // 2
    spread = np.linspace(near, len(order) - 1, count - near).astype(np.int64)
    return np.asarray(order[np.concatenate((np.arange(near), spread))], dtype=np.int64)
