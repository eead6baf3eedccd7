"""Close the gap: exclude the rows that can be in no better set, then branch and bound on the few that remain."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from breadth.arrays import Ids, Positions, Vector
from breadth.certified.bench import Bench
from breadth.certified.branch import MOST_ROWS, BranchAndBound
from breadth.certified.pricing import Pricing
from breadth.certified.rounds import Search
from breadth.clock import Clock
from breadth.oracles.protocol import Facts
from breadth.products import multiply_exactly
from breadth.requests import Asking, Rows

_RESOLUTION = 1e-7
"""A gap (reported scale) that counts as closed."""
_ATTEMPTS = 3


@dataclass(frozen=True, eq=False)
class Proof:
    """The set after the attempt to prove it optimal, and what can be said of it."""

    ids: Ids
    rows: Vector
    stopped: str
    stats: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class _Survivors:
    """The rows that can be in a better set, and a bound that holds for all sets."""

    ids: Ids
    rows: Vector
    bound: float


def prove_optimal(search: Search, facts: Facts, clock: Clock) -> Asking[Proof]:
    """Lower the bound of a search as far as the clock allows, from a set that is swap-optimal."""
    bench, bound = search.bench, search.bound
    left = yield from _find_survivors(bench, search.pricing, facts)
    if left is None or len(left.ids) > MOST_ROWS:
        stats = {} if left is None else {"survivors": len(left.ids)}
        return Proof(bench.chosen_ids, bench.chosen_rows, "swap_optimal", stats)
    problem = bench.problem
    chosen: Positions = np.searchsorted(left.ids, np.sort(bench.chosen_ids))
    linear = problem.linear(multiply_exactly(left.rows, problem.query))
    tree = BranchAndBound(linear, problem.similar(left.rows), problem.k, problem.coupling, chosen)
    closed = tree.run(min(left.bound, bound.value), clock, 0.5 * _RESOLUTION * problem.scale)
    bound.value = min(bound.value, max(closed.bound, closed.value))
    ids, rows = left.ids[closed.chosen], left.rows[closed.chosen]
    if facts.exact and bound.value - problem.value(rows) <= _RESOLUTION * problem.scale:
        stopped = "optimal"
    else:  # a better set than the one that was swap-optimal may not be: there was no time to see
        stopped = "swap_optimal" if set(ids.tolist()) == set(bench.chosen_ids.tolist()) else "prove"
    return Proof(ids, rows, stopped, {"survivors": len(left.ids), "nodes": closed.nodes})


def _find_survivors(bench: Bench, pricing: Pricing, facts: Facts) -> Asking[_Survivors | None]:
    """Reduced-cost fixing: with μ the k-th best score for w(u), a set with row i is worth at most D(u) - (μ - score_i).

    None where too many rows remain.
    """
    problem, w = bench.problem, bench.w_dual
    value = problem.value(bench.chosen_rows)
    best = np.sort(bench.dual_scores())
    for _ in range(_ATTEMPTS):
        dual = problem.dual_bound(bench.u, problem.allowed.best_sum(best), bench.max_squared_norm)
        threshold = problem.allowed.threshold(best) - (dual - value) - 1e-5 * problem.k
        ids = bench.held.ids[bench.held.above(w, threshold)[0]]
        if len(bench.held) < facts.size:
            outside = yield from pricing.above(w, threshold, MOST_ROWS)
            if outside is None:
                return None
            ids = np.union1d(ids, outside)
        if len(ids) > 4 * MOST_ROWS:
            return None
        rows = np.asarray((yield from Rows(ids)), dtype=np.float64)
        scores = multiply_exactly(rows, w)
        # Rows outside memory can raise D(u): then more rows have to be looked at.
        found = scores[problem.allowed.best(scores)]
        if found.sum() <= best.sum() + 1e-6 * problem.k:
            break
        best = np.sort(found)
    kept = (scores >= threshold) | np.isin(ids, bench.chosen_ids)
    order = np.argsort(ids[kept])
    return _Survivors(ids[kept][order], rows[kept][order], dual)
