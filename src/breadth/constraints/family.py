"""All constraints of a query together: what solvers ask about rows and sets."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from breadth.arrays import Array, Ids, Mask, Positions, Vector
from breadth.constraints.distinct import Distinct
from breadth.constraints.pinned import Excluded, Pinned
from breadth.constraints.protocol import Constraint, Pairs
from breadth.constraints.relevance import Floor, KeepBest, OnTopic
from breadth.errors import InputError, NothingAllowedError
from breadth.feasible import Rules

Kind = TypeVar("Kind", bound=Constraint)
_NOBODY: Ids = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Constraints:
    """What a set must look like, besides its size: every wish must hold."""

    wishes: tuple[Constraint, ...] = ()

    def find(self, kind: type[Kind]) -> Kind | None:
        """The wish of a kind, if there is one."""
        return next((wish for wish in self.wishes if isinstance(wish, kind)), None)

    @property
    def is_free(self) -> bool:
        """Whether every set of k rows is allowed."""
        return not self.wishes

    @cached_property
    def limits_sets(self) -> bool:
        """Whether anything but single rows is limited."""
        return not all(wish.of_rows for wish in self.wishes)

    @cached_property
    def is_simple(self) -> bool:
        """Whether sets are limited by `distinct` and `keep_best` at most, beside what single rows must fulfil."""
        return all(wish.of_rows or isinstance(wish, (Distinct, KeepBest)) for wish in self.wishes)

    @cached_property
    def limits_pairs(self) -> bool:
        """Whether there are pairs of rows that may not be in one set."""
        return any(wish.of_pairs for wish in self.wishes)

    @cached_property
    def pinned(self) -> Ids:
        """The rows that are in every set."""
        pinned = self.find(Pinned)
        return _NOBODY if pinned is None else pinned.ids

    @cached_property
    def excluded(self) -> Ids:
        """The rows that are named to be in no set."""
        excluded = self.find(Excluded)
        return _NOBODY if excluded is None else excluded.ids

    @cached_property
    def distinct(self) -> float | None:
        """The cosine above which two rows are copies of each other, or None if copies are allowed."""
        distinct = self.find(Distinct)
        return None if distinct is None else distinct.most

    @cached_property
    def keep_best(self) -> bool:
        """Whether the most relevant row that the other wishes allow is in every set."""
        return self.find(KeepBest) is not None

    @cached_property
    def floor(self) -> float:
        """The least relevance of a row; -∞ if there is none, or if it is not known yet (`fix`)."""
        return max((wish.least for wish in self.wishes if isinstance(wish, Floor)), default=-np.inf)

    @cached_property
    def on_topic(self) -> float:
        """The same as a share of the k-th largest relevance, if that is positive; 0 if there is none."""
        on_topic = self.find(OnTopic)
        return 0.0 if on_topic is None else on_topic.share

    @cached_property
    def needs_kth(self) -> bool:
        """Whether the relevance of the k-th most relevant row matters."""
        return self.find(OnTopic) is not None

    @cached_property
    def budget(self) -> float:
        """What the costs of a set may sum to; ∞ if they do not matter."""
        return min((wish.budget for wish in self.wishes), default=np.inf)

    def fix(self, kth: float) -> Constraints:
        """The same wishes, now that the k-th largest relevance of all rows is known."""
        if not self.needs_kth:
            return self
        fixed = (wish.fix(kth) for wish in self.wishes)
        return Constraints(tuple(wish for wish in fixed if wish is not None))

    def renumber(self, ids: Ids) -> Constraints:
        """The same wishes for a part of the collection, whose rows are numbered as they stand in `ids`, sorted."""
        return Constraints(tuple(wish.renumber(ids) for wish in self.wishes))

    def admit(self, ids: Ids, relevance: Array) -> Mask:
        """Which rows may be in a set at all. Pinned rows always may."""
        mask = np.ones(len(ids), dtype=bool)
        for wish in self.wishes:
            admitted = wish.admit(ids, relevance)
            if admitted is not None:
                mask &= admitted
        if len(self.pinned):
            mask |= np.isin(ids, self.pinned)
        return mask

    def clash(self, pairs: Pairs) -> Mask:
        """Which pairs of rows may not be in one set. A row does not clash with itself."""
        found = [clashes for wish in self.wishes if (clashes := wish.clash(pairs)) is not None]
        if not found:
            return np.zeros((len(pairs.left), len(pairs.right)), dtype=bool)
        mask: Mask = np.logical_or.reduce(found) if len(found) > 1 else found[0].copy()
        if pairs.left is pairs.right:
            mask.ravel()[:: len(mask) + 1] = False
        else:
            mask &= pairs.left[:, None] != pairs.right
        return mask

    def label(self, ids: Ids) -> tuple[npt.NDArray[np.object_], int] | None:
        """The labels of rows, and how many rows of one label a set may have; None if any number."""
        for wish in self.wishes:
            labels = wish.label(ids)
            if labels is not None:
                return np.asarray(labels, dtype=object), wish.room
        return None

    def cost(self, ids: Ids) -> Vector:
        """The costs of rows: 0 if they do not matter."""
        for wish in self.wishes:
            costs = wish.cost(ids)
            if costs is not None:
                return costs
        return np.zeros(len(ids))

    def make_rules(self, pairs: Pairs, k: int, locked: Positions) -> Rules:
        """The wishes for the rows of a block (with themselves), as arrays that the kernels read."""
        ids = pairs.left
        if self.limits_pairs:
            apart = np.ascontiguousarray(self.clash(pairs)).view(np.uint8)
        else:
            apart = np.zeros((len(ids), len(ids)), dtype=np.uint8)
        group, room = self._number_groups(ids, k)
        stays = np.zeros(len(ids), dtype=bool)
        stays[locked] = True
        return Rules(False, apart, group, room, stays, self.cost(ids), self.budget)

    def _number_groups(self, ids: Ids, k: int) -> tuple[Positions, Positions]:
        """The group of each row as a number, and the room in each group. Rows without a label are in no group."""
        labelled = self.label(ids)
        if labelled is None:
            return np.zeros(len(ids), dtype=np.int64), np.array([k + 1])
        numbers: dict[object, int] = {}
        labels, most = labelled
        group = np.array([0 if x is None else numbers.setdefault(x, len(numbers) + 1) for x in labels], dtype=np.int64)
        room = np.full(len(numbers) + 1, most, dtype=np.int64)
        room[0] = k + 1
        return group, room

    def check_pins(self, pins: Pairs, k: int) -> None:
        """Raise an error that names the conflict if the pinned rows (with themselves) cannot be in one set."""
        if len(pins.left) > k:
            raise InputError(f"pinned names {len(pins.left)} rows, but k is {k}")
        for wish in self.wishes if len(pins.left) else ():
            reason = wish.contradict(pins)
            if reason is not None:
                raise InputError(f"pinned and {wish.arguments[-1]} contradict each other: {reason}")

    def say_nothing_fits(self, seen: int) -> InputError:
        """The error where no row at all may be in a set; `seen`: how many were looked at."""
        told = [(wish, wish.say_why_empty()) for wish in self.wishes]
        reasons = "; ".join(reason for _, reason in told if reason is not None)
        because = tuple(wish.arguments[-1] for wish, reason in told if reason is not None)
        return NothingAllowedError(f"no row of the collection may be in a set ({seen} looked at): {reasons}", because)


NO_CONSTRAINTS = Constraints()
