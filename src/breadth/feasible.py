"""Which sets are allowed. Solvers ask here and never assume "the k best"; a constraint is a new family in this file.

A family answers for scores that stand in an array, one for each row:

    best(scores)              the allowed set with the largest sum of scores
    best_sum(scores)          that sum
    threshold(scores)         what the score of one more row must exceed to change that set
    bar(merits, chosen)       give rows that may not be added to a partial set the merit -∞

and for rows by their ids:

    may_enter(ids, chosen)              which rows may be added to a partial set
    may_replace(ids, members, member)   which rows may take the place of a member
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from breadth.arrays import Array, Ids, Mask, Positions
from breadth.ranking import best


@dataclass(frozen=True)
class AnyRows:
    """Every set of k different rows is allowed."""

    k: int

    def best(self, scores: Array, order: Ids | None = None) -> Positions:
        """The k rows with the largest scores, largest first. Of equal ones the earlier row, or the first by `order`."""
        if order is None:
            return best(scores, self.k)
        return np.lexsort((order, -scores))[: self.k]

    def best_sum(self, scores: Array) -> float:
        """The largest sum of scores of an allowed set."""
        return float(np.partition(scores, len(scores) - self.k)[len(scores) - self.k :].sum(dtype=np.float64))

    def threshold(self, scores: Array) -> float:
        """The k-th largest score: a row with a larger one would change the best set."""
        return float(np.partition(scores, len(scores) - self.k)[len(scores) - self.k])

    def bar(self, merits: Array, chosen: Ids) -> None:
        """Give the rows that may not be added to the partial set `chosen` the merit -∞: here the members."""
        merits[chosen] = -np.inf

    def may_enter(self, ids: Ids, chosen: Ids) -> Mask:
        """Which of these rows may be added to a partial set: here all that are not in it."""
        return np.isin(ids, chosen, invert=True)

    def may_replace(self, ids: Ids, members: Ids, member: int) -> Mask:
        """Which of these rows may take the place of a member: here all rows outside the set."""
        return np.isin(ids, members, invert=True)
