"""Pricing: does any row outside the rows in memory improve the set (by a swap) or the bound?

Two ways with one interface. `SearchPricing` uses maximum inner product search alone, so it works on every engine.
`ScreenPricing` is for collections that can score all rows (arrays): it keeps the scores and fetches only rows that
Cauchy-Schwarz cannot exclude, so most rounds need no scan.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from breadth.oracles.protocol import Facts
from breadth.oracles.requests import Asking, Rows, Scores, Top
from breadth.pool.question import PER_MEMBER, Question
from breadth.pool.workbench import LOW_THETA
from breadth.problem import Array, Ids, Problem, Vector
from breadth.ranking import best
from breadth.solvers.screen import Screen

_CHUNK = 8192
_SAMPLE = 512
_EXPLORE = 2048


@dataclass(frozen=True, eq=False)
class Priced:
    """`ids`, `rows`: worth having in memory. `swap_optimal`: no row outside memory gains by a swap.

    `best_u`: with the scores in memory they bound the sum of the k best scores for w(u) of the whole collection.
    """

    ids: Ids
    rows: Array
    best_u: Vector
    swap_optimal: bool


class Pricing(Protocol):
    """How a collection is asked."""

    def begin(self, count: int) -> Asking:
        """The `count` most relevant ids (the first scan)."""

    def ask(self, question: Question) -> Asking:
        """A `Priced` for the question."""

    def above(self, w: Vector, threshold: float, most: int) -> Asking:
        """Ids of all rows with a score above the threshold (and perhaps some below), None if more than `most`."""


class SearchPricing:
    """By searches alone: one batch of two, and one search for each member where that cannot settle it."""

    def __init__(self, problem: Problem, facts: Facts, many_above: bool = False) -> None:
        self._problem, self._facts = problem, facts
        self._many_above = many_above

    def begin(self, count: int) -> Asking:
        ids, _ = yield Top(self._problem.query[None], count)
        return ids[0]

    def ask(self, question: Question) -> Asking:
        k, size = self._problem.k, self._facts.size
        by_member = self._many_above
        directions = question.member_directions() if by_member else question.w_set[None]
        wanted = min(size, k + PER_MEMBER if by_member else max(256, 4 * k))
        ids, scores = yield Top(np.vstack((directions, question.w_dual)), wanted)
        settled = by_member or wanted == size or bool(scores[0, -1] <= question.lowest)
        self._many_above = not settled
        floor = (question.floors + question.gain)[:, None] if by_member else question.lowest
        above = ids[-1][scores[-1] > question.threshold_u]
        new = np.setdiff1d(np.concatenate((ids[:-1][scores[:-1] > floor], above)), question.held)
        rows = yield Rows(new)
        gaining = len(question.replacements(np.asarray(rows, dtype=np.float64))) > 0
        best_u = scores[-1][~np.isin(ids[-1], question.held)][:k]
        if wanted < size:  # no row that was not found scores higher than the last one that was
            best_u = np.concatenate((best_u, np.full(k, scores[-1, -1])))
        return Priced(new, rows, best_u, settled and not gaining)

    def above(self, w: Vector, threshold: float, most: int) -> Asking:
        ids, scores = yield Top(w[None], min(most, self._facts.size))
        if scores[0, -1] > threshold and most < self._facts.size:
            return None
        return ids[0][scores[0] > threshold]


class ScreenPricing:
    """With the scores of all rows at hand: scan a direction once, then fetch what Cauchy-Schwarz cannot exclude."""

    def __init__(self, problem: Problem, facts: Facts) -> None:
        self._problem, self._facts = problem, facts
        self._limit = max(4 * _SAMPLE, facts.size // 10)  # more rows than this: a scan is cheaper than fetching
        self._screen: Screen | None = None
        self._sample: Array | None = None
        self._explored = False

    def begin(self, count: int) -> Asking:
        relevance = (yield Scores(self._problem.query[None]))[0]
        self._screen = Screen(self._problem, relevance, self._facts.max_squared_norm)
        return best(relevance, count).astype(np.int64)

    def ask(self, question: Question) -> Asking:
        assert self._screen is not None
        lowest = question.lowest
        for_set = self._screen.above(question.w_set, lowest)
        too_many = len(for_set) > self._limit
        for_dual = for_set[:0] if too_many else self._screen.above(question.w_dual, question.threshold_u)
        if too_many:
            sample = yield from self._sampled()
            if np.mean(sample @ question.w_set.astype(sample.dtype) > lowest) * self._facts.size <= self._limit:
                share = self._screen.share_above(sample, question.w_dual, question.threshold_u, question.w_set)
                also = share * self._facts.size > self._limit
                yield from self._scan([question.w_set, question.w_dual] if also else [question.w_set])
            elif self._explored:
                return (yield from SearchPricing(self._problem, self._facts, many_above=True).ask(question))
            else:
                yield from self._scan([question.w_dual])
        elif len(for_dual) > self._limit:
            yield from self._scan([question.w_dual])
        else:
            return (yield from self._fetch(question, for_set, for_dual, settles=True))
        for_dual = self._screen.above(question.w_dual, question.threshold_u)
        for_set = self._screen.above(question.w_set, lowest)
        if len(for_set) > 2 * self._limit and self._explored:
            return (yield from SearchPricing(self._problem, self._facts, many_above=True).ask(question))
        if len(for_dual) > 2 * self._limit:  # many rows tie, or the sample misjudged: bounds on scores must do
            for_dual = for_dual[:0]
        if len(for_set) > 2 * self._limit:  # too far from settled: first bring in what the dual vector asks for
            self._explored = True
            if self._problem.theta < LOW_THETA:
                for_dual = np.union1d(for_dual, self._screen.leading(question.w_dual, _EXPLORE))
            return (yield from self._fetch(question, for_set[:0], for_dual, settles=False, keep_all=True))
        return (yield from self._fetch(question, for_set, for_dual, settles=True))

    def above(self, w: Vector, threshold: float, most: int) -> Asking:
        assert self._screen is not None
        found = self._screen.above(w, threshold)
        if len(found) > max(most, self._limit):
            yield from self._scan([w])
            found = self._screen.above(w, threshold)
        return found if len(found) <= max(most, self._limit) else None

    def _scan(self, directions: list[Vector]) -> Asking:
        """Score all rows for some directions, in one pass, and keep that."""
        assert self._screen is not None
        for w, scores in zip(directions, (yield Scores(np.array(directions))), strict=True):
            self._screen.learn(w, scores)

    def _sampled(self) -> Asking:
        """A few rows of the whole collection, to estimate how many rows a threshold lets through."""
        if self._sample is None:
            rng = np.random.default_rng(0)
            ids = np.sort(rng.choice(self._facts.size, min(_SAMPLE, self._facts.size), replace=False))
            self._sample = yield Rows(ids.astype(np.int64))
        return self._sample

    def _fetch(
        self,
        question: Question,
        for_set: Ids,
        for_dual: Ids,
        settles: bool,
        keep_all: bool = False,
    ) -> Asking:
        """Fetch the rows, chunk by chunk, and keep those that gain by a swap or move the bound."""
        k = self._problem.k
        is_for_set = np.zeros(self._facts.size, dtype=bool)
        is_for_set[for_set] = True
        is_wanted = is_for_set.copy()
        is_wanted[for_dual] = True
        is_wanted[question.held] = False
        wanted = np.flatnonzero(is_wanted).astype(np.int64)
        empty: Array = np.empty((0, len(self._problem.query)), dtype=np.float32)
        nothing: Vector = np.empty(0)
        keep_ids, keep_rows, dual_scores = [wanted[:0]], [empty], [nothing]
        gained = False
        for start in range(0, len(wanted), _CHUNK):
            ids = wanted[start : start + _CHUNK]
            rows = yield Rows(ids)
            scores = np.asarray(rows @ question.w_dual.astype(rows.dtype), dtype=np.float64)
            above = np.flatnonzero(scores > question.threshold_u)
            dual_scores.append(scores[best(scores, min(k, len(scores)))])
            candidates = np.flatnonzero(is_for_set[ids])
            replacements = candidates[question.replacements(rows[candidates])]
            gained |= len(replacements) > 0
            if keep_all:
                above = np.arange(len(ids))
            keep = np.union1d(
                replacements, above if keep_all else above[best(scores[above], min(len(above), max(256, 4 * k)))]
            )
            keep_ids.append(ids[keep])
            keep_rows.append(rows[keep])
        assert self._screen is not None
        others = self._screen.bounds(question.w_dual)
        others[question.held] = others[wanted] = -np.inf
        top = np.concatenate((*dual_scores, others[best(others, k)]))
        return Priced(np.concatenate(keep_ids), np.concatenate(keep_rows), top, settles and not gained)


def pricing_for(problem: Problem, facts: Facts) -> Pricing:
    """The better way for this collection."""
    return ScreenPricing(problem, facts) if facts.scores_all else SearchPricing(problem, facts)
