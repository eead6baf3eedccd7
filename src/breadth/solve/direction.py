"""Pricing by direction, for sharpness 1: first the rows of the pool, then the collection."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from breadth.altering import alter
from breadth.arrays import Array, Ids, Positions, Vector
from breadth.clock import Clock
from breadth.oracles.protocol import Facts
from breadth.problem import Problem
from breadth.ranking import best
from breadth.requests import Above, Asking, Rows, Top
from breadth.solve.block import Block
from breadth.solve.effort import LOOSE_THETA, LOW_THETA, Effort
from breadth.solve.found import Found
from breadth.solve.pool import Pool, fetch_rows, find_outside, take_rows
from breadth.solve.question import Question
from breadth.solve.reaching import Reaching, lead
from breadth.solve.starts import pick_one, pick_starts, search_far

_NOBODY: Positions = np.empty(0, dtype=np.int64)
_LEADING = 1024
"""Where far more rows would have to be looked at than may be fetched: so many that lead, `_EXPLORATIONS` times."""
_EXPLORATIONS = 2
_LOOSE, _FEW = 0.02, 64
"""Above this open gap and up to this k, and always at a low θ, the search for sets starts from greedy sets of the whole
pool."""
_SMALL = 6
"""For a low θ, and a loose one up to this k, the collection is searched for the rows that greedy would take next."""
_GROWN = 1.125
"""A block that has grown by so much is searched for sets once more at the end."""
_AT_ONCE = 2048
"""Rows whose swaps are priced together, those of the largest marginal values first."""
_CROWDED = 1024
"""Where rows keep each other out, the block grows up to this many rows in search of k that do not."""
_ROUNDING = 1e-6
"""What float32 arithmetic changes in a score, relative to the length of the direction."""


class ByDirection:
    """The block grows by the rows that raise the bound; then the core searches for sets, and rows enter for swaps."""

    name, may_enclose, gave_up = "direction", True, "rounds"

    def __init__(self, problem: Problem, facts: Facts, effort: Effort, clock: Clock) -> None:
        self._problem, self._facts, self._effort, self._clock = problem, facts, effort, clock
        self.tries: list[Positions] = []
        self._started = 0
        self._at_once = self._ended = self._interrupted = False
        self._searched = 0
        self.search = True
        self._bound = np.inf
        self._largest: Array | None = None
        self._reaching = Reaching(problem, facts, effort)
        self._explored = 0
        self._before = self._last = np.inf
        self._idle, self._value = 0, -np.inf
        self.full = self.last = self.is_settled = False

    # The pool

    def open(self, before: Block | None) -> Asking[Block]:
        problem, facts, effort = self._problem, self._facts, self._effort
        if before is not None:
            block = before.at(problem)
        else:
            numbered = facts.scores_all or facts.reaches  # ids are then 0 … size-1
            whole = effort.whole * (1 if problem.theta >= LOW_THETA else 3)
            first, ceiling = None, -np.inf
            if not numbered or facts.size > whole:
                first, ceiling = yield from self._search_first()
            pool = yield from fetch_rows(problem, facts, first, ceiling)
            if len(pool) == 0:
                raise pool.problem.constraints.say_nothing_fits(facts.size)
            count = max(64, 2 * problem.k)
            every = len(pool) <= 2 * count
            where = np.arange(len(pool)) if every else np.union1d(np.arange(pool.named), best(pool.scores, count))
            block = Block(pool, where, by_direction=True)
            if np.isfinite(problem.constraints.budget):
                self._fit_budget(block)
            block.pool.largest = self._largest
        # A block of every row needs no pricing: the core has all it can know, and all its effort.
        self._at_once = len(block) == len(block.pool) and block.pool.is_complete and problem.theta >= LOOSE_THETA
        self.full, block.by_direction = self._at_once, not self._at_once
        if block.pool.is_complete:
            self._bound_by_relevance(block.pool.scores)
        elif block.pool.largest is not None:
            self._bound_by_relevance(block.pool.largest)
        return block

    def _fit_budget(self, block: Block) -> None:
        """How many rows a budget allows is what greedy finds in the pool, with the weights of F for that many rows."""
        while True:
            chosen = pick_one(block, self._clock)
            if len(chosen) in (0, block.problem.k) or block.problem.constraints.find_lack(block.pool.ids[chosen]):
                break
            block.resize(len(chosen))
        block.enter(np.setdiff1d(chosen, block.where))
        self.tries = [chosen]

    def _search_first(self) -> Asking[tuple[Ids, float]]:
        """About the most relevant ids; for a low θ and a large k ids from all over the collection.

        Also a relevance that no other row exceeds.
        """
        problem, facts = self._problem, self._facts
        near = 1 if problem.theta < 0.75 else 4 if problem.theta < 0.85 else 8
        count = min(facts.size, max(self._effort.held // near, 8 * problem.k))
        if facts.reaches and problem.theta <= 0.5 and problem.k > 64:
            return np.arange(count) * (facts.size // count), np.inf
        if not facts.reaches:
            found = yield from Top(problem.query[None], min(count, facts.most_rows), least=problem.k)
            self._bound_by_relevance(found.scores[0])
            return np.asarray(found.ids[0]), float(found.scores[0, -1])
        most = np.array([max(4 * count, facts.size // 64)])
        (reached,) = yield from Above(problem.query[None], np.array([-np.inf]), most)
        if len(reached.ids) < count:
            found = yield from Top(problem.query[None], count)
            return np.asarray(found.ids[0]), float(found.scores[0, -1])
        self._reaching.remember(problem.query, reached)
        self._bound_by_relevance(reached.at_most)
        ids, ceiling = lead(reached, -np.inf, count)
        return np.sort(ids), ceiling

    def _bound_by_relevance(self, scores: Array) -> None:
        """D(0): relevance, and no pair at all. Some of the scores are the largest ones, in any order."""
        k, problem = self._problem.k, self._problem
        self._largest = np.partition(scores, len(scores) - k)[len(scores) - k :] if len(scores) > k else scores
        linear = problem.linear(np.asarray(self._largest, dtype=np.float64))
        bound = problem.dual_bound(np.zeros(len(problem.query)), linear.sum(), self._facts.max_squared_norm)
        if problem.constraints.forgives:  # then Σ_ij s_ij may be negative, but no s_ij is below -1
            bound += 0.5 * problem.coupling * problem.scale * self._facts.max_squared_norm
        self._bound = min(self._bound, bound)

    def _follow(self, problem: Problem) -> None:
        """Sets have fewer rows now: bounds begin anew."""
        if problem.k != self._problem.k:
            self._problem, self._bound = alter(self._problem, k=problem.k), np.inf
            if self._largest is not None:
                self._bound_by_relevance(self._largest)

    # Pricing

    def supply(self, block: Block) -> float:
        return -np.inf

    def bound(self, found: Found) -> float:
        self._follow(found.problem)
        return self._bound

    def grow(self, block: Block) -> Asking[Positions]:
        pool = block.pool
        while True:
            more = np.setdiff1d(pick_one(block, self._clock), block.where)
            if len(more) == 0 and len(block) < _CROWDED and pool.problem.constraints.limits_pairs:
                rest = np.setdiff1d(np.arange(len(pool)), block.where)
                more = rest[best(pool.scores[rest], min(len(block), len(rest)))]
            if len(more) or pool.is_complete or len(pool) >= self._effort.most:
                return more
            found = yield from Top(self._problem.query[None], min(4 * len(pool), self._facts.most_rows))
            if (yield from take_rows(pool, found.ids[0])) == 0:
                return more

    def price(self, found: Found, late: bool) -> Asking[Positions | None]:
        searched, was_full, rows = self.search, self.full, len(found.block)
        if self._ended and found.value <= self._value:
            return None
        if searched:
            self._searched = rows
        more = yield from self._price(found, late)
        # For large sets the search is long: it is made when it begins, and at the end.
        self.search = found.problem.k <= _FEW or bool(self.tries) or not was_full
        self._ended = more is None and not (late or searched) and self.full and rows > _GROWN * self._searched
        if self._ended:
            self.search = True
            return _NOBODY
        return more

    def _price(self, found: Found, late: bool) -> Asking[Positions | None]:
        self._follow(found.problem)
        if self._at_once:
            self.is_settled, self._bound = True, min(self._bound, found.bound)
            return None
        question = Question.about(found, self._facts.max_squared_norm)
        while True:
            more = self._price_pool(found, question)
            if len(more):
                return more
            if not self.full:
                self.full = True
                return (yield from self._start(found, question))
            pool = found.block.pool
            if pool.is_complete or late:
                self.is_settled = pool.is_complete and not self._interrupted
                return None
            if self.is_settled and len(pool) > self._started > 0:
                more = yield from self._start(found, question)
                if len(more) or self.tries:
                    return more
            new = yield from self._price_collection(found, question)
            if not self._goes_on(new):
                return None

    def _goes_on(self, new: int) -> bool:
        """Whether another round may help: rows came, or the set is not settled yet."""
        if self.is_settled:
            slow = self._bound > self._before - 0.02 * max(self._before - self._value, 0.0)
            self._before = self._bound
            return new > 0 and not slow
        self._idle = 0 if new else self._idle + 1
        return self._idle < 3

    def _price_pool(self, found: Found, question: Question) -> Positions:
        """The rows of the pool that raise the bound or, once the block is settled, gain by a swap."""
        block, problem = found.block, found.problem
        pool = block.pool
        self._value = found.value
        outside = np.ones(len(pool), dtype=bool)
        outside[block.where] = False
        if not outside.any():
            self._lower(found, np.empty(0))
            return _NOBODY
        slack = _ROUNDING * float(np.linalg.norm(question.w_dual))
        slopes = self._score(pool, question.w_dual)
        most = self._effort.entering + problem.k // 2
        near = np.flatnonzero(outside & (slopes > question.threshold - slack))
        if len(near) > 4 * most:
            near = near[np.argpartition(-slopes[near], 4 * most)[: 4 * most]]
        exact = question.find_slopes(pool.rows[near])
        # The block has its pairs in float32.
        raising = near[exact > found.result.threshold + 1e-7 * (1.0 + problem.k)]
        if len(raising) == 0:
            self._lower(found, exact)
        if len(raising) or not self.full:
            return raising[best(slopes[raising], min(most, len(raising)))]
        return self._price_swaps(found, question)

    def _price_swaps(self, found: Found, question: Question) -> Positions:
        """The rows of the pool outside the block that gain by a swap, the best of them."""
        pool, most = found.block.pool, self._effort.entering + found.problem.k // 2
        outside = np.ones(len(pool), dtype=bool)
        outside[found.block.where] = False
        marginals = self._score(pool, question.w_set)
        near = np.flatnonzero(outside & (marginals > question.lowest - _ROUNDING * np.linalg.norm(question.w_set)))
        if len(near) > _AT_ONCE:
            near = near[np.argsort(-marginals[near])]
        gaining: list[Positions] = []
        for start in range(0, len(near), _AT_ONCE):
            self._interrupted = self._clock.is_over()
            if self._interrupted or sum(map(len, gaining)) >= most:
                break
            some = near[start : start + _AT_ONCE]
            gains = question.find_gains(pool.ids[some], pool.rows[some])
            kept = np.flatnonzero(gains > 0.5 * question.least_gain)
            gaining.append(some[kept[best(gains[kept], min(most, len(kept)))]])
        return np.concatenate(gaining)[:most] if gaining else _NOBODY

    def _score(self, pool: Pool, w: Vector) -> Vector:
        """Inner products of all rows with a direction, to float32 precision."""
        dim = self._problem.similarity_dim
        scores: Vector = pool.multiply(w[None, :dim])[0].astype(np.float64)
        return scores if dim is None else scores + w[dim] * pool.scores

    def _lower(self, found: Found, further: Vector, unseen: float = -np.inf) -> None:
        """Lower the bound to that of the relaxation, with slopes of further rows of the collection."""
        if not (found.block.pool.is_complete or unseen > -np.inf):
            return
        k = found.problem.k
        top = further[best(further, min(k, len(further)))] if len(further) else further
        self._last = found.block.core.bound_at(found.weights, top, unseen)
        self._bound = min(self._bound, self._last)

    def enclose(self, found: Found, most: int) -> Asking[Block | None]:
        if self._at_once:
            return found.block
        pool, question = found.block.pool, Question.about(found, self._facts.max_squared_norm)
        half = 0.5 * found.problem.coupling * self._facts.max_squared_norm
        cut = found.result.threshold - (self._last - found.value) - 1e-5 * found.problem.k
        alive = self._score(pool, question.w_dual) + half >= cut
        alive[found.block.where[found.chosen]] = True
        alive[: pool.named] = True
        if np.count_nonzero(alive) > most:
            return None
        if not pool.is_complete:
            outside = yield from self._reaching.reach_above(question.w_dual, cut - half, most)
            if outside is None:
                return None
            yield from take_rows(pool, outside)
            alive = np.concatenate((alive, np.ones(len(pool) - len(alive), dtype=bool)))
        where = np.flatnonzero(alive)
        return Block(pool, where, is_closed=True) if len(where) <= most else None

    def confirm(self, found: Found, late: bool) -> Asking[bool]:
        if late:
            return False
        question = replace(Question.about(found, self._facts.max_squared_norm), threshold=np.inf)
        if len(self._price_swaps(found, question)) or self._interrupted:
            return False
        if not found.block.pool.is_complete:
            yield from self._price_collection(found, question)
        return self.is_settled

    def _start(self, found: Found, question: Question) -> Asking[Positions]:
        """Where much is left open, the search for sets starts from what greedy finds in the whole pool. At a low θ it
        gets more starts, and more rows: those with the largest slopes among them."""
        block, problem = found.block, found.problem
        pool, theta = block.pool, problem.theta
        gap = (found.bound - found.value) / max(problem.spread, 1e-300)
        if theta >= LOW_THETA and (gap <= _LOOSE or problem.k > _FEW):
            return _NOBODY
        low = LOOSE_THETA if problem.k <= _SMALL else LOW_THETA
        if self._started == 0 and theta < low and not pool.is_complete:
            yield from search_far(block, self._facts, self._clock)
        self._started = len(pool)
        self.tries = pick_starts(block, self._effort, self._clock, 4 if theta < LOW_THETA else 1)
        more = [block.where, *self.tries]
        wanted = min(len(pool), 128) - len(block)
        if wanted > 0 and theta < LOOSE_THETA:
            slopes = self._score(pool, question.w_dual)
            slopes[block.where] = -np.inf
            more.append(best(slopes, wanted))
        return np.setdiff1d(np.concatenate(more), block.where)

    # The collection

    def _price_collection(self, found: Found, question: Question) -> Asking[int]:
        """Ask for rows that matter, and take them into the pool; how many were new."""
        for_set, for_bound = yield from self._reaching.reach_both(question)
        settles = for_set.ceiling <= question.lowest
        explores = not settles and self._explored < _EXPLORATIONS and self._facts.reaches
        moving, unseen = lead(for_bound, question.threshold, self._effort.fetched)
        pool = found.block.pool
        held = np.sort(pool.ids)
        if explores:
            self._explored += 1
            wanted = np.union1d(lead(for_set, -np.inf, _LEADING)[0], moving)
        else:
            wanted = for_set.above(question.lowest)
            wanted = wanted[find_outside(held, wanted)]
            if not settles or len(wanted) > self._effort.fetched:
                wanted, settles = yield from self._reaching.reach_by_member(question, wanted if settles else None)
            wanted = np.union1d(wanted, moving)
        wanted = wanted[find_outside(held, wanted)]
        rows = yield from Rows(wanted)
        slopes, gains = question.find_slopes(rows), question.find_gains(wanted, rows)
        if not pool.problem.constraints.is_free:
            gains[~pool.problem.constraints.admit(wanted, rows.astype(np.float64) @ self._problem.query)] = -np.inf
        self._lower(found, slopes, unseen + 0.5 * self._problem.coupling * self._facts.max_squared_norm)
        gaining = gains > question.least_gain
        self.is_settled = bool(settles and not gaining.any())
        helping = gaining | (slopes > found.result.threshold) | explores
        return pool.take(wanted[helping], rows[helping])
