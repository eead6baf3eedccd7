"""Pricing: does any row outside the rows in memory improve the set (by a swap) or the bound?

Two ways with one interface. `SearchPricing` uses maximum inner product search alone, so it works on every engine.
`ScreenPricing` is for collections that can score all rows (arrays): it keeps the scores and fetches only rows that
Cauchy-Schwarz cannot exclude, so most rounds need no scan.

A swap of i for member j gains e_i·(w + 2(1-θ)e_j) - e_j·w - 2(1-θ). So rows below the lowest member's e_j·w cannot
gain; and where too many rows are above it, one search for each member finds its best replacement exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from breadth.oracles.protocol import Facts
from breadth.oracles.requests import Asking, Rows, Scores, Top
from breadth.problem import Array, Ids, Problem, Vector
from breadth.ranking import best
from breadth.solvers.screen import Screen

_CHUNK = 8192
_PER_MEMBER = 4
_SAMPLE = 512


@dataclass(frozen=True, eq=False)
class Question:
    """A set and a dual vector, asked about: `members` (k, d) float64 rows, `u`, and what is in memory already."""

    problem: Problem
    members: Vector
    u: Vector
    held: Ids
    threshold_u: float
    gain: float

    @property
    def w_set(self) -> Vector:
        return self.problem.direction(self.members.sum(axis=0))

    @property
    def w_dual(self) -> Vector:
        return self.problem.direction(self.u)

    @property
    def coupling(self) -> float:
        return 2.0 * (1.0 - self.problem.theta)

    def gains(self, rows: Array) -> Vector:
        """What swapping each row in would gain, for each member out: (rows, k)."""
        similar = self.problem.similar
        scores = rows @ self.w_set
        members = self.members @ self.w_set
        cross = similar(rows) @ similar(self.members).T
        gains: Vector = scores[:, None] + self.coupling * cross - (members + self.coupling)
        return gains


@dataclass(frozen=True, eq=False)
class Priced:
    """`ids`, `rows`: worth having in memory. `best_u`: scores for w(u) of rows not held that may be among the k best.

    `complete_u`: no other row outside has a score for w(u) above the threshold. `swap_optimal`: no row outside gains.
    """

    ids: Ids
    rows: Array
    best_u: Vector
    complete_u: bool
    swap_optimal: bool


class Pricing(Protocol):
    def begin(self, count: int) -> Asking:
        """The `count` most relevant ids (the first scan)."""

    def ask(self, question: Question) -> Asking:
        """A `Priced` for the question."""


class SearchPricing:
    """By searches alone: one batch of two, and one search for each member where that cannot settle it."""

    def __init__(self, problem: Problem, facts: Facts) -> None:
        self._problem, self._facts = problem, facts
        self._many_above = False

    def begin(self, count: int) -> Asking:
        ids, _ = yield Top(self._problem.query[None], count)
        return ids[0]

    def ask(self, question: Question) -> Asking:
        k, size = self._problem.k, self._facts.size
        members = question.members @ question.w_set
        directions, wanted = question.w_set[None], min(size, max(256, 4 * k))
        if self._many_above:
            directions, wanted = member_directions(question), min(size, k + _PER_MEMBER)
        ids, scores = yield Top(np.vstack((directions, question.w_dual)), wanted)
        settled = wanted == size or self._many_above or scores[0, -1] <= members.min()
        self._many_above = not settled
        new = np.setdiff1d(_worth(ids, scores, members, question, settled and len(directions) > 1), question.held)
        rows = yield Rows(new)
        wide = np.asarray(rows, dtype=np.float64)
        gaining = question.gains(wide).max(axis=1, initial=-np.inf) > question.gain
        fresh = ~np.isin(ids[-1], question.held)
        complete = wanted == size or scores[-1, -1] <= question.threshold_u or fresh.sum() >= k
        return Priced(new, rows, scores[-1][fresh][:k], bool(complete), bool(settled and not gaining.any()))


def member_directions(question: Question) -> Vector:
    """w + 2(1-θ)e_j for each member j: the best row for it is the member's best replacement."""
    directions = np.repeat(question.w_set[None], len(question.members), axis=0)
    question.problem.similar(directions)[:] += question.coupling * question.problem.similar(question.members)
    return directions


def _worth(ids: Ids, scores: Vector, members: Vector, question: Question, by_member: bool) -> Ids:
    """Which of the rows found are worth fetching: possible replacements, and rows that move the bound."""
    for_bound = ids[-1][scores[-1] > question.threshold_u]
    floor = (members + question.coupling + question.gain)[:, None] if by_member else members.min()
    return np.unique(np.concatenate((ids[:-1][scores[:-1] > floor], for_bound)))


class ScreenPricing:
    """With the scores of all rows at hand: scan a direction once, then fetch what Cauchy-Schwarz cannot exclude."""

    def __init__(self, problem: Problem, facts: Facts) -> None:
        self._problem, self._facts = problem, facts
        self._limit = max(4 * _SAMPLE, facts.size // 10)  # more rows than this: a scan is cheaper than fetching
        self._screen: Screen | None = None
        self._sample: Array | None = None
        self._explored = False
        self.screened = 0

    def begin(self, count: int) -> Asking:
        relevance = (yield Scores(self._problem.query[None]))[0]
        self._screen = Screen(self._problem, relevance, self._facts.max_squared_norm)
        return best(relevance, count).astype(np.int64)

    def ask(self, question: Question) -> Asking:
        assert self._screen is not None
        lowest = float((question.members @ question.w_set).min())
        for_set = self._screen.above(question.w_set, lowest)
        for_dual = self._screen.above(question.w_dual, question.threshold_u)
        if len(for_set) > self._limit:
            share = yield from self._share_above(question.w_set, lowest)
            if share * self._facts.size <= self._limit:
                for_set = yield from self._scan(question.w_set, lowest)
                for_dual = self._screen.above(question.w_dual, question.threshold_u)
            elif self._explored:
                return (yield from self._by_member(question))
        if len(for_dual) > self._limit:
            for_dual = yield from self._scan(question.w_dual, question.threshold_u)
            for_set = self._screen.above(question.w_set, lowest)
        if len(for_set) > self._limit:  # too far from settled: first bring in what the dual vector asks for
            self._explored = True
            return (yield from self._fetch(question, for_set[:0], for_dual))
        self.screened += 1
        return (yield from self._fetch(question, for_set, for_dual, settles=True))

    def _scan(self, w: Vector, threshold: float) -> Asking:
        assert self._screen is not None
        scores = (yield Scores(w[None]))[0]
        self._screen.learn(w, scores)
        return np.flatnonzero(scores > threshold - 1e-6 * float(np.linalg.norm(w))).astype(np.int64)

    def _share_above(self, w: Vector, threshold: float) -> Asking:
        """The share of rows above the threshold, from a sample."""
        if self._sample is None:
            rng = np.random.default_rng(0)
            ids = np.sort(rng.choice(self._facts.size, min(_SAMPLE, self._facts.size), replace=False))
            self._sample = yield Rows(ids.astype(np.int64))
        return float(np.mean(self._sample @ w.astype(self._sample.dtype) > threshold))

    def _by_member(self, question: Question) -> Asking:
        search = SearchPricing(self._problem, self._facts)
        search._many_above = True
        return (yield from search.ask(question))

    def _fetch(self, question: Question, for_set: Ids, for_dual: Ids, settles: bool = False) -> Asking:
        """Fetch the rows, chunk by chunk, and keep those that gain by a swap or move the bound."""
        k = self._problem.k
        wanted = np.setdiff1d(np.union1d(for_set, for_dual), question.held)
        keep_ids: list[Ids] = [np.empty(0, dtype=np.int64)]
        keep_rows: list[Array] = []
        dual_scores: list[Vector] = [np.empty(0)]
        gained = False
        for start in range(0, len(wanted), _CHUNK):
            ids = wanted[start : start + _CHUNK]
            rows = yield Rows(ids)
            scores = np.asarray(rows @ question.w_dual.astype(rows.dtype), dtype=np.float64)
            keep = np.zeros(len(ids), dtype=bool)
            above = np.flatnonzero(scores > question.threshold_u)
            keep[above[best(scores[above], min(len(above), max(256, 4 * k)))]] = True
            dual_scores.append(scores[above])
            candidates = np.flatnonzero(np.isin(ids, for_set))
            if len(candidates):
                gains = question.gains(rows[candidates])
                positive = gains > question.gain
                gained |= bool(positive.any())
                order = np.argsort(-gains, axis=0)[:_PER_MEMBER]
                chosen = order[np.take_along_axis(positive, order, axis=0)]
                keep[candidates[chosen]] = True
            keep_ids.append(ids[keep])
            keep_rows.append(rows[keep])
        empty: Array = np.empty((0, len(self._problem.query)), dtype=np.float32)
        rows = np.concatenate(keep_rows) if keep_rows else empty
        found = np.concatenate(dual_scores)
        top = found[best(found, min(k, len(found)))]
        return Priced(np.concatenate(keep_ids), rows, top, True, settles and not gained)


def pricing_for(problem: Problem, facts: Facts) -> Pricing:
    """The better way for this collection."""
    return ScreenPricing(problem, facts) if facts.scores_all else SearchPricing(problem, facts)
