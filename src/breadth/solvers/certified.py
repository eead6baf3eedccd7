"""The certified solver: column generation over any oracle, swap local search, and a proof.

The problem is solved on a small block of rows in memory; the collection is asked only whether a row outside would
improve the set or the bound (`pricing`). It ends when no exchange of one row, with any row of the collection, gains.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np

from breadth.checks import check_number
from breadth.oracles.protocol import Facts
from breadth.oracles.requests import Asking, Rows, Top
from breadth.pool import concave, search
from breadth.pool.block import Block
from breadth.problem import Array, Ids, Problem, Vector
from breadth.ranking import Positions, best
from breadth.selection import conclude
from breadth.solvers.pricing import Priced, Pricing, Question, pricing_for

_RESERVE = 4096
"""Rows fetched with the first scan. They are priced in memory, so the collection is scanned again only at the end."""
_ROUNDS = 60
_DUAL_ROUNDS = 12


def certified(
    problem: Problem,
    facts: Facts,
    *,
    tolerance: float = 0.0,
    time_limit: float | None = None,
) -> Asking:
    """The best set known methods find, with a bound on the optimum.

    `tolerance`: stop as soon as the gap (reported scale) is at most this. `time_limit`: seconds after which the best
    set so far is returned with its true gap; `stats["stopped"]` says why it ended: "swap_optimal", "tolerance" or
    "time_limit".
    """
    check_number(tolerance, "tolerance", 0.0)
    limit = np.inf if time_limit is None else check_number(time_limit, "time_limit", 0.0)
    if problem.theta == 1.0 or problem.k in (1, facts.size):
        return (yield from _trivial(problem, facts))
    deadline = time.perf_counter() + limit
    pricing = pricing_for(problem, facts)
    first = yield from pricing.begin(min(facts.size, max(_RESERVE, 8 * problem.k)))
    state = _State(problem, facts, first, (yield Rows(first)))
    stopped = yield from _improve(state, pricing, tolerance, deadline)
    chosen = state.chosen
    return conclude(
        problem,
        state.block.ids[chosen],
        state.block.rows[chosen],
        "certified",
        bound=state.bound,
        exact=facts.exact,
        stats={
            "stopped": stopped,
            "rounds": state.rounds,
            "swaps": state.swaps,
            "pool": len(state.block),
            "reserve": len(state.reserve_ids),
        },
    )


def _trivial(problem: Problem, facts: Facts) -> Asking:
    """θ = 1, a single row, or all rows: the most relevant ones are the optimum."""
    ids = (yield Top(problem.query[None], problem.k))[0][0]
    rows = yield Rows(ids)
    bound = problem.value(rows)
    stats = {"stopped": "swap_optimal", "rounds": 0, "swaps": 0, "pool": problem.k, "reserve": problem.k}
    return conclude(problem, ids, rows, "certified", bound=bound, exact=facts.exact, stats=stats)


def _improve(state: _State, pricing: Pricing, tolerance: float, deadline: float) -> Asking:
    """Solve in memory, price the collection, until nothing outside helps; says why it stopped."""
    for round_number in range(_ROUNDS):
        state.settle(deadline)
        state.rounds = round_number + 1
        question = state.question()
        if len(state.reserve_ids) == state.facts.size:
            state.lower_bound_by(state.dual_scores())
            return "swap_optimal"
        if time.perf_counter() > deadline:
            return "time_limit"
        priced: Priced = yield from pricing.ask(question)
        if priced.complete_u:
            state.lower_bound_by(np.concatenate((state.dual_scores(), priced.best_u)))
        before = len(state.reserve_ids)
        state.take(priced.ids, priced.rows)
        if state.gap <= tolerance:
            return "tolerance"
        nothing_new = len(state.reserve_ids) == before
        if priced.swap_optimal and (nothing_new or round_number >= _DUAL_ROUNDS):
            return "swap_optimal"
    return "rounds"


@dataclass
class _State:
    """The rows in memory (`reserve`), the part of them with a Gram matrix (`block`), the best set and bound."""

    problem: Problem
    facts: Facts
    reserve_ids: Ids
    reserve: Array
    block: Block = field(init=False)
    x: Vector = field(init=False)
    chosen: Positions = field(init=False)
    bound: float = np.inf
    rounds: int = 0
    swaps: int = 0

    def __post_init__(self) -> None:
        k = self.problem.k
        self.inside = np.zeros(len(self.reserve_ids), dtype=bool)
        self.block = Block(self.problem)
        relevance = self.reserve @ self.problem.query.astype(self.reserve.dtype)
        self._enter(best(relevance, min(len(relevance), max(64, 2 * k))))
        self.x = np.zeros(len(self.block))
        self.x[:k] = 1.0
        self.chosen = np.arange(k)
        # u = 0: relevance alone bounds the optimum, before anything is solved.
        top = self.problem.relevance_weight * relevance[best(relevance, k)]
        self.bound = self.problem.dual_bound(np.zeros(len(self.problem.query)), top, self.facts.max_squared_norm)

    @property
    def gap(self) -> float:
        return (self.bound - self.block.value(self.chosen)) / self.problem.scale

    def settle(self, deadline: float) -> None:
        """The best set and dual vector on all rows in memory."""
        if self.rounds == 0:
            self._improve_set(search.greedy(self.block, int(np.argmax(self.block.relevance))))
            self.x = np.zeros(len(self.block))
            self.x[self.chosen] = 1.0
        self._relax()
        self._start_sets()
        while self._swap_in_reserve() and time.perf_counter() <= deadline:
            self._improve_set(self.chosen)

    def _relax(self) -> None:
        """The concave relaxation, rows of the reserve entering as they are priced in."""
        for _ in range(20):
            start = np.concatenate((self.x, np.zeros(len(self.block) - len(self.x))))
            self.x = concave.maximise(self.block, start, 1e-6 * self.problem.scale)
            scores = self._reserve_scores(self.problem.direction(self.u))
            entering = np.flatnonzero(~self.inside & (scores > self._threshold(scores[self.inside])))
            if len(entering) == 0:
                break
            self._enter(entering[best(scores[entering], min(len(entering), 32 + 2 * self.problem.k))])
        self.x = np.concatenate((self.x, np.zeros(len(self.block) - len(self.x))))

    @property
    def u(self) -> Vector:
        support = np.flatnonzero(self.x)
        return self.x[support] @ self.block.rows[support].astype(np.float64)

    def _start_sets(self) -> None:
        """Swap local search from several starts; the best set stays."""
        k, block = self.problem.k, self.block
        uniform = np.full(len(block), k / len(block))
        starts = [best(self.x, k), search.greedy(block, int(np.argmax(block.relevance)))]
        starts.append(search.frank_wolfe(block, uniform))
        if self.rounds == 0:
            self._improve_set(starts.pop())
        for start in starts:
            self._improve_set(start)

    def _improve_set(self, start: Positions) -> None:
        found, count = search.swaps(self.block, start)
        self.swaps += count
        if self.block.value(found) > self.block.value(self.chosen):
            self.chosen = found

    def _swap_in_reserve(self) -> bool:
        """Bring rows of the reserve that gain by a swap into the block; whether there were any."""
        question = self.question()
        members = question.members @ question.w_set
        scores = self._reserve_scores(question.w_set)
        candidates = np.flatnonzero(~self.inside & (scores > members.min()))
        if len(candidates) == 0:
            return False
        gains = question.gains(self.reserve[candidates])
        positive = gains.max(axis=1) > question.gain
        if not positive.any():
            return False
        order = np.argsort(-gains, axis=0)[:4]
        entering = np.unique(candidates[order[np.take_along_axis(gains, order, axis=0) > question.gain]])
        self._enter(entering)
        return True

    def question(self) -> Question:
        """What pricing is asked: about the present set and dual vector."""
        u = self.u
        scores = self._reserve_scores(self.problem.direction(u))
        members = self.block.rows[self.chosen].astype(np.float64)
        gain = 2.0 * search.GAIN * (1.0 + self.problem.k)
        return Question(self.problem, members, u, np.sort(self.reserve_ids), self._threshold(scores), gain)

    def dual_scores(self) -> Vector:
        """The k best scores for w(u) in memory, in float64."""
        w = self.problem.direction(self.u)
        top = best(self._reserve_scores(w), min(self.problem.k, len(self.reserve_ids)))
        return self.reserve[top].astype(np.float64) @ w

    def lower_bound_by(self, scores: Vector) -> None:
        """Take D(u) if it is below the bound so far; `scores` hold the k best of the whole collection."""
        top = np.sort(scores)[-self.problem.k :]
        self.bound = min(self.bound, self.problem.dual_bound(self.u, top, self.facts.max_squared_norm))

    def take(self, ids: Ids, rows: Array) -> None:
        """Hold further rows in memory."""
        new = ~np.isin(ids, self.reserve_ids)
        self.reserve_ids = np.concatenate((self.reserve_ids, ids[new]))
        self.reserve = np.concatenate((self.reserve, rows[new]))
        self.inside = np.concatenate((self.inside, np.zeros(int(new.sum()), dtype=bool)))

    def _enter(self, positions: Positions) -> None:
        self.inside[positions] = True
        self.block.add(self.reserve_ids[positions], self.reserve[positions])

    def _reserve_scores(self, w: Vector) -> Array:
        return self.reserve @ w.astype(self.reserve.dtype)

    def _threshold(self, scores: Array) -> float:
        """The k-th best score."""
        return float(np.partition(scores, len(scores) - self.problem.k)[len(scores) - self.problem.k])
