"""When a condition holds for the metadata of a document. Every translation into an engine must agree with this."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from breadth.filters.conditions import And, Compare, Condition, Contains, Exists, In, Not, Or
from breadth.filters.values import find_kind, simplify

MISSING = object()
"""What `look_up` returns for a field that is not there."""


def matches(condition: Condition, metadata: Mapping[str, Any]) -> bool:
    """Whether the condition holds. A comparison with a field that is not there never holds, so its `Not` does."""
    return _MEANINGS[type(condition)](condition, metadata)


def look_up(metadata: Mapping[str, Any], field: str) -> Any:
    """The value of a field, or MISSING: the key of exactly this name, else the dotted path of this name."""
    if field in metadata:
        return metadata[field]
    value: Any = metadata
    for key in field.split("."):
        if not isinstance(value, Mapping) or key not in value:
            return MISSING
        value = value[key]
    return value


def make_reader(what: str | Callable[[Mapping[str, Any]], Any]) -> Callable[[Mapping[str, Any]], Any]:
    """A function of metadata: the value of a field, None without it, or what a function of the user says."""
    if not isinstance(what, str):
        return what

    def read(metadata: Mapping[str, Any]) -> Any:
        value = look_up(metadata, what)
        return None if value is MISSING else value

    return read


def _is_equal(value: Any, wanted: Any) -> bool:
    own = simplify(value)
    return value is not MISSING and find_kind(own) == find_kind(wanted) and bool(own == wanted)


def _compare(condition: Compare, metadata: Mapping[str, Any]) -> bool:
    value = look_up(metadata, condition.field)
    if condition.order == "eq":
        return _is_equal(value, condition.value)
    own = simplify(value)
    return find_kind(own) == find_kind(condition.value) and ORDERS[condition.order](own, condition.value)


def _contains(condition: Contains, metadata: Mapping[str, Any]) -> bool:
    value = look_up(metadata, condition.field)
    return isinstance(value, (list, tuple)) and any(_is_equal(entry, condition.value) for entry in value)


def _is_in(condition: In, metadata: Mapping[str, Any]) -> bool:
    value = look_up(metadata, condition.field)
    return any(_is_equal(value, wanted) for wanted in condition.values)


ORDERS: dict[str, Callable[[Any, Any], bool]] = {
    "gt": lambda own, value: bool(own > value),
    "gte": lambda own, value: bool(own >= value),
    "lt": lambda own, value: bool(own < value),
    "lte": lambda own, value: bool(own <= value),
}
"""Text is ordered by its code points, numbers as numbers."""

_MEANINGS: dict[type, Callable[[Any, Mapping[str, Any]], bool]] = {
    Compare: _compare,
    In: _is_in,
    Contains: _contains,
    Exists: lambda condition, metadata: look_up(metadata, condition.field) is not MISSING,
    And: lambda condition, metadata: all(matches(part, metadata) for part in condition.parts),
    Or: lambda condition, metadata: any(matches(part, metadata) for part in condition.parts),
    Not: lambda condition, metadata: not matches(condition.part, metadata),
}
