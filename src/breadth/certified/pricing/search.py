"""Pricing by searches alone: it works on every engine."""

from __future__ import annotations

import numpy as np

from breadth.arrays import Ids, Vector
from breadth.certified.effort import Effort
from breadth.certified.pricing.question import PER_MEMBER, Priced, Question
from breadth.oracles.protocol import Facts
from breadth.problem import Problem
from breadth.requests import Asking, Rows, Top


class SearchPricing:
    """One batch of two searches, and one search for each member where that cannot settle it."""

    name, begins_exactly = "searched", True

    def __init__(self, problem: Problem, facts: Facts, effort: Effort, by_member: bool = False) -> None:
        self._problem, self._facts, self._effort = problem, facts, effort
        self._by_member = by_member

    def begin(self, count: int) -> Asking[Ids]:
        """The `count` most relevant ids."""
        found = yield from Top(self._problem.query[None], count, least=self._problem.k)
        return np.asarray(found.ids[0])

    def ask(self, question: Question) -> Asking[Priced]:
        """Search for rows with a large marginal value (or for each member's replacements), and for w(u)."""
        k, size, by_member = self._problem.k, self._facts.size, self._by_member
        directions = self._problem.replacement_directions(question.members) if by_member else question.w_set[None]
        wanted = min(size, k + PER_MEMBER if by_member else max(self._effort.priced, 4 * k))
        ids, scores = yield from Top(np.vstack((directions, question.w_dual)), wanted)
        settled = by_member or wanted == size or bool(scores[0, -1] <= question.lowest)
        self._by_member = not settled
        reach = (question.floors + question.least_gain)[:, None] if by_member else question.lowest
        above = ids[-1][scores[-1] > question.threshold]
        new = question.leave_out_held(np.unique(np.concatenate((ids[:-1][scores[:-1] > reach], above))))
        rows = yield from Rows(new)
        gains = len(question.find_replacements(np.asarray(rows, dtype=np.float64))) > 0
        outside = scores[-1][np.isin(ids[-1], question.held, invert=True)][:k]
        if wanted < size:  # no row that was not found scores higher than the last one that was
            outside = np.concatenate((outside, np.full(k, scores[-1, -1])))
        return Priced(new, rows, outside, settled and not gains)

    def above(self, w: Vector, threshold: float, most: int) -> Asking[Ids | None]:
        """Ids of all rows with a score above the threshold, None if they are more than `most`."""
        ids, scores = yield from Top(w[None], min(most, self._facts.size))
        if scores[0, -1] > threshold and most < self._facts.size:
            return None
        return np.asarray(ids[0][scores[0] > threshold])
