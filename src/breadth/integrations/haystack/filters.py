"""Haystack's filters as filters of breadth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

from haystack import Document

from breadth.errors import InputError

_OTHER_FIELDS = {field.name for field in fields(Document)}
_OPERATORS = {
    "==": "$eq",
    "!=": "$ne",
    ">": "$gt",
    ">=": "$gte",
    "<": "$lt",
    "<=": "$lte",
    "in": "$in",
    "not in": "$nin",
}
_CONDITIONS: dict[str, Callable[[list[Any]], Any]] = {
    "AND": lambda parts: {"$and": parts},
    "OR": lambda parts: {"$or": parts},
    "NOT": lambda parts: {"$not": {"$and": parts}},
}


def read_filters(filters: dict[str, Any] | None) -> Any:
    """Haystack's filters as a filter of breadth."""
    if not filters:
        return None
    operator = filters.get("operator")
    if "conditions" in filters and operator in _CONDITIONS:
        return _CONDITIONS[str(operator)]([read_filters(part) for part in filters["conditions"]])
    if not {"field", "value"} <= filters.keys() or operator not in _OPERATORS:
        known = ", ".join((*_OPERATORS, *_CONDITIONS))
        raise InputError(f"filters must be in Haystack's form, with one of the operators {known}; got {filters!r}")
    field = str(filters["field"])
    if field in _OTHER_FIELDS:
        raise InputError(f"filters: only metadata can be asked for, as 'meta.NAME'; got the field {field!r}")
    return {field.removeprefix("meta."): {_OPERATORS[str(operator)]: filters["value"]}}
