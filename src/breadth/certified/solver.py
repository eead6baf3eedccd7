"""The certified solver: column generation over any oracle, swap local search, and a proof.

The problem is solved on rows in memory (`workbench.py`); the collection is asked only whether a row outside would
improve the set or the bound (`pricing/`). It ends when no exchange of one row, with any row of the collection, gains.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from breadth import kernels
from breadth.certified.branch import MOST_ROWS, BranchAndBound
from breadth.certified.pricing.ways import Priced, Pricing, pricing_for
from breadth.certified.search import greedy_many
from breadth.certified.workbench import LOW_THETA, Workbench, first_rows
from breadth.checks import check_number
from breadth.methods.dpp import dpp
from breadth.methods.frank_wolfe import frank_wolfe
from breadth.methods.greedy import greedy, msd
from breadth.methods.mmr import mmr
from breadth.methods.vrsd import vrsd
from breadth.oracles.array import ArrayOracle
from breadth.oracles.protocol import Facts
from breadth.oracles.protocol import facts as facts_of
from breadth.problem import Array, Ids, Problem, Vector
from breadth.products import exactly
from breadth.ranking import best
from breadth.requests import Asking, Rows, Top, answered_together
from breadth.selection import conclude

_RESERVE = 4096
"""Rows fetched with the first scan. They are priced in memory, so the collection is scanned again only at the end."""
_HELD = 1 << 14
"""A small array is held as it is and never scanned."""
_NEAR_THETA = 0.75
"""From here on a quarter of that is enough."""
_LOOSE = 0.005
"""An open gap above this share of (1-θ)/(k-1): see what the other methods find, if all rows are in memory."""
_OTHERS: tuple[Callable[..., Asking], ...] = (
    frank_wolfe,
    partial(frank_wolfe, init="topk"),
    greedy,
    msd,
)
_BLIND: tuple[Callable[..., Asking], ...] = (mmr, dpp, vrsd)
"""Methods that do not look at F: worth a start for a small k only (for k ≥ 5 none of 576 starts improved a set)."""
_MODEST = 50_000
"""Rows of an array that are scanned so fast that at low θ the other methods are run on all of them."""
_ROUNDS, _IDLE = 60, 3
_SLOW = 0.02
"""A round that lowers the gap by a smaller share than this ends the work on the bound."""
_SMALL_K, _WIDE = 6, 0.2
"""For so small a k, and a gap above this share of (1-θ)/(k-1), greedy over the whole collection is worth its scans."""
_FAR_K = 25
"""Likewise for a larger k where relevance hardly counts (θ < LOW_THETA)."""
_EVERYWHERE, _BEST = 8, 32
"""First rows to start from, and rows to bring in for each."""
_RESOLUTION = 1e-7
"""A gap (reported scale) that counts as closed."""


def certified(
    problem: Problem, facts: Facts, *, tolerance: float = 0.0, time_limit: float | None = None, prove: float = 0.0
) -> Asking:
    """The best set that any known method finds, with a bound on the optimum.

    `tolerance`: stop as soon as the gap (reported scale) is at most this. `time_limit`: seconds after which the best
    set so far is returned with its true gap. `stats["stopped"]` says why it ended: "swap_optimal" (no exchange of one
    row with any row of the collection gains), "tolerance", "time_limit", "rounds" (a limit that is there for safety)
    or, with `prove`, "optimal" and "prove" (a better set was found, but its proof ran out of time).

    `prove`: seconds to spend on closing the gap, once the set is found: rows that can be in no better set are excluded,
    and where few remain a tighter relaxation and branch and bound go on until the set is proved optimal
    (`certificate.optimal`) or time is up. A better set found on the way is returned.
    """
    check_number(tolerance, "tolerance", 0.0)
    check_number(prove, "prove", 0.0)
    limit = np.inf if time_limit is None else check_number(time_limit, "time_limit", 0.0)
    if problem.theta == 1.0 or problem.k in (1, facts.size):
        return (yield from _most_relevant(problem, facts))
    deadline = time.perf_counter() + limit
    pricing = pricing_for(problem, facts)
    reserve = _how_many(problem, facts)
    everything = facts.size == reserve and (facts.scores_all or facts.reaches)  # ids are then 0 … size-1
    first = np.arange(facts.size) if everything else (yield from pricing.begin(reserve))
    bench = Workbench(problem, first, (yield Rows(first)), facts.max_squared_norm, deadline)
    bound = _Bound(bench, facts, pricing.begins_exactly and not everything)
    wide = _WIDE * (1.0 - problem.theta) / (problem.k - 1)
    everywhere = tried = False
    idle = 0
    stopped = "rounds"
    rounds = 0
    while rounds < _ROUNDS:
        rounds += 1
        bench.settle()
        everything = len(bench.ids) == facts.size
        thorough = problem.k <= _SMALL_K or not kernels.available()
        loose = everything and thorough and bench.looseness() > _LOOSE
        if not tried and (problem.theta < LOW_THETA or loose):
            tried = True
            yield from _try_others(bench, facts)
            bench.settle()
        if everything:
            bound.lower(bench.dual_scores())
            stopped = "swap_optimal" if bench.in_time() else "time_limit"
            break
        if not bench.in_time():
            stopped = "time_limit"
            break
        priced: Priced = yield from pricing.ask(bench.question())
        before = bound.gap
        bound.lower(np.concatenate((bench.dual_scores(), priced.best_u)))
        new = bench.take(priced.ids, priced.rows)
        idle = idle + 1 if new == 0 and not priced.swap_optimal else 0
        if idle == _IDLE:  # nothing new comes, and nothing can be settled: many rows tie
            break
        if 0.0 < bound.gap <= tolerance:
            stopped = "tolerance"
            break
        small = problem.k <= (_FAR_K if problem.theta < LOW_THETA else _SMALL_K)
        if priced.swap_optimal and small and bound.gap > wide and not everywhere:
            everywhere = True
            yield from _greedy_everywhere(bench, facts.size)
        elif priced.swap_optimal and (new == 0 or bound.gap > (1.0 - _SLOW) * before):
            stopped = "swap_optimal"
            break
    if not np.isfinite(bound.value):  # stopped before anything was priced
        ids, scores = yield Top(problem.query[None], problem.k)
        bound.value = problem.dual_bound(np.zeros(facts.dim), problem.relevance_weight * scores[0], bound.longest)
    path = "in memory" if len(bench.ids) == facts.size else pricing.name
    stats: dict[str, Any] = {"path": path, "compiled": kernels.available()}
    stats |= {"rounds": rounds, "swaps": bench.swaps, "pool": len(bench.block)}
    ids, rows = bench.chosen_ids, bench.chosen_rows
    if prove > 0.0 and stopped == "swap_optimal":
        ids, rows = yield from _prove(bench, bound, pricing, min(deadline, time.perf_counter() + prove), stats)
        stopped = _after_proof(bench, bound, facts, ids, rows)
    stats["stopped"] = stopped
    return conclude(problem, ids, rows, "certified", bound=bound.value, exact=facts.exact, stats=stats)


def _how_many(problem: Problem, facts: Facts) -> int:
    """Rows to hold in memory at first: the less relevance counts, the deeper in its ranking are those that matter."""
    if (facts.scores_all or facts.reaches) and facts.size <= _HELD and kernels.available():
        return facts.size
    reserve = _RESERVE if problem.theta < _NEAR_THETA else _RESERVE // 4
    return min(facts.size, max(reserve, 8 * problem.k))


def _after_proof(bench: Workbench, bound: _Bound, facts: Facts, ids: Ids, rows: Array) -> str:
    """What can be said of the set that `_prove` returned."""
    if facts.exact and bound.value - bench.problem.value(rows) <= _RESOLUTION * bench.problem.scale:
        return "optimal"
    if set(ids.tolist()) == set(bench.chosen_ids.tolist()):
        return "swap_optimal"
    return "prove"  # a better set, but there was no time to see whether swaps improve it


def _prove(bench: Workbench, bound: _Bound, pricing: Pricing, deadline: float, stats: dict[str, Any]) -> Asking:
    """Branch and bound on the rows that can be in a better set, if they are few; the best set, and `bound` lowered.

    With μ the k-th best score for w(u), a set with row i is worth at most D(u) - (μ - score_i).
    """
    problem, w = bench.problem, bench.problem.direction(bench.u)
    as_before = bench.chosen_ids, bench.chosen_rows
    value = problem.value(bench.chosen_rows)
    held = np.sort(bench.dual_scores())
    for _ in range(3):
        dual = problem.dual_bound(bench.u, held, bound.longest)
        threshold = held[0] - (dual - value) - 1e-5 * problem.k
        ids = bench.ids[bench.scores(w) > threshold]
        if len(bench.ids) < bound.size:
            outside = yield from pricing.above(w, threshold, MOST_ROWS)
            ids = ids if outside is None else np.union1d(ids, outside)
            if outside is None:
                return as_before
        if len(ids) > 4 * MOST_ROWS:
            return as_before
        rows = np.asarray((yield Rows(ids)), dtype=np.float64)
        scores = rows @ w
        # Rows outside memory can raise D(u): then more rows have to be looked at.
        if np.sort(scores)[-problem.k :].sum() <= held.sum() + 1e-6 * problem.k:
            break
        held = np.sort(scores)[-problem.k :]
    survivors = (scores >= threshold) | np.isin(ids, bench.chosen_ids)
    order = np.argsort(ids[survivors])
    ids, rows = ids[survivors][order], rows[survivors][order]
    stats["survivors"] = len(ids)
    if len(ids) > MOST_ROWS:
        return as_before
    chosen = np.searchsorted(ids, np.sort(bench.chosen_ids))
    linear = problem.relevance_weight * (rows @ problem.query)
    search = BranchAndBound(linear, problem.similar(rows), problem.k, 2.0 * (1.0 - problem.theta), chosen)
    closed = search.run(min(dual, bound.value), deadline, 0.5 * _RESOLUTION * problem.scale)
    bound.value = min(bound.value, max(closed.bound, closed.value))
    stats["nodes"] = closed.nodes
    return ids[closed.chosen], rows[closed.chosen]


class _Bound:
    """The lowest D(u) so far, for the whole collection."""

    def __init__(self, bench: Workbench, facts: Facts, begun_exactly: bool) -> None:
        self._bench, self.longest, self.size = bench, facts.max_squared_norm, facts.size
        self.value = np.inf
        if not begun_exactly:  # the most relevant rows may not all be there, or all rows are and it is settled at once
            return
        # u = 0: relevance alone bounds the optimum, before anything is solved.
        nothing = np.zeros(len(bench.problem.query))
        leading = bench.rows[best(bench.scores(bench.problem.query), bench.problem.k)]
        top = bench.problem.relevance_weight * exactly(leading, bench.problem.query)
        self.value = bench.problem.dual_bound(nothing, top, self.longest)

    @property
    def gap(self) -> float:
        """On the reported scale."""
        return (self.value - self._bench.value) / self._bench.problem.scale

    def lower(self, scores: Vector) -> None:
        """Take D(u) of the workbench's u; `scores` hold the k best of the whole collection for w(u)."""
        problem = self._bench.problem
        top = np.sort(scores)[-problem.k :]
        self.value = min(self.value, problem.dual_bound(self._bench.u, top, self.longest))


def _most_relevant(problem: Problem, facts: Facts) -> Asking:
    """θ = 1, a single row, or all rows: the most relevant ones are the optimum."""
    ids = (yield Top(problem.query[None], problem.k))[0][0]
    rows = yield Rows(ids)
    stats = {"stopped": "swap_optimal", "rounds": 0, "swaps": 0, "pool": problem.k}
    return conclude(problem, ids, rows, "certified", bound=problem.value(rows), exact=facts.exact, stats=stats)


def _try_others(bench: Workbench, facts: Facts) -> Asking:
    """Start from what the other methods return: on the whole collection if it is modest, else on the rows in memory.

    On the whole collection, none of them can then be better.
    """
    problem = bench.problem
    block = ArrayOracle.over_block(bench.rows, problem.similarity_dim)
    in_memory = bench.ids
    whole = facts.scores_all and len(in_memory) < facts.size <= _MODEST
    blind = [solve for solve in _BLIND if solve is not vrsd or problem.similarity_dim is None]
    others = [*_OTHERS, *(blind if problem.k <= _SMALL_K else ())]
    if not bench.in_time():
        return
    if not whole:
        for found in answered_together([solve(problem, facts_of(block)) for solve in others], block):
            bench.start_from(in_memory[found.ids][None])
        return
    for solve in others:
        if bench.in_time():
            found = yield from solve(problem, facts)
            bench.take(found.ids, (yield Rows(found.ids)))
            bench.start_from(found.ids[None])


def _greedy_everywhere(bench: Workbench, size_of_all: int) -> Asking:
    """Bring the rows that greedy would take from the whole collection into memory, from several first rows.

    Greedy in memory takes some rows, the collection is searched for the best rows to go on with, and so on: after every
    row for a very small k, after every few for a larger one. Then greedy and local search on all that.
    """
    problem = bench.problem
    sizes = range(1, problem.k) if problem.k <= _SMALL_K else (1, max(2, problem.k // 3))
    for size in sizes:
        firsts = np.repeat(first_rows(bench.scores(problem.query), _EVERYWHERE), 2)
        shares = np.tile([1.0, 0.5], len(firsts) // 2)
        sets = greedy_many(problem, bench.rows, firsts, shares, size)
        directions = shares[:, None] * (problem.relevance_weight * problem.query)
        sums = bench.rows[sets].sum(axis=1, dtype=np.float64)
        problem.similar(directions)[:] -= 2.0 * (1.0 - problem.theta) * problem.similar(sums)
        found, _ = yield Top(directions, min(size_of_all, size + _BEST))
        new = np.setdiff1d(found, bench.ids)
        bench.take(new, (yield Rows(new)))
    bench.many_starts()
