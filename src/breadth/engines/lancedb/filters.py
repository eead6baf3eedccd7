"""A filter as a condition of LanceDB's SQL.

A field is a column, or with dots a field of a struct; a null counts as a field that is not there. Every part is true
or false, never null, so that `not` is the plain complement.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from breadth.filters import And, Compare, Condition, Contains, Exists, In, Not, Or, Scalar
from breadth.filters.values import find_kind

_SIGNS = {"eq": "=", "gt": ">", "gte": ">=", "lt": "<", "lte": "<="}
_KINDS = {"string": "text", "large_string": "text", "bool": "truth", "float": "number", "double": "number"}


def translate(condition: Condition, schema: Any) -> str:
    """Return a condition of SQL that holds where the filter does. `schema` is the table's, from pyarrow."""
    return _FORMS[type(condition)](condition, schema)


def quote(name: str) -> str:
    """Return the name of a column as SQL takes it."""
    return "`" + name.replace("`", "``") + "`"


def write(value: Any) -> str:
    """Return a value as SQL takes it."""
    if isinstance(value, bool):
        return str(value).lower()
    return "'" + str(value).replace("'", "''") + "'" if isinstance(value, str) else repr(value)


def _find(name: str, schema: Any) -> tuple[str, Any] | None:
    """The column, or the field of a struct, of this name, with its type."""
    if name in schema.names:
        return quote(name), schema.field(name).type
    first, *rest = name.split(".")
    if first not in schema.names:
        return None
    path, kind = quote(first), schema.field(first).type
    for part in rest:
        place = kind.get_field_index(part) if str(kind).startswith("struct") else -1
        if place < 0:
            return None
        path, kind = f"{path}.{quote(part)}", kind.field(place).type
    return path, kind


def _kind(type_: Any) -> str:
    name = str(type_)
    return "whole number" if name.startswith(("int", "uint")) else _KINDS.get(name, name)


def _test(path: str, type_: Any, order: str, value: Scalar) -> str:
    """A comparison of a column with a value; false where their types differ."""
    own, asked = _kind(type_), find_kind(value)
    if own.split()[-1] != asked:
        return "false"
    if own == "whole number":
        return _test_whole(path, str(type_), order, value)
    return f"({path} IS NOT NULL AND {path} {_SIGNS[order]} {write(float(value) if type(value) is int else value)})"


def _test_whole(path: str, type_: str, order: str, value: Any) -> str:
    """A comparison of a column of whole numbers: the value must be one, and within the range of the column's type."""
    if isinstance(value, float):
        if order == "eq" and not value.is_integer():
            return "false"
        value = math.ceil(value) if order in ("gte", "lt") else math.floor(value)
    bits = int(type_.removeprefix("u").removeprefix("int"))
    low, high = (0, 2**bits - 1) if type_.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    if low <= value <= high:
        return f"({path} IS NOT NULL AND {path} {_SIGNS[order]} {value})"
    below = order in ("lt", "lte")
    return f"({path} IS NOT NULL)" if (value > high and below) or (value < low and order in ("gt", "gte")) else "false"


def _compare(condition: Compare, schema: Any) -> str:
    found = _find(condition.field, schema)
    return "false" if found is None else _test(*found, condition.order, condition.value)


def _is_in(condition: In, schema: Any) -> str:
    return _join(tuple(Compare(condition.field, "eq", value) for value in condition.values), schema, "OR")


def _contains(condition: Contains, schema: Any) -> str:
    found = _find(condition.field, schema)
    if found is None or "list" not in str(found[1]):
        return "false"
    path, entries = found[0], found[1].value_type
    if _kind(entries).split()[-1] != find_kind(condition.value):
        return "false"
    return f"({path} IS NOT NULL AND array_has({path}, {write(condition.value)}))"


def _exists(condition: Exists, schema: Any) -> str:
    found = _find(condition.field, schema)
    return "false" if found is None else f"({found[0]} IS NOT NULL)"


def _join(parts: tuple[Condition, ...], schema: Any, word: str) -> str:
    if not parts:
        return "true" if word == "AND" else "false"
    return "(" + f" {word} ".join(translate(part, schema) for part in parts) + ")"


_FORMS: dict[type, Callable[[Any, Any], str]] = {
    Compare: _compare,
    In: _is_in,
    Contains: _contains,
    Exists: _exists,
    And: lambda condition, schema: _join(condition.parts, schema, "AND"),
    Or: lambda condition, schema: _join(condition.parts, schema, "OR"),
    Not: lambda condition, schema: f"(NOT {translate(condition.part, schema)})",
}
