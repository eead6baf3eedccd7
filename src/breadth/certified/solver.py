"""The certified solver: column generation over any oracle, swap local search, and a proof.

The problem is solved on rows in memory (`bench.py`, `settle.py`). The collection is asked only whether a row outside
would improve the set or the bound (`pricing/`). It ends when no exchange of one member, with any row of the collection,
gains.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from breadth import kernels
from breadth.certified import starts
from breadth.certified.bench import Bench
from breadth.certified.bound import Bound
from breadth.certified.effort import EFFORT, Effort
from breadth.certified.pricing import Pricing, Question, choose_pricing
from breadth.certified.prove import prove_optimal
from breadth.certified.settle import settle
from breadth.checks import check_number
from breadth.clock import NO_LIMIT, Clock
from breadth.oracles.protocol import Facts
from breadth.problem import Problem
from breadth.requests import Asking, Rows, Top
from breadth.selection import Selection, conclude


def certified(
    problem: Problem,
    facts: Facts,
    *,
    clock: Clock = NO_LIMIT,
    tolerance: float = 0.0,
    prove: float = 0.0,
    effort: Effort = EFFORT,
) -> Asking[Selection]:
    """Find the best set that any known method finds, with a bound on the optimum.

    tolerance   Stop as soon as the gap (reported scale) is at most this.
    prove       Seconds to spend on closing the gap once the set is found. Rows that can be in no better set are
                excluded; where few remain, a tighter relaxation and branch and bound go on until the set is proved
                optimal (`certificate.optimal`) or the time is up. A better set found on the way is returned.
    effort      How hard to work, see `breadth.certified.effort`.

    `stats["stopped"]` says why it ended: "swap_optimal" (no exchange of one member with any row of the collection
    gains), "tolerance", "time_limit", "ties" (so many rows tie that nothing could be settled), "rounds" (a limit that
    is there for safety) or, with `prove`, "optimal" and "prove" (a better set was found, but its own proof ran out of
    time).
    """
    check_number(tolerance, "tolerance", 0.0)
    check_number(prove, "prove", 0.0)
    if problem.theta == 1.0 or problem.k in (1, facts.size):
        return (yield from _take_most_relevant(problem, facts))
    pricing = choose_pricing(problem, facts, effort)
    bench = yield from _open_bench(problem, facts, pricing, clock, effort)
    bound = Bound(bench)
    if pricing.begins_exactly and len(bench.held) < facts.size:
        bound.lower_by_relevance(bench.held.exact_scores(bench.held.best(problem.query, problem.k), problem.query))
    search = _Search(bench, bound, pricing, facts, tolerance)
    stopped = yield from search.run()
    ids, rows = bench.chosen_ids, bench.chosen_rows
    stats: dict[str, Any] = {"path": search.path, "kernels": kernels.current().NAME, "rounds": search.rounds}
    stats |= {"swaps": bench.swaps, "block": len(bench.block), "held": len(bench.held)}
    if prove > 0.0 and stopped == "swap_optimal":
        proof = yield from prove_optimal(bench, bound, pricing, facts, clock.within(prove))
        ids, rows, stopped = proof.ids, proof.rows, proof.stopped
        stats |= proof.stats
    stats["stopped"] = stopped
    settled = stopped in ("swap_optimal", "optimal")
    return conclude(
        problem, ids, rows, "certified", bound=bound.value, exact=facts.exact, swap_optimal=settled, stats=stats
    )


def _take_most_relevant(problem: Problem, facts: Facts) -> Asking[Selection]:
    """θ = 1, a single row, or all rows: the most relevant ones are the optimum."""
    ids = (yield from Top(problem.query[None], problem.k)).ids[0]
    rows = yield from Rows(ids)
    stats = {"stopped": "swap_optimal", "rounds": 0, "swaps": 0, "block": problem.k, "held": problem.k}
    value = problem.value(rows)
    return conclude(problem, ids, rows, "certified", bound=value, exact=facts.exact, swap_optimal=True, stats=stats)


def _open_bench(problem: Problem, facts: Facts, pricing: Pricing, clock: Clock, effort: Effort) -> Asking[Bench]:
    """A bench that holds the whole collection if it is small, else the rows that relevance says may matter."""
    low = problem.theta < effort.low_theta
    numbered = facts.scores_all or facts.reaches  # ids are then 0 … size-1
    if numbered and facts.size <= (effort.whole_when_low if low else effort.whole):
        first = np.arange(facts.size)
    else:
        count = effort.held if problem.theta < effort.near_theta else effort.held_when_near
        first = yield from pricing.begin(min(facts.size, max(count, effort.held_for_each * problem.k)))
    rows = yield from Rows(first)
    return Bench(problem, first, rows, facts.max_squared_norm, clock, effort)


class _Search:
    """The loop: settle on the rows in memory, ask the collection, take in what helps."""

    def __init__(self, bench: Bench, bound: Bound, pricing: Pricing, facts: Facts, tolerance: float) -> None:
        self._bench, self._bound, self._pricing, self._facts = bench, bound, pricing, facts
        self._tolerance, self._effort = tolerance, bench.effort
        self._idle = 0
        self._explored = False
        self.rounds = 0

    @property
    def path(self) -> str:
        """How the collection was asked."""
        return "in memory" if self._holds_everything() else self._pricing.name

    def _holds_everything(self) -> bool:
        return len(self._bench.held) == self._facts.size

    def run(self) -> Asking[str]:
        """Until no exchange gains and the bound hardly falls any more; why it ended."""
        yield from self._settle_first()
        while self.rounds < self._effort.rounds:
            self.rounds += 1
            if self._holds_everything():
                return self._end_in_memory()
            if self._bench.clock.is_over():
                yield from self._bound_by_relevance()
                return "time_limit"
            stopped = yield from self._price()
            if stopped is not None:
                return stopped
            settle(self._bench)
        return "rounds"

    def _settle_first(self) -> Asking[None]:
        """Settle on the rows that were fetched first; where much is left open, from more starts."""
        bench, effort = self._bench, self._effort
        settle(bench)
        if bench.is_closed() or bench.clock.is_over():
            return
        if bench.problem.k <= effort.few:
            starts.start_from_many(bench)
        low = bench.problem.theta < effort.low_theta
        if low:
            yield from starts.start_from_methods(bench, self._facts)
        if low or bench.problem.k <= effort.few:
            settle(bench, again=True)

    def _end_in_memory(self) -> str:
        """All rows are held: what is settled in memory is settled for the collection."""
        self._bound.lower(self._bench.dual_scores())
        return "time_limit" if self._bench.clock.is_over() else "swap_optimal"

    def _price(self) -> Asking[str | None]:
        """Ask the collection and take in what helps; why to stop, or None."""
        bench, bound, effort = self._bench, self._bound, self._effort
        scores = bench.dual_scores()
        priced = yield from self._pricing.ask(Question.about(bench, scores))
        before = bound.gap
        bound.lower(np.concatenate((scores, priced.scores)))
        new = bench.take(priced.ids, priced.rows)
        self._idle = self._idle + 1 if new == 0 and not priced.swap_optimal else 0
        if self._idle == effort.idle:
            return "ties"
        if 0.0 < bound.gap <= self._tolerance:
            return "tolerance"
        if not priced.swap_optimal:
            return None
        if self._may_explore():
            self._explored = True
            yield from starts.start_everywhere(bench, self._facts.size)
            return None
        return "swap_optimal" if new == 0 or bound.gap > (1.0 - effort.slow) * before else None

    def _may_explore(self) -> bool:
        """Whether so much is left open for so small a k that greedy over the whole collection is worth its scans."""
        problem, effort = self._bench.problem, self._effort
        low = problem.theta < effort.low_theta
        small = problem.k <= (effort.far_k if low else effort.few)
        wide = effort.wide_when_low if low else effort.wide
        return small and not self._explored and self._bound.gap * problem.scale > wide * problem.spread

    def _bound_by_relevance(self) -> Asking[None]:
        """The time was up before anything was priced: one search still gives a bound."""
        if not np.isfinite(self._bound.value):
            problem = self._bench.problem
            found = yield from Top(problem.query[None], problem.k)
            self._bound.lower_by_relevance(found.scores[0])
