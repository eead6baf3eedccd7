"""Which sets of rows in memory are allowed. Solvers ask here and never assume "the k best".

`breadth.constraints` say what a user wants, by ids. `Rules` say the same for the rows of a block, as arrays that the
core reads.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from breadth.arrays import Array, Ids, Mask, Positions, Vector
from breadth.ranking import best


class Rules(NamedTuple):
    """The constraints on the rows of a block, as arrays; None where there is no such constraint.

    apart         (m, m): 1 where two rows may not be in one set
    group         the group of each row, a number
    most, least   how many rows of each group a set may have, and must have
    locked        1 where a row must stay in the set
    cost          the cost of each row
    budget        what the costs of a set may sum to
    """

    apart: npt.NDArray[np.uint8] | None = None
    group: npt.NDArray[np.int32] | None = None
    most: npt.NDArray[np.int32] | None = None
    least: npt.NDArray[np.int32] | None = None
    locked: npt.NDArray[np.uint8] | None = None
    cost: Vector | None = None
    budget: float = np.inf

    @property
    def is_free(self) -> bool:
        """Whether every set is allowed."""
        return all(rule is None for rule in self[:-1])


NO_RULES = Rules()


def allows(rules: Rules, sets: Positions) -> Mask:
    """Which of several sets (b, k), arrays of positions, the rules allow."""
    mask = np.ones(len(sets), dtype=bool)
    if rules.cost is not None:
        mask &= rules.cost[sets].sum(axis=1) <= rules.budget
    if rules.locked is not None:
        mask &= rules.locked[sets].sum(axis=1, dtype=np.int64) == int(rules.locked.sum(dtype=np.int64))
    if rules.apart is not None:
        mask &= ~rules.apart[sets[:, :, None], sets[:, None, :]].any(axis=(1, 2))
    if rules.group is not None and rules.most is not None:
        for group in range(len(rules.most)):
            counts = (rules.group[sets] == group).sum(axis=1)
            mask &= counts <= rules.most[group]
            if rules.least is not None:
                mask &= counts >= rules.least[group]
    return mask


def addable(rules: Rules, chosen: Positions, size: int, k: int) -> Mask:
    """Which of `size` rows may join a set, so that it can still get k rows."""
    mask = np.full(size, len(chosen) < k)
    mask[chosen] = False
    if rules.apart is not None:
        mask &= ~rules.apart[chosen].any(axis=0)
    if rules.group is not None and rules.most is not None:
        counts = np.bincount(rules.group[chosen], minlength=len(rules.most))
        fits = counts < rules.most
        if rules.least is not None:
            missing = np.maximum(rules.least - counts, 0)
            if missing.sum() >= k - len(chosen):  # the last places are for groups that need rows
                fits &= missing > 0
        mask &= fits[rules.group]
    if rules.cost is not None:
        mask &= rules.cost[chosen].sum() + rules.cost <= rules.budget
    return mask


def may_exchange(rules: Rules, chosen: Positions, clash: npt.NDArray[Any] | None, size: int) -> Mask:
    """(members, rows): which of `size` rows may take the place of which member. `clash`: `apart` for the members."""
    mask = np.ones((len(chosen), size), dtype=bool)
    mask[:, chosen] = False
    if rules.locked is not None:
        mask[rules.locked[chosen] > 0] = False
    if clash is not None:
        mask &= clash.sum(axis=0, dtype=np.int64) == clash
    if rules.cost is not None:
        spent = rules.cost[chosen].sum() - rules.cost[chosen]
        mask &= spent[:, None] + rules.cost <= rules.budget
    if rules.group is not None and rules.most is not None:
        counts = np.bincount(rules.group[chosen], minlength=len(rules.most))
        fits = np.broadcast_to((counts < rules.most)[rules.group], mask.shape)
        if rules.least is not None:
            fits = fits & (counts > rules.least)[rules.group[chosen]][:, None]
        mask &= fits | (rules.group[chosen][:, None] == rules.group)
    return mask


@dataclass(frozen=True)
class AnyRows:
    """Every set of k different rows is allowed: the family of the paper, over a whole collection.

    best(scores)              the allowed set with the largest sum of scores
    best_sum(scores)          that sum
    bar(merits, chosen)       give rows that may not be added to a partial set the merit -∞
    may_enter(ids, chosen)              which rows may be added to a partial set
    may_replace(ids, members, member)   which rows may take the place of a member
    """

    k: int

    def best(self, scores: Array, order: Ids | None = None) -> Positions:
        """The k rows with the largest scores, largest first. Of equal ones the earlier row, or the first by `order`."""
        if order is None:
            return best(scores, self.k)
        return np.lexsort((order, -scores))[: self.k]

    def best_sum(self, scores: Array) -> float:
        """The largest sum of scores of an allowed set."""
        return float(np.partition(scores, len(scores) - self.k)[len(scores) - self.k :].sum(dtype=np.float64))

    def bar(self, merits: Array, chosen: Ids) -> None:
        """Give the rows that may not be added to the partial set `chosen` the merit -∞: here the members."""
        merits[chosen] = -np.inf

    def may_enter(self, ids: Ids, chosen: Ids) -> Mask:
        """Which of these rows may be added to a partial set: here all that are not in it."""
        return np.isin(ids, chosen, invert=True)

    def may_replace(self, ids: Ids, members: Ids, member: int) -> Mask:
        """Which of these rows may take the place of a member: here all rows outside the set."""
        return np.isin(ids, members, invert=True)
