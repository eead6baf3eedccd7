"""`groups` and `per_group`: not too many rows of one source, author or document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Any

import numpy.typing as npt

from breadth.arrays import Ids
from breadth.checks import check_count
from breadth.constraints.lookup import check_together, read_lookup
from breadth.constraints.protocol import Constraint, Given, Lookup, Option, Pairs, Scope
from breadth.errors import InputError


@dataclass(frozen=True, eq=False)
class Groups(Constraint):
    """At most `room` rows of one label; a row whose label is None is in no group."""

    labels: Lookup
    room: int = 1

    arguments = ("groups", "per_group")
    options = (
        Option("group_by", str, "metadata field, the source for example"),
        Option("per_group", int, "passages of one group, with --group-by [1]"),
    )

    @classmethod
    def read(cls, given: Given, scope: Scope) -> Groups | None:
        groups, per_group = given.get("groups"), given.get("per_group")
        check_together(
            groups=groups, per_group=per_group, why="groups= labels the rows, per_group= says how many of one label"
        )
        if groups is None:
            return None
        return cls(_read_labels(groups, scope), check_count(per_group, "per_group"))

    def renumber(self, ids: Ids) -> Groups:
        labels = self.labels
        return replace(self, labels=lambda numbers: labels(ids[numbers]))

    def label(self, ids: Ids) -> npt.NDArray[Any]:
        return self.labels(ids)

    def contradict(self, pins: Pairs) -> str | None:
        counts = Counter(label for label in self.labels(pins.left) if label is not None)
        label, count = counts.most_common(1)[0] if counts else (None, 0)
        if count <= self.room:
            return None
        return f"{count} pinned rows are of the group {label!r}, but per_group is {self.room}"


def _read_labels(groups: Any, scope: Scope) -> Lookup:
    look_up = read_lookup(groups, "groups", scope)

    def read(ids: Ids) -> Any:
        labels = look_up(ids)
        for identity, label in zip(ids.tolist(), labels.tolist(), strict=True):
            if not isinstance(label, Hashable):
                raise InputError(f"groups: the label of row {identity} is {label!r}; pass a text or a number")
        return labels

    return read
