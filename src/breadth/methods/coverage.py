"""Coverage: the set that stands for the largest share of the relevant material."""

from __future__ import annotations

from typing import Any

import numpy as np

from breadth.arrays import Vector
from breadth.checks import check_count
from breadth.clock import NO_LIMIT, Clock
from breadth.coverage.dual import solve
from breadth.coverage.worth import SHARPNESS, TARGETS, check_sharpness, state_worth, weigh_targets
from breadth.errors import InputError
from breadth.oracles.protocol import Facts
from breadth.problem import Problem
from breadth.products import multiply_exactly
from breadth.requests import Asking, Rows, Top
from breadth.selection import Selection, conclude


def coverage(
    problem: Problem, facts: Facts, *, clock: Clock = NO_LIMIT, sharpness: int = SHARPNESS, targets: int | None = None
) -> Asking[Selection]:
    """Choose the k rows that stand for the largest share of the relevant material. One scan.

        C(S) = Σ_t ω_t max_{i∈S} s_it

    The M most relevant rows are both the relevant material and the rows to choose from. s_it is their cosine to the
    power `sharpness` (1 or an even number; at 1 a negative cosine counts 0), and ω weighs the more relevant rows more:
    see `breadth.coverage`. `targets` is M; by default 400, at least 2k, and at most all rows.

    The set is found by greedy and exchanges. `stats` holds its `coverage` and `coverage_bound`: no k of these M rows
    have a larger coverage. Both are about coverage, so there is no certificate for the objective. θ changes only the
    reported objective. When the time is up, the most relevant rows fill the free places.
    """
    power = check_sharpness(sharpness)
    count = _count_targets(problem.k, facts.size, targets)
    ids = (yield from Top(problem.query[None], count)).ids[0]
    rows = np.asarray((yield from Rows(ids)), dtype=np.float64)
    relevance: Vector = multiply_exactly(rows, problem.query)
    order = np.lexsort((ids, -relevance))  # of equally good rows the search takes the first
    ids, rows, relevance = ids[order], rows[order], relevance[order]
    similar = problem.similar(rows).astype(np.float32)
    found = solve(state_worth(similar, similar, weigh_targets(relevance), power), problem.k, clock)
    stats: dict[str, Any] = {"coverage": found.coverage, "coverage_bound": found.bound, "targets": count}
    if found.stopped:
        stats["stopped"] = "time_limit"
    return conclude(problem, ids[found.chosen], rows[found.chosen], "coverage", stats=stats)


def _count_targets(k: int, size: int, targets: int | None) -> int:
    if targets is None:
        return min(size, max(TARGETS, 2 * k))
    count = check_count(targets, "targets")
    if not k <= count <= size:
        raise InputError(f"targets must be between k ({k}) and the number of rows ({size}), got {count}")
    return count
