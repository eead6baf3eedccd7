"""`pinned` and `excluded`: rows that must, and must not, be chosen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from breadth.arrays import Array, Ids, Mask
from breadth.constraints.lookup import read_ids
from breadth.constraints.protocol import Constraint, Given, Option, Scope
from breadth.errors import InputError


@dataclass(frozen=True, eq=False)
class Pinned(Constraint):
    """These rows are in every set."""

    ids: Ids

    arguments = ("pinned",)
    options = (Option("pinned", list[str], "id of a passage that must be chosen (repeatable)", ("--pin",)),)

    @classmethod
    def read(cls, given: Given, scope: Scope) -> Pinned | None:
        ids = read_ids(given.get("pinned"), "pinned", scope)
        if len(ids) > scope.k:
            raise InputError(f"pinned names {len(ids)} rows, but k is {scope.k}")
        return cls(ids) if len(ids) else None

    def renumber(self, ids: Ids) -> Pinned:
        return Pinned(np.searchsorted(ids, self.ids))


@dataclass(frozen=True, eq=False)
class Excluded(Constraint):
    """These rows are in no set."""

    ids: Ids

    arguments = ("excluded",)
    options = (Option("excluded", list[str], "id of a passage to leave out (repeatable)", ("--exclude",)),)
    of_rows = True

    @classmethod
    def read(cls, given: Given, scope: Scope) -> Excluded | None:
        ids = read_ids(given.get("excluded"), "excluded", scope)
        if len(ids) == 0:
            return None
        both = np.intersect1d(ids, read_ids(given.get("pinned"), "pinned", scope))
        if len(both):
            raise InputError(f"pinned and excluded contradict each other: both name row {int(both[0])}")
        if scope.numbered and len(ids) >= scope.size:
            raise InputError(f"excluded names all {scope.size} rows, so no set is left")
        return cls(ids)

    def renumber(self, ids: Ids) -> Excluded:
        return Excluded(np.flatnonzero(np.isin(ids, self.ids)))

    def admit(self, ids: Ids, relevance: Array) -> Mask:
        return np.isin(ids, self.ids, invert=True)

    def say_why_empty(self) -> str:
        return f"excluded names {len(self.ids)} rows"
