"""The rounds of the certified solver: settle on the rows in memory, ask the collection, take in what helps."""

from __future__ import annotations

from typing import Any

import numpy as np

from breadth import kernels
from breadth.certified import starts
from breadth.certified.bench import Bench
from breadth.certified.bound import Bound
from breadth.certified.pricing import Pricing, Question
from breadth.certified.settle import settle
from breadth.oracles.protocol import Facts
from breadth.requests import Asking, Top


class Search:
    """The loop: settle on the rows in memory, ask the collection, take in what helps."""

    def __init__(self, bench: Bench, bound: Bound, pricing: Pricing, facts: Facts, tolerance: float) -> None:
        self.bench, self.bound, self.pricing, self._facts = bench, bound, pricing, facts
        self._tolerance, self._effort = tolerance, bench.effort
        self._idle = 0
        self._explored = False
        # The first rows are not those of the set, so a long search for sets among them is in vain.
        far = self._effort.begins_far(bench.problem.theta, bench.problem.k)
        self._lightly = far and not self._holds_everything()
        self.rounds = 0

    @property
    def stats(self) -> dict[str, Any]:
        """How the collection was asked, and what that took."""
        path = "in memory" if self._holds_everything() else self.pricing.name
        work = {"rounds": self.rounds, "swaps": self.bench.swaps}
        rows = {"block": len(self.bench.block), "held": len(self.bench.held)}
        return {"path": path, **kernels.describe(), **work, **rows}

    def _holds_everything(self) -> bool:
        return len(self.bench.held) == self._facts.size

    def run(self) -> Asking[str]:
        """Until no exchange gains and the bound hardly falls any more; why it ended."""
        yield from self._settle_first()
        while self.rounds < self._effort.rounds:
            self.rounds += 1
            if self._holds_everything():
                return self._end_in_memory()
            if self.bench.clock.is_over():
                yield from self._bound_by_relevance()
                return "time_limit"
            stopped = yield from self._price()
            if stopped is None:
                settle(self.bench, lightly=self._lightly)
            elif not self._improves_fully():
                return stopped
        return "rounds"

    def _improves_fully(self) -> bool:
        """Whether a full search finds a better set, where all rounds so far were settled lightly."""
        if not self._lightly:
            return False
        self._lightly, before = False, self.bench.value
        settle(self.bench)
        return self.bench.value > before

    def _settle_first(self) -> Asking[None]:
        """Settle on the rows that were fetched first; where much is left open, from more starts."""
        bench, effort = self.bench, self._effort
        settle(bench, lightly=self._lightly)
        if bench.is_closed() or bench.clock.is_over():
            return
        if bench.problem.k <= effort.few:
            starts.start_from_many(bench)
        low = bench.problem.theta < effort.low_theta
        if low:
            yield from starts.start_from_methods(bench, self._facts)
        elif bench.problem.k <= effort.few and bench.problem.theta < effort.loose_theta:
            yield from starts.start_from_greedy_searches(bench, self._facts)
        if low or bench.problem.k <= effort.few:
            settle(bench, again=True)

    def _end_in_memory(self) -> str:
        """All rows are held: what is settled in memory is settled for the collection."""
        self.bound.lower(self.bench.dual_scores())
        return "time_limit" if self.bench.clock.is_over() else "swap_optimal"

    def _price(self) -> Asking[str | None]:
        """Ask the collection and take in what helps; why to stop, or None."""
        bench, bound, effort = self.bench, self.bound, self._effort
        scores = bench.dual_scores()
        priced = yield from self.pricing.ask(Question.about(bench, scores))
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
        if new == 0 or bound.gap > (1.0 - effort.slow) * before:
            return "swap_optimal"
        self._lightly = False
        return None

    def _may_explore(self) -> bool:
        """Whether so much is left open for so small a k that greedy over the whole collection is worth its scans."""
        problem, effort = self.bench.problem, self._effort
        low = problem.theta < effort.low_theta
        small = problem.k <= (effort.far_k if low else effort.few)
        wide = effort.wide_when_low if low else effort.wide
        return small and not self._explored and self.bound.gap * problem.scale > wide * problem.spread

    def _bound_by_relevance(self) -> Asking[None]:
        """The time was up before anything was priced: one search still gives a bound."""
        if not np.isfinite(self.bound.value):
            problem = self.bench.problem
            found = yield from Top(problem.query[None], problem.k, least=problem.k)
            self.bound.lower_by_relevance(found.scores[0])
