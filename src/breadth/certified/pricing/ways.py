"""Pricing: does any row outside the rows in memory improve the set (by a swap) or the bound?

Three ways with one interface. `SearchPricing` uses maximum inner product search alone, so it works on every engine.
`ReachPricing` is for collections that can search by threshold: one pass settles it.
`ScreenPricing` is for collections that can score all rows (arrays): it keeps the scores and fetches only rows that
Cauchy-Schwarz cannot exclude, so most rounds need no scan.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from breadth.certified.pricing.question import PER_MEMBER, Question
from breadth.certified.pricing.screen import Screen
from breadth.certified.workbench import LOW_THETA
from breadth.oracles.protocol import Facts, Reached
from breadth.problem import Array, Ids, Problem, Vector
from breadth.products import product
from breadth.ranking import best
from breadth.requests import Above, Asking, Rows, Scores, Top

_CHUNK = 8192
_SAMPLE = 512
_EXPLORE = 2048
_FETCHED, _FEW = 8192, 1024
"""Rows that are fetched to look at them; and where far more would have to be, so many that lead."""
_EXPLORATIONS = 2
"""So many times leading rows are brought in before every member's replacements are searched for."""
_RELEVANT = 64
"""One row in so many is remembered from the first search."""
_REMEMBERED, _MARGIN = 16, 0.4
"""One row in so many is remembered at the most; and how far below the threshold rows are, as a multiple of 2(1-θ)√k: a
swap moves w by at most twice 2(1-θ)."""


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

    name: str
    begins_exactly: bool

    def begin(self, count: int) -> Asking:
        """The `count` most relevant ids (the first scan); about so, where `begins_exactly` is False."""

    def ask(self, question: Question) -> Asking:
        """A `Priced` for the question."""

    def above(self, w: Vector, threshold: float, most: int) -> Asking:
        """Ids of all rows with a score above the threshold (and perhaps some below), None if more than `most`."""


class SearchPricing:
    """By searches alone: one batch of two, and one search for each member where that cannot settle it."""

    name, begins_exactly = "searched", True

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

    name, begins_exactly = "screened", True

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
        """Fetch the rows and see which of them help; the screen bounds the rest."""
        k = self._problem.k
        found: Priced = yield from _examine(question, for_set, for_dual, keep_all)
        assert self._screen is not None
        others = self._screen.bounds(question.w_dual)
        others[question.held] = others[for_set] = others[for_dual] = -np.inf
        top = np.concatenate((found.best_u, others[best(others, k)].astype(np.float64)))
        return replace(found, best_u=top, swap_optimal=settles and found.swap_optimal)


class ReachPricing:
    """With searches by threshold: one pass finds every row that could gain by a swap or move the bound.

    The pass also names the rows around these. A direction close to the last one is then answered from them: by
    Cauchy-Schwarz no other row can have come up.
    """

    name, begins_exactly = "reached", False

    def __init__(self, problem: Problem, facts: Facts) -> None:
        self._problem, self._facts = problem, facts
        self._known: list[_Relevant | _Around] = []
        self._explored = 0

    def begin(self, count: int) -> Asking:
        size = self._facts.size
        most = np.array([max(4 * count, size // _RELEVANT)])
        (found,) = yield Above(self._problem.query[None], np.array([-np.inf]), most)
        self._known.append(_Relevant(self._problem, found.ceiling, found.ids, self._facts.max_squared_norm))
        if len(found.ids) < count:
            return (yield Top(self._problem.query[None], count))[0][0]
        return np.sort(_leading(found, -np.inf, count)[0])

    def ask(self, question: Question) -> Asking:
        k, size = self._problem.k, self._facts.size
        directions = np.vstack((question.w_set, question.w_dual))
        thresholds = np.array([question.lowest, question.threshold_u])
        known = [place for place in self._known if place.answers(directions, thresholds)]
        if known:
            most = np.array([size, size])
            for_set, for_dual = yield Above(directions, thresholds, most, known[-1].ids)
        else:
            most = np.full(2, max(_FETCHED, size // _REMEMBERED))
            margin = _MARGIN * question.coupling * np.sqrt(k)
            for_set, for_dual = yield Above(directions, thresholds - margin, most)
            self._known[1:] = [_Around.of(directions, (for_set, for_dual), self._facts.max_squared_norm)]
        settles = for_set.ceiling <= question.lowest
        candidates = _without(for_set.above(question.lowest), question.held)
        moving, ceiling = _leading(for_dual, question.threshold_u, _FETCHED)
        if not settles and self._explored < _EXPLORATIONS:
            self._explored += 1
            wanted = np.union1d(_leading(for_set, -np.inf, _FEW)[0], moving[:_FEW])
            found: Priced = yield from _examine(question, wanted, moving, keep_all=True)
        else:
            if not settles or len(candidates) > _FETCHED:
                # Too many to fetch are above the lowest member: which of them come near any one member's floor?
                floors = question.floors + question.gain
                within = candidates if settles else None
                near = yield Above(question.member_directions(), floors, np.full(k, _FETCHED), within)
                settles = all(n.ceiling <= floor for n, floor in zip(near, floors, strict=True))
                candidates = np.unique(np.concatenate([n.ids for n in near]))
            found = yield from _examine(question, candidates, moving, keep_all=False)
        top = np.concatenate((found.best_u, np.full(k, ceiling)))
        return replace(found, best_u=top, swap_optimal=settles and found.swap_optimal)

    def above(self, w: Vector, threshold: float, most: int) -> Asking:
        (found,) = yield Above(w[None], np.array([threshold]), np.array([most]))
        return found.ids if found.ceiling <= threshold else None


@dataclass(frozen=True, eq=False)
class _Relevant:
    """The most relevant rows: no other row has a relevance above `ceiling`."""

    problem: Problem
    ceiling: float
    ids: Ids
    longest: float

    def answers(self, directions: Vector, thresholds: Vector) -> bool:
        """Whether no other row can be above these thresholds for these directions.

        With w = αq + w⊥, a row of relevance c scores at most αc + ‖w⊥‖ √(‖e‖² - c²), for a unit q: concave in c, with
        its largest value at c = α‖e‖/‖w‖. A relevance from outside is a coordinate of its own: αc + ‖w⊥‖‖e‖.
        """
        q, longest = self.problem.query, np.sqrt(self.longest)
        length = float(np.linalg.norm(q))
        for w, threshold in zip(directions, thresholds, strict=True):
            alpha = float(w @ q) / length
            across = float(np.linalg.norm(w - alpha * q / length))
            c = self.ceiling / length
            if self.problem.similarity_dim is not None:
                bound = alpha * c + across * longest if alpha >= 0.0 else np.inf
            else:
                c = min(c, alpha * longest / max(float(np.hypot(alpha, across)), 1e-30))
                bound = alpha * c + across * float(np.sqrt(max(self.longest - c * c, 0.0)))
            if bound + 1e-6 * float(np.linalg.norm(w)) > threshold:
                return False
        return True


@dataclass(frozen=True, eq=False)
class _Around:
    """Rows around what a pass found. For `directions` no other row scored above `ceilings`."""

    directions: Vector
    ceilings: Vector
    ids: Ids
    longest: float

    @classmethod
    def of(cls, directions: Vector, found: tuple[Reached, Reached], longest: float) -> _Around:
        ceilings = np.array([reached.ceiling for reached in found])
        ids = np.sort(np.concatenate((found[0].ids, found[1].ids)), kind="stable")  # merges two sorted runs
        return cls(directions, ceilings, ids[np.concatenate((ids[1:] != ids[:-1], [True]))], longest)

    def answers(self, directions: Vector, thresholds: Vector) -> bool:
        """Whether no other row can be above these thresholds for these directions."""
        moved = np.linalg.norm(directions - self.directions, axis=1) * np.sqrt(self.longest)
        rounding = 1e-6 * np.linalg.norm(directions, axis=1)
        return bool(np.all(self.ceilings + moved + rounding <= thresholds))


def _leading(reached: Reached, threshold: float, most: int) -> tuple[Ids, float]:
    """The rows above a threshold, the best `most` of them if they are more, and what no other row exceeds."""
    above = np.flatnonzero(reached.at_most > threshold)
    if len(above) <= most:
        return reached.ids[above], max(threshold, reached.ceiling)
    order = above[best(reached.at_most[above], most + 1)]
    return reached.ids[order[:-1]], float(reached.at_most[order[-1]])


def _without(ids: Ids, held: Ids) -> Ids:
    """The ids that are not among `held`, which is sorted."""
    places = np.minimum(np.searchsorted(held, ids), len(held) - 1)
    outside: Ids = ids[held[places] != ids]
    return outside


def _examine(question: Question, for_set: Ids, for_dual: Ids, keep_all: bool) -> Asking:
    """Fetch rows, chunk by chunk, and keep those that gain by a swap or move the bound, or all.

    The answer speaks of these rows alone.
    """
    k = question.problem.k
    wanted = _without(np.union1d(for_set, for_dual), question.held)
    empty: Array = np.empty((0, len(question.problem.query)), dtype=np.float32)
    nothing: Vector = np.empty(0)
    keep_ids, keep_rows, dual_scores = [wanted[:0]], [empty], [nothing]
    gained = False
    for start in range(0, len(wanted), _CHUNK):
        ids = wanted[start : start + _CHUNK]
        rows = yield Rows(ids)
        scores = np.asarray(product(rows, question.w_dual), dtype=np.float64)
        above = np.flatnonzero(scores > question.threshold_u)
        dual_scores.append(scores[best(scores, min(k, len(scores)))])
        candidates = np.flatnonzero(np.isin(ids, for_set, assume_unique=True))
        replacements = candidates[question.replacements(rows[candidates])]
        gained |= len(replacements) > 0
        leading = above[best(scores[above], min(len(above), max(256, 4 * k)))]
        keep = np.arange(len(ids)) if keep_all else np.union1d(replacements, leading)
        keep_ids.append(ids[keep])
        keep_rows.append(rows[keep])
    return Priced(np.concatenate(keep_ids), np.concatenate(keep_rows), np.concatenate(dual_scores), not gained)


def pricing_for(problem: Problem, facts: Facts) -> Pricing:
    """The better way for this collection."""
    if facts.reaches:
        return ReachPricing(problem, facts)
    return ScreenPricing(problem, facts) if facts.scores_all else SearchPricing(problem, facts)
