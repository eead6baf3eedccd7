"""`groups`, `per_group` and `at_least`: not too many rows of one source, author or document, and not too few."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy.typing as npt

from breadth.arrays import Ids
from breadth.checks import check_count
from breadth.constraints.lookup import check_together, read_lookup
from breadth.constraints.protocol import Constraint, Given, Lookup, Option, Pairs, Scope
from breadth.errors import InputError

NO_LIMIT = 1 << 30
"""How many rows of one label a set may have where nothing was said."""


@dataclass(frozen=True, eq=False)
class Groups(Constraint):
    """At most `room` rows of one label, and of the labels in `needs` at least so many.

    A row whose label is None is in no group.
    """

    labels: Lookup
    room: int = 1
    needs: Mapping[Any, int] = field(default_factory=dict)

    arguments = ("groups", "at_least", "per_group")
    options = (
        Option("group_by", str, "metadata field, the source for example"),
        Option("per_group", int, "passages of one group, with --group-by [1]"),
    )

    @classmethod
    def read(cls, given: Given, scope: Scope) -> Groups | None:
        groups, at_least, per_group = (given.get(name) for name in cls.arguments)
        why = "groups= labels the rows, per_group= and at_least= say how many of one label"
        if at_least is None:
            check_together(groups=groups, per_group=per_group, why=why)
        else:
            check_together(groups=groups, at_least=at_least, why=why)
        if groups is None:
            return None
        room = NO_LIMIT if per_group is None else check_count(per_group, "per_group")
        return cls(_read_labels(groups, scope), room, _read_needs(at_least, room, scope.k))

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


def _read_needs(at_least: Any, room: int, k: int) -> Mapping[Any, int]:
    """How many rows of a label a set must have, by labels."""
    if at_least is None:
        return {}
    if not isinstance(at_least, Mapping):
        raise InputError(f"at_least must be a mapping from labels to numbers of rows, got {at_least!r}")
    needs = {label: check_count(count, f"at_least[{label!r}]") for label, count in at_least.items()}
    for label, count in needs.items():
        if count > room:
            raise InputError(f"at_least asks for {count} rows of the group {label!r}, but per_group is {room}")
    if sum(needs.values()) > k:
        raise InputError(f"at_least asks for {sum(needs.values())} rows together, but k is {k}")
    return needs


def _read_labels(groups: Any, scope: Scope) -> Lookup:
    look_up = read_lookup(groups, "groups", scope)

    def read(ids: Ids) -> Any:
        labels = look_up(ids)
        for identity, label in zip(ids.tolist(), labels.tolist(), strict=True):
            if not isinstance(label, Hashable):
                raise InputError(f"groups: the label of row {identity} is {label!r}; pass a text or a number")
        return labels

    return read
