"""Every constraint, by its name. To add one, write its file and list it here."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from breadth.constraints.budget import Budget
from breadth.constraints.distinct import Distinct
from breadth.constraints.family import Constraints
from breadth.constraints.groups import Groups
from breadth.constraints.pairs import NamedPairs
from breadth.constraints.pinned import Excluded, Pinned
from breadth.constraints.protocol import Constraint, Scope
from breadth.constraints.relevance import Floor, KeepBest, OnTopic
from breadth.constraints.texts import Texts

CONSTRAINTS: dict[str, type[Constraint]] = {
    "distinct": Distinct,
    "texts": Texts,
    "groups": Groups,
    "pairs": NamedPairs,
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


_WITHOUT_SCOPE = ("distinct", "floor", "on_topic", "keep_best")
"""Arguments that mean the same for every collection and every k: the default has no others."""
_SCALARS = (bool, int, float, type(None))


def read_constraints(scope: Scope, **given: Any) -> Constraints:
    """Check the arguments that say which sets are allowed, and join what they ask for."""
    plain = [given.get(name) for name in _WITHOUT_SCOPE]
    others = any(value is not None and name not in _WITHOUT_SCOPE for name, value in given.items())
    if others or any(type(value) not in _SCALARS for value in plain):
        return _read(scope, given)
    return _read_once(*plain)


@lru_cache(maxsize=64, typed=True)
def _read_once(*plain: Any) -> Constraints:
    """The same arguments give the same constraints, so they are read once."""
    return _read(Scope(0, False, 0), dict(zip(_WITHOUT_SCOPE, plain, strict=True)))


def _read(scope: Scope, given: dict[str, Any]) -> Constraints:
    read = (kind.read(given, scope) for kind in CONSTRAINTS.values())
    return Constraints(tuple(wish for wish in read if wish is not None))
