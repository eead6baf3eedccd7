"""Turn a filter, which is a dict, into a condition. What is wrong with it is said here, once, for every engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from breadth.errors import InputError
from breadth.filters.conditions import And, Compare, Condition, Contains, Exists, In, Not, Or, Order
from breadth.filters.text import parse_filter
from breadth.filters.values import MAX_DEPTH, Scalar, check_name, find_kind, plain_scalar

MAX_CONDITIONS, MAX_VALUES = 256, 10_000
"""How many comparisons a filter may have, and how many values they may name."""

_EXAMPLE = '{"source": "nih", "year": {"$gte": 2020}}'


def read_filter(data: Any, name: str = "where") -> Condition:
    """Read a filter. `name` is the argument it was passed as, for messages. An empty dict always holds."""
    return _Reader(name).read(data, 0)


class _Reader:
    """Reads one filter, and counts what it has read."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._conditions = self._values = 0

    def read(self, data: Any, depth: int) -> Condition:
        if depth > MAX_DEPTH:
            raise InputError(f"{self.name} is nested more than {MAX_DEPTH} deep")
        if isinstance(data, str):
            raise InputError(f"{self.name} must be a dict such as {_EXAMPLE}, got the text {_cut(data)}{_hint(data)}")
        if not isinstance(data, Mapping):
            raise InputError(f"{self.name} must be a dict such as {_EXAMPLE}, got {type(data).__name__}")
        parts = [self._read_entry(check_name(key, self.name), value, depth) for key, value in data.items()]
        return parts[0] if len(parts) == 1 else And(tuple(parts))

    def _read_entry(self, key: str, value: Any, depth: int) -> Condition:
        if key == "$not":
            return Not(self.read(value, depth + 1))
        if key in ("$and", "$or"):
            if not isinstance(value, (list, tuple)) or not value:
                raise InputError(f"{self.name}: {key} takes a list of conditions, got {_cut(value)}")
            parts = tuple(self.read(part, depth + 1) for part in value)
            return And(parts) if key == "$and" else Or(parts)
        if key.startswith("$"):
            raise InputError(f"{self.name}: {key!r} is neither a field nor one of $and, $or, $not")
        if not isinstance(value, Mapping):
            return self._read_operator(key, "$eq", value)
        if not value:
            raise InputError(f"{self.name}: the condition of {key!r} is an empty dict; use {{'$exists': True}}")
        parts = tuple(self._read_operator(key, str(operator), wanted) for operator, wanted in value.items())
        return parts[0] if len(parts) == 1 else And(parts)

    def _read_operator(self, field: str, operator: str, value: Any) -> Condition:
        if operator not in OPERATORS:
            nested = "" if operator.startswith("$") else f"; a nested field is written {field + '.' + operator!r}"
            raise InputError(f"{self.name}: {field!r} has no operator {operator!r}: {', '.join(OPERATORS)}{nested}")
        self._conditions += 1
        if self._conditions > MAX_CONDITIONS:
            raise InputError(f"{self.name} has more than {MAX_CONDITIONS} comparisons; use $in for many values")
        return OPERATORS[operator](self, field, value)

    def scalar(self, field: str, value: Any) -> Scalar:
        """One value to compare with."""
        self._values += 1
        if self._values > MAX_VALUES:
            raise InputError(f"{self.name} names more than {MAX_VALUES} values")
        if isinstance(value, (list, tuple, set, frozenset)) or (isinstance(value, np.ndarray) and value.ndim):
            raise InputError(
                f"{self.name}: {field!r} is compared with a list; use {{'$in': [...]}} for one of these values, or "
                "{'$contains': value} for a field that is a list"
            )
        return plain_scalar(value, f"{self.name}: the value of {field!r}")


def _read_equal(reader: _Reader, field: str, value: Any) -> Compare:
    return Compare(field, "eq", reader.scalar(field, value))


def _read_order(order: Order) -> Callable[[_Reader, str, Any], Condition]:
    def read(reader: _Reader, field: str, value: Any) -> Compare:
        wanted = reader.scalar(field, value)
        if find_kind(wanted) not in ("number", "text"):
            raise InputError(f"{reader.name}: {field!r} is compared with {wanted!r}, which nothing is above or below")
        return Compare(field, order, wanted)

    return read


def _read_in(reader: _Reader, field: str, value: Any) -> In:
    if isinstance(value, np.ndarray) and value.ndim == 1:
        value = value.tolist()
    if not isinstance(value, (list, tuple, set, frozenset)):
        raise InputError(f"{reader.name}: $in and $nin of {field!r} take a list of values, got {_cut(value)}")
    return In(field, tuple(reader.scalar(field, one) for one in value))


def _read_exists(reader: _Reader, field: str, value: Any) -> Condition:
    if not isinstance(value, (bool, np.bool_)):
        raise InputError(f"{reader.name}: $exists of {field!r} takes True or False, got {_cut(value)}")
    return Exists(field) if value else Not(Exists(field))


OPERATORS: dict[str, Callable[[_Reader, str, Any], Condition]] = {
    "$eq": _read_equal,
    "$ne": lambda reader, field, value: Not(_read_equal(reader, field, value)),
    "$gt": _read_order("gt"),
    "$gte": _read_order("gte"),
    "$lt": _read_order("lt"),
    "$lte": _read_order("lte"),
    "$in": _read_in,
    "$nin": lambda reader, field, value: Not(_read_in(reader, field, value)),
    "$contains": lambda reader, field, value: Contains(field, reader.scalar(field, value)),
    "$exists": _read_exists,
}
"""What may stand beside a field, and how it is read."""


def _cut(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 80 else f"{shown[:77]}..."


def _hint(text: str) -> str:
    """How a text would be written as a dict, if it can be read."""
    try:
        return f"; write {_cut(parse_filter(text))}"
    except InputError:
        return ""
