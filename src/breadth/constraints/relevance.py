"""`floor`, `on_topic` and `keep_best`: how relevant the chosen rows must be."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from breadth.arrays import Array, Ids, Mask
from breadth.checks import check_number
from breadth.constraints.protocol import Constraint, Given, Option, Scope
from breadth.errors import InputError


@dataclass(frozen=True)
class Floor(Constraint):
    """No row with a relevance below `least`. `asked_as`: the argument that it comes from."""

    least: float
    asked_as: str = "floor"

    arguments = ("floor",)
    options = (Option("floor", float, "least relevance of a passage", ("--floor", "--min-score")),)
    of_rows = True

    @classmethod
    def read(cls, given: Given, scope: Scope) -> Floor | None:
        floor = given.get("floor")
        return None if floor is None else cls(check_number(floor, "floor"))

    def admit(self, ids: Ids, relevance: Array) -> Mask:
        return np.asarray(relevance >= self.least)

    @property
    def limit(self) -> str:
        return self.asked_as

    def say_why_empty(self) -> str | None:
        if self.asked_as != "floor":  # a share of some row's relevance leaves that row
            return None
        return f"floor={self.least:g} is above the relevance of every row"


@dataclass(frozen=True)
class OnTopic(Constraint):
    """No row with less than this `share` of the relevance of top-k's last row, if that is positive."""

    share: float

    arguments = ("on_topic",)
    options = (
        Option(
            "on_topic", float, "least relevance, as a share of that of the last passage of top-k; 0 allows all passages"
        ),
    )
    of_rows = True

    @classmethod
    def read(cls, given: Given, scope: Scope) -> OnTopic | None:
        share = given.get("on_topic")
        if share is None or check_number(share, "on_topic", 0.0, 1.0) == 0.0:
            return None
        return cls(float(share))

    def fix(self, kth: float) -> Floor | None:
        """A floor. If the k-th largest relevance is not positive, nothing is on topic, and this says nothing."""
        return Floor(self.share * kth, "on_topic") if kth > 0.0 else None


@dataclass(frozen=True)
class KeepBest(Constraint):
    """The most relevant row that the other constraints allow is in every set."""

    arguments = ("keep_best",)
    options = (Option("keep_best", bool, "whether the most relevant passage is always chosen"),)

    @classmethod
    def read(cls, given: Given, scope: Scope) -> KeepBest | None:
        keep_best = given.get("keep_best")
        if keep_best is None:
            return None
        if not isinstance(keep_best, (bool, np.bool_)):
            raise InputError(f"keep_best must be True or False, got {keep_best!r}")
        return cls() if keep_best else None
