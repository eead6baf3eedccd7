"""Which sets are allowed. Solvers ask here and never assume "the k best".

`breadth.constraints` say what a user wants, by ids. `Rules` say the same for the rows of a block, as arrays that the
kernels read: pairs that may not be in one set, groups with a room, costs with a budget, and rows that must stay. Plain
functions, two of which numba compiles, say what they mean:

    may_add         a row joins a partial set
    may_exchange    a row takes the place of a member
    best_sum        the largest sum of scores of a *relaxed* allowed set, for bounds

Bounds use a relaxation of the rules: `Parts` splits the rows into parts, of which at most so many may be chosen. A
group is a part; of rows that all conflict with each other at most one is chosen, so such a clique is a part as well.
Where the parts say all there is to say, the relaxation loses nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from breadth.arrays import Array, Ids, Mask, Positions, Vector
from breadth.ranking import best


class Rules(NamedTuple):
    """The constraints on the rows of a block, as arrays.

    free      whether there are none: the arrays are then empty
    apart     (m, m): 1 where two rows may not be in one set, else 0
    group     the group of each row, a number
    room      how many rows of each group a set may have
    locked    whether a row must stay in the set
    cost      the cost of each row
    budget    what the costs of a set may sum to
    """

    free: bool
    apart: npt.NDArray[np.uint8]
    group: Positions
    room: Positions
    locked: Mask
    cost: Vector
    budget: float


class Parts(NamedTuple):
    """A relaxation of the rules, for bounds: of each part at most `room` rows, and every `locked` row.

    part    the part of each row, a number
    room    how many rows of each part a set may have
    """

    part: Positions
    room: Positions
    locked: Mask


# The two formulas below work on numbers and, element by element, on arrays. `breadth.kernels.compiled` compiles them.


def may_add(clashes: Any, count: Any, room: Any, spent: Any, budget: float) -> Any:
    """Whether a row may join a partial set.

    `clashes`: how many members it may not stand beside; `count` and `room` of its group; `spent` with its cost.
    """
    return (clashes == 0) & (count < room) & (spent <= budget)


def may_exchange(
    locked: Any, clashes: Any, apart: Any, same_group: Any, count: Any, room: Any, spent: Any, budget: float
) -> Any:
    """Whether a row may take the place of a member.

    `locked` is the member's; `clashes`, `count` and `room` are the row's as for `may_add`; `apart` says whether the two
    may not stand beside each other, and `same_group` whether they share a group; `spent` is what the set then costs.
    """
    return (locked == 0) & (clashes == apart) & (same_group | (count < room)) & (spent <= budget)


def allows(rules: Rules, sets: Positions) -> Mask:
    """Which of several sets (b, k), arrays of positions, the rules allow."""
    if rules.free:
        return np.ones(len(sets), dtype=bool)
    mask: Mask = (rules.cost[sets].sum(axis=1) <= rules.budget) & (
        np.isin(sets, np.flatnonzero(rules.locked)).sum(axis=1) == np.count_nonzero(rules.locked)
    )
    mask &= ~rules.apart[sets[:, :, None], sets[:, None, :]].any(axis=(1, 2))
    for place in range(sets.shape[1]):
        group = rules.group[sets[:, place]]
        mask &= (rules.group[sets] == group[:, None]).sum(axis=1) <= rules.room[group]
    return mask


@cache
def free_rules() -> Rules:
    """The rules that allow every set."""
    nothing = np.empty(0, dtype=np.int64)
    return Rules(True, np.empty((0, 0), dtype=np.uint8), nothing, nothing, np.empty(0, dtype=bool), np.empty(0), np.inf)


def one_part(size: int, k: int) -> Parts:
    """The relaxation that knows the size of the set alone."""
    return Parts(np.zeros(size, dtype=np.int64), np.array([k + 1]), np.zeros(size, dtype=bool))


def find_parts(rules: Rules, size: int, k: int) -> Parts:
    """Split the rows into parts: cliques of conflicting rows first, then the groups of the rows that are in none.

    Cliques are found greedily in the order of the rows, so put the more relevant ones first.
    """
    if rules.free:
        return one_part(size, k)
    if len(rules.room) == 1 and rules.room[0] > k and not rules.apart.any():
        return Parts(np.zeros(size, dtype=np.int64), np.array([k + 1]), rules.locked)
    clique = _find_cliques(rules.apart)
    part = np.where(clique >= 0, clique, rules.group + int(clique.max()) + 1)
    room = np.concatenate((np.ones(int(clique.max()) + 1, dtype=np.int64), rules.room))
    labels, part = np.unique(part, return_inverse=True)
    return Parts(np.asarray(part, dtype=np.int64), np.minimum(room[labels], k + 1), rules.locked)


def _find_cliques(apart: npt.NDArray[np.uint8]) -> Positions:
    """The number of a clique for each row, -1 where it is in none of two or more.

    The first row that is in no clique begins one; of the rows that conflict with all its members the first joins.
    """
    number = np.full(len(apart), -1, dtype=np.int64)
    conflicts = apart.astype(bool)
    left: Mask = np.asarray(conflicts.any(axis=1))
    cliques = 0
    for seed in np.flatnonzero(left):
        if not left[seed]:
            continue
        left[seed] = False
        fitting = conflicts[seed] & left
        row = int(np.argmax(fitting))
        if not fitting[row]:
            continue
        number[seed] = cliques
        while fitting[row]:
            number[row], left[row] = cliques, False
            fitting &= conflicts[row]
            row = int(np.argmax(fitting))
        cliques += 1
    return number


def best_sum(scores: Vector, k: int, parts: Parts, supply: float = -np.inf) -> float:
    """The largest sum of scores of k rows that respect the parts.

    `supply`: the score of rows outside the block, as many of them as one likes and in no part.
    """
    fixed = scores[parts.locked]
    left = k - len(fixed)
    if left <= 0:
        return float(fixed.sum())
    if len(parts.room) == 1 and parts.room[0] > k:
        free = scores[~parts.locked] if len(fixed) else scores
        if len(free) >= left:
            top = np.partition(free, len(free) - left)[len(free) - left :]
            return float(fixed.sum() + np.maximum(top, supply).sum())
    order = np.argsort(-scores, kind="stable")
    order = order[~parts.locked[order]]
    room = parts.room - np.bincount(parts.part[parts.locked], minlength=len(parts.room))
    order = order[_ranks(parts.part[order]) < room[parts.part[order]]][:left]
    taken = scores[order]
    taken = np.concatenate((taken[taken > supply], np.full(left, supply)))[:left] if supply > -np.inf else taken
    return float(fixed.sum() + taken.sum()) if len(taken) == left else -np.inf


def _ranks(labels: Positions) -> Positions:
    """How many earlier entries have the same label, for each entry."""
    order = np.argsort(labels, kind="stable")
    ordered = labels[order]
    starts = np.flatnonzero(np.diff(ordered, prepend=-1))
    lengths = np.diff(np.append(starts, len(ordered)))
    ranks = np.empty(len(labels), dtype=np.int64)
    ranks[order] = np.arange(len(labels)) - np.repeat(starts, lengths)
    return ranks


def find_losses(slope: Vector, k: int, parts: Parts, supply: float) -> Vector:
    """What the best sum of slopes loses at least when one row must be in the set; the last entry: a row outside.

    A row whose part is full displaces the weakest row of its part, any other one the weakest of all.
    """
    if len(parts.room) == 1 and parts.room[0] > k:
        return _find_losses_in_one_part(slope, k, parts.locked, supply)
    order = np.argsort(-slope, kind="stable")
    order = np.concatenate((order[parts.locked[order]], order[~parts.locked[order]]))
    room, taken, left = parts.room.copy(), np.zeros(len(slope), dtype=bool), k
    for i in order:
        if left == 0 or (slope[i] <= supply and supply > -np.inf and not parts.locked[i]):
            break
        if room[parts.part[i]] > 0:
            taken[i], left = True, left - 1
            room[parts.part[i]] -= 1
    free = taken & ~parts.locked
    weakest = supply if left > 0 else float(slope[free].min()) if free.any() else np.inf
    by_part = np.full(len(parts.room), np.inf)
    np.minimum.at(by_part, parts.part[free], slope[free])
    full = room[parts.part] <= 0
    losses = np.where(full, by_part[parts.part], weakest) - slope
    losses[taken] = 0.0
    return np.append(np.maximum(losses, 0.0), max(weakest - supply, 0.0) if supply > -np.inf else np.inf)


def _find_losses_in_one_part(slope: Vector, k: int, locked: Mask, supply: float) -> Vector:
    free = slope[~locked]
    left = k - (len(slope) - len(free))
    weakest = np.inf
    if left > 0:
        weakest = float(np.partition(free, len(free) - left)[len(free) - left]) if left <= len(free) else -np.inf
        weakest = max(weakest, supply)
    losses = np.empty(len(slope) + 1)
    np.maximum(weakest - slope, 0.0, out=losses[:-1])
    losses[:-1][locked] = 0.0
    losses[-1] = weakest - supply if supply > -np.inf else np.inf
    return losses


@dataclass(frozen=True)
class AnyRows:
    """Every set of k different rows is allowed: the family of the paper, over a whole collection.

    best(scores)              the allowed set with the largest sum of scores
    best_sum(scores)          that sum
    threshold(scores)         what the score of one more row must exceed to change that set
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
