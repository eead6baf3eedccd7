"""Pricing with the scores of all rows at hand: scan a direction once, then fetch what Cauchy-Schwarz cannot exclude."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from breadth.arrays import Array, Ids, Vector
from breadth.certified.effort import Effort
from breadth.certified.pricing.examine import examine
from breadth.certified.pricing.question import Priced, Question
from breadth.certified.pricing.screen import Screen
from breadth.certified.pricing.search import SearchPricing
from breadth.oracles.protocol import Facts
from breadth.problem import Problem
from breadth.ranking import best
from breadth.requests import Asking, Rows, Scores

_SAMPLE = 512
"""Rows of the collection that estimate how many rows a threshold lets through."""
_EXPLORED = 2048
"""Rows that lead for w(u), fetched where far too many rows are above the lowest member (low θ)."""


class ScreenPricing:
    """Most rounds need no scan: the scores of a few directions exclude most rows for any other."""

    name, begins_exactly = "screened", True

    def __init__(self, problem: Problem, facts: Facts, effort: Effort) -> None:
        self._problem, self._facts, self._effort = problem, facts, effort
        self._limit = max(4 * _SAMPLE, facts.size // 10)  # more rows than this: a scan is cheaper than fetching
        self._sample: Array | None = None
        self._explored = False

    def begin(self, count: int) -> Asking[Ids]:
        """The `count` most relevant ids; the relevance of all rows is the first direction of the screen."""
        scores = yield from Scores(self._problem.query[None])
        self._screen = Screen(self._problem, scores[0], self._facts.max_squared_norm)
        return np.asarray(best(scores[0], count), dtype=np.int64)

    def ask(self, question: Question) -> Asking[Priced]:
        """Fetch what the screen lets through; scan the directions of the question first where that is too much."""
        for_set = self._screen.above(question.w_set, question.lowest)
        directions = yield from self._choose_scans(question, len(for_set))
        if directions is None:
            return (yield from self._search_by_member(question))
        if directions:
            yield from self._scan(directions)
            for_set = self._screen.above(question.w_set, question.lowest)
        for_bound = self._screen.above(question.w_dual, question.threshold)
        if len(for_bound) > 2 * self._limit:  # many rows tie, or the sample misjudged: bounds on scores must do
            for_bound = for_bound[:0]
        if not directions or len(for_set) <= 2 * self._limit:
            return (yield from self._fetch(question, for_set, for_bound))
        if self._explored:
            return (yield from self._search_by_member(question))
        return (yield from self._explore(question, for_bound))

    def above(self, w: Vector, threshold: float, most: int) -> Asking[Ids | None]:
        """Ids of all rows with a score above the threshold and perhaps some below, None if more than `most`."""
        found = self._screen.above(w, threshold)
        if len(found) > max(most, self._limit):
            yield from self._scan([w])
            found = self._screen.above(w, threshold)
        return found if len(found) <= max(most, self._limit) else None

    def _choose_scans(self, question: Question, candidates: int) -> Asking[list[Vector] | None]:
        """Which directions of the question to scan first, in one pass; None where no scan would settle the set."""
        if candidates <= self._limit:
            for_bound = len(self._screen.above(question.w_dual, question.threshold))
            return [question.w_dual] if for_bound > self._limit else []
        sample = yield from self._take_sample()
        share = float(np.mean(sample @ question.w_set.astype(sample.dtype) > question.lowest))
        if share * self._facts.size > self._limit:
            return None if self._explored else [question.w_dual]
        after = self._screen.share_above(sample, question.w_dual, question.threshold, question.w_set)
        both = after * self._facts.size > self._limit
        return [question.w_set, question.w_dual] if both else [question.w_set]

    def _search_by_member(self, question: Question) -> Asking[Priced]:
        """Too many rows are above the lowest member: search for the best replacements of each member."""
        search = SearchPricing(self._problem, self._facts, self._effort, by_member=True)
        return (yield from search.ask(question))

    def _explore(self, question: Question, for_bound: Ids) -> Asking[Priced]:
        """The set is far from settled: first bring in what the dual vector asks for."""
        self._explored = True
        if self._problem.theta < self._effort.low_theta:
            for_bound = np.union1d(for_bound, self._screen.leading(question.w_dual, _EXPLORED))
        priced = yield from self._fetch(question, for_bound[:0], for_bound, keep_all=True)
        return replace(priced, swap_optimal=False)

    def _scan(self, directions: list[Vector]) -> Asking[None]:
        """Score all rows for some directions, in one pass, and keep that."""
        scores = yield from Scores(np.array(directions))
        for w, found in zip(directions, scores, strict=True):
            self._screen.learn(w, found)

    def _take_sample(self) -> Asking[Array]:
        """A few rows of the whole collection."""
        if self._sample is None:
            rng = np.random.default_rng(0)
            ids = np.sort(rng.choice(self._facts.size, min(_SAMPLE, self._facts.size), replace=False))
            self._sample = yield from Rows(ids.astype(np.int64))
        return self._sample

    def _fetch(self, question: Question, for_set: Ids, for_bound: Ids, keep_all: bool = False) -> Asking[Priced]:
        """Fetch rows and see which of them help; the screen bounds the rest."""
        found = yield from examine(question, for_set, for_bound, keep_all)
        others = self._screen.bounds(question.w_dual)
        others[question.held] = others[for_set] = others[for_bound] = -np.inf
        rest = others[self._problem.allowed.best(others)].astype(np.float64)
        return replace(found, scores=np.concatenate((found.scores, rest)))
