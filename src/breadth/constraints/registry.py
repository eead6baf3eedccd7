"""Every constraint, by its name. To add one, write its file and list it here."""

from __future__ import annotations

from typing import Any

from breadth.constraints.budget import Budget
from breadth.constraints.distinct import Distinct
from breadth.constraints.family import Constraints
from breadth.constraints.groups import Groups
from breadth.constraints.pinned import Excluded, Pinned
from breadth.constraints.protocol import Constraint, Scope
from breadth.constraints.relevance import Floor, KeepBest, OnTopic

CONSTRAINTS: dict[str, type[Constraint]] = {
    "distinct": Distinct,
    "groups": Groups,
    "pinned": Pinned,
    "excluded": Excluded,
    "floor": Floor,
    "on_topic": OnTopic,
    "keep_best": KeepBest,
    "budget": Budget,
}


def list_arguments() -> list[str]:
    """The keywords of `breadth.select` that say which sets are allowed."""
    return [name for kind in CONSTRAINTS.values() for name in kind.arguments]


def read_constraints(scope: Scope, **given: Any) -> Constraints:
    """Check the arguments that say which sets are allowed, and join what they ask for."""
    read = (kind.read(given, scope) for kind in CONSTRAINTS.values())
    return Constraints(tuple(wish for wish in read if wish is not None))
