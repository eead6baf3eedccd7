"""Sequential selection whose every step is one search: greedy on the objective, and max-sum dispersion."""

from __future__ import annotations

import numpy as np

from breadth.oracles.protocol import Facts
from breadth.problem import Array, Problem
from breadth.requests import Asking, Rows, Top
from breadth.selection import conclude


def greedy(problem: Problem, facts: Facts) -> Asking:
    """Greedy on F: add the row with the largest gain e_i·w(v_S), S being the rows so far. k scans."""
    return (yield from _pick_in_turn(problem, "greedy", relevance_share=1.0))


def msd(problem: Problem, facts: Facts) -> Asking:
    """Max-sum dispersion after Borodin, Lee and Ye (2012): the greedy step with the relevance halved.

    F is the max-sum diversification objective. Adding the row that maximises ½·relevance gain + distance gain
    gives at least half of the optimum where the distance is a metric (1 - cosine is not one; it comes close).
    """
    return (yield from _pick_in_turn(problem, "msd", relevance_share=0.5))


def _pick_in_turn(problem: Problem, method: str, relevance_share: float) -> Asking:
    chosen: list[int] = []
    rows: list[Array] = []
    v = np.zeros(len(problem.query))
    away = (1.0 - relevance_share) * problem.relevance_weight * problem.query
    for size in range(problem.k):
        # Nothing is chosen yet: the gain is relevance alone (for θ = 0 as well, where F decides nothing).
        direction = problem.direction(v) - away if size else problem.query
        # The rows already chosen can take up to `size` of the best places.
        ids, _ = yield Top(direction[None], size + 1)
        pick = next(int(i) for i in ids[0] if int(i) not in chosen)
        row = (yield Rows(np.array([pick], dtype=np.int64)))[0]
        chosen.append(pick)
        rows.append(row)
        v += row
    return conclude(problem, np.array(chosen, dtype=np.int64), np.array(rows), method, picked_in_order=True)
