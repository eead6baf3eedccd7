"""All constraints of a query together: what solvers ask about rows and sets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from breadth.arrays import Array, Ids, Mask, Vector
from breadth.constraints.distinct import Distinct
from breadth.constraints.pairs import NamedPairs
from breadth.constraints.pinned import Excluded, Pinned
from breadth.constraints.protocol import Constraint, Pairs
from breadth.constraints.relevance import Floor, KeepBest, OnTopic
from breadth.constraints.texts import COMPARED, Texts
from breadth.errors import InputError, NothingAllowedError
from breadth.feasible import Rules

Kind = TypeVar("Kind", bound=Constraint)
Numbers: TypeAlias = npt.NDArray[np.int32]
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
    def limits_pairs(self) -> bool:
        """Whether there are pairs of rows that may not be in one set."""
        return any(wish.of_pairs for wish in self.wishes)

    @cached_property
    def pinned(self) -> Ids:
        """The rows that are in every set."""
        pinned = self.find(Pinned)
        return _NOBODY if pinned is None else pinned.ids

    @cached_property
    def forgives(self) -> bool:
        """Whether there may be pairs of rows that cost nothing."""
        return any(wish.forgives for wish in self.wishes)

    @cached_property
    def _treats_copies_alike(self) -> bool:
        """Whether nothing but being a copy keeps one of two copies out of a set."""
        return all(wish.of_rows or isinstance(wish, (Distinct, KeepBest, Pinned, Texts)) for wish in self.wishes)

    @cached_property
    def merges_copies(self) -> bool:
        """Whether of exact copies one is as good as another, and no two may be in one set."""
        return self._treats_copies_alike and self.find(Distinct) is not None

    @cached_property
    def merges_texts(self) -> bool:
        """Whether a row can be left out because another row says all of it."""
        return self._treats_copies_alike and self.texts is not None

    @cached_property
    def texts(self) -> Texts | None:
        """The texts of the rows, if there are any."""
        return self.find(Texts)

    @cached_property
    def compared(self) -> float:
        """Pairs above this cosine cost nothing for a sharpness above 1: their texts were compared, and they differ."""
        return np.inf if self.texts is None else COMPARED

    @cached_property
    def named(self) -> Ids:
        """The pinned rows, and then every row that is named in a pair that costs nothing."""
        pairs = self.find(NamedPairs)
        others = _NOBODY if pairs is None else np.setdiff1d(pairs.unlike, self.pinned)
        return np.concatenate((self.pinned, others)) if len(others) else self.pinned

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

    def forgive(self, left: Ids, right: Ids) -> Mask | None:
        """Which pairs (left, right) of rows cost nothing; None if all cost what their similarity says."""
        found = [free for wish in self.wishes if wish.forgives and (free := wish.forgive(left, right)) is not None]
        return np.logical_or.reduce(found) if found else None

    def label(self, ids: Ids) -> tuple[npt.NDArray[np.object_], int, Mapping[Any, int]] | None:
        """The labels of rows, how many rows of one label a set may have, and how many of some it must have."""
        for wish in self.wishes:
            labels = wish.label(ids)
            if labels is not None:
                return np.asarray(labels, dtype=object), wish.room, wish.needs
        return None

    def cost(self, ids: Ids) -> Vector:
        """The costs of rows: 0 if they do not matter."""
        for wish in self.wishes:
            costs = wish.cost(ids)
            if costs is not None:
                return costs
        return np.zeros(len(ids))

    def make_rules(self, pairs: Pairs, k: int, merged: bool = False) -> Rules:
        """The wishes for the rows of a block (with themselves), as arrays that the core reads.

        `merged`: of rows that say the same one was left.
        """
        apart = np.ascontiguousarray(self.clash(pairs)).view(np.uint8) if self.limits_pairs and not merged else None
        return self.number(pairs.left, k)._replace(apart=None if apart is None or not apart.any() else apart)

    def number(self, ids: Ids, k: int) -> Rules:
        """What the wishes say of labels and costs of rows."""
        group, most, least = self._number_groups(ids, k)
        return Rules(None, group, most, least, None, self.cost(ids) if np.isfinite(self.budget) else None, self.budget)

    def _number_groups(self, ids: Ids, k: int) -> tuple[Numbers | None, Numbers | None, Numbers | None]:
        """The group of each row as a number, and how many rows of each there may and must be.

        Rows without a label are in no group: that is the first one, which has room for all.
        """
        labelled = self.label(ids)
        if labelled is None:
            return None, None, None
        labels, most, needs = labelled
        numbers: dict[object, int] = {label: place for place, label in enumerate(needs, start=1)}
        group = np.array([0 if x is None else numbers.setdefault(x, len(numbers) + 1) for x in labels], dtype=np.int32)
        room = np.full(len(numbers) + 1, most, dtype=np.int32)
        room[0] = k + 1
        least = np.zeros(len(room), dtype=np.int32)
        least[1 : len(needs) + 1] = list(needs.values())
        return group, np.maximum(room, least), least if len(needs) else None

    def check_pins(self, pins: Pairs, k: int) -> None:
        """Raise an error that names the conflict if the pinned rows (with themselves) cannot be in one set."""
        if len(pins.left) > k:
            raise InputError(f"pinned names {len(pins.left)} rows, but k is {k}")
        for wish in self.wishes if len(pins.left) else ():
            reason = wish.contradict(pins)
            if reason is not None:
                raise InputError(f"pinned and {wish.limit} contradict each other: {reason}")
        missing, left = sum(self._count_missing(pins.left).values()), k - len(pins.left)
        if missing > left and len(pins.left):
            raise InputError(
                f"pinned and at_least contradict each other: of k={k} rows, pinned leaves {left}, but at_least still "
                f"asks for {missing}"
            )

    def _count_missing(self, ids: Ids) -> dict[Any, int]:
        """How many rows of which groups a set still needs beside these rows."""
        labelled = self.label(ids)
        if labelled is None or not labelled[2]:
            return {}
        counts = Counter(labelled[0].tolist())
        return {label: need - counts[label] for label, need in labelled[2].items() if counts[label] < need}

    def _list_others(self) -> str:
        """The arguments, other than groups, that keep rows out."""
        return ", ".join(sorted({wish.limit for wish in self.wishes if not wish.needs}))

    def find_lack(self, ids: Ids) -> str | None:
        """The group of which these rows are too few, as a sentence; None if there is none."""
        missing = self._count_missing(ids)
        for wish in self.wishes if missing else ():
            for label, need in wish.needs.items():
                if label in missing:
                    others = self._list_others()
                    there = f"only {need - missing[label]} may be chosen" + (f" with {others}" if others else "")
                    return f"at_least asks for {need} rows of the group {label!r}, but {there}"
        return None

    def check_needs(self, ids: Ids) -> None:
        """Raise an error that names a group of which these rows are too few."""
        if lack := self.find_lack(ids):
            raise NothingAllowedError(lack, ("at_least",))

    @cached_property
    def has_needs(self) -> bool:
        """Whether a set must have rows of some labels."""
        return any(wish.needs for wish in self.wishes)

    def say_nothing_fits(self, seen: int) -> InputError:
        """The error where no row at all may be in a set; `seen`: how many were looked at."""
        if self.has_needs:
            return NothingAllowedError(
                f"no set of k rows has as many of each group as at_least asks for and keeps to {self._list_others()}",
                ("at_least",),
            )
        told = [(wish, wish.say_why_empty()) for wish in self.wishes]
        reasons = "; ".join(reason for _, reason in told if reason is not None)
        because = tuple(wish.limit for wish, reason in told if reason is not None)
        return NothingAllowedError(f"no row of the collection may be in a set ({seen} looked at): {reasons}", because)


NO_CONSTRAINTS = Constraints()
