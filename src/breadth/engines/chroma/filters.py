"""A filter in the form that Chroma takes.

Chroma has no `not` and cannot ask whether a field is there. `$ne`, `$nin` and `$not_contains` also hold where the field
is missing, so the complement of an equality can be said; the complement of a range cannot. Only numbers have an order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from breadth.errors import InputError
from breadth.filters import And, Compare, Condition, Contains, Exists, In, Not, Or, Scalar
from breadth.filters.values import find_kind

Where: TypeAlias = dict[str, Any]

_NEVER: Where = {"$and": [{"breadth": {"$eq": 1}}, {"breadth": {"$ne": 1}}]}
_ALWAYS: Where = {"$or": [{"breadth": {"$eq": 1}}, {"breadth": {"$ne": 1}}]}


def translate(condition: Condition, holds: bool = True) -> Where:
    """Return Chroma's filter for a condition, or for its complement if `holds` is False."""
    return _FORMS[type(condition)](condition, holds)


def _compare(condition: Compare, holds: bool) -> Where:
    value = _check_value(condition.value)
    if condition.order == "eq":
        return {condition.field: {"$eq" if holds else "$ne": value}}
    if isinstance(value, (str, bool)):
        raise InputError(f"where: Chroma orders numbers alone, but {condition.field!r} is compared with {value!r}")
    if not holds:
        raise InputError(
            f"where: Chroma cannot say that {condition.field!r} is not in a range, since the field may be missing; "
            "write the opposite range"
        )
    return {condition.field: {f"${condition.order}": value}}


def _is_in(condition: In, holds: bool) -> Where:
    kinds: dict[str, list[Scalar]] = {}
    for value in condition.values:
        kinds.setdefault(str(find_kind(_check_value(value))), []).append(value)
    word = "$in" if holds else "$nin"
    return _join([{condition.field: {word: _same_type(values)}} for values in kinds.values()], not holds)


def _same_type(values: list[Scalar]) -> list[Scalar]:
    """Chroma wants one type in a list: whole numbers among others become floats."""
    return [float(v) if type(v) is int else v for v in values] if any(type(v) is float for v in values) else values


def _contains(condition: Contains, holds: bool) -> Where:
    return {condition.field: {"$contains" if holds else "$not_contains": _check_value(condition.value)}}


def _exists(condition: Exists, holds: bool) -> Where:
    raise InputError(f"where: Chroma cannot ask whether a row has the field {condition.field!r}")


def _check_value(value: Scalar) -> Scalar:
    if value is None:
        raise InputError("where: Chroma holds no null, so nothing can be compared with it")
    return value


def _join(parts: list[Where], all_of_them: bool) -> Where:
    if len(parts) < 2:
        return parts[0] if parts else (_ALWAYS if all_of_them else _NEVER)
    return {"$and" if all_of_them else "$or": parts}


_FORMS: dict[type, Callable[[Any, bool], Where]] = {
    Compare: _compare,
    In: _is_in,
    Contains: _contains,
    Exists: _exists,
    And: lambda condition, holds: _join([translate(part, holds) for part in condition.parts], holds),
    Or: lambda condition, holds: _join([translate(part, holds) for part in condition.parts], not holds),
    Not: lambda condition, holds: translate(condition.part, not holds),
}
