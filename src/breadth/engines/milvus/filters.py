"""A filter as an expression of Milvus.

Milvus has no null in comparisons. Milvus Lite takes a field that is null for one that is not there, and does not tell
true from 1 and false from 0; a server does. In Milvus Lite a value of another type is neither above nor below nor not
above: the complement of an order is refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from breadth.engines.milvus.schema import ARRAY, KINDS, WHOLE, Schema
from breadth.errors import InputError
from breadth.filters import And, Compare, Condition, Contains, Exists, In, Not, Or, Scalar
from breadth.filters.values import find_kind

_SIGNS = {"eq": "==", "gt": ">", "gte": ">=", "lt": "<", "lte": "<="}
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"})


def translate(condition: Condition, schema: Schema) -> str:
    """Return an expression that holds where the condition does. Each part is true or false, never unknown."""
    return _FORMS[type(condition)](condition, schema)


def translate_keys(field: str, keys: Iterable[Any]) -> str:
    """Return an expression that holds for the rows with these keys."""
    return f"{field} in [{', '.join(map(_write, keys))}]"


def _never(schema: Schema) -> str:
    return f"({schema.key.name} in [])"


def _compare(condition: Compare, schema: Schema) -> str:
    field = schema.fields.get(condition.field)
    if field is None:
        return _in_json(
            condition.field, schema, lambda path: f"{path} {_SIGNS[condition.order]} {_write(condition.value)}"
        )
    if KINDS.get(field.type) != find_kind(condition.value):
        return _never(schema)
    value = condition.value
    if field.type in WHOLE and isinstance(value, float):
        if condition.order == "eq" and not value.is_integer():
            return _never(schema)
        value = math.ceil(value) if condition.order in ("gte", "lt") else math.floor(value)
    return f"({field.name} {_SIGNS[condition.order]} {_write(value)})"


def _is_in(condition: In, schema: Schema) -> str:
    return _join(tuple(Compare(condition.field, "eq", value) for value in condition.values), schema, "or")


def _contains(condition: Contains, schema: Schema) -> str:
    field, value = schema.fields.get(condition.field), condition.value
    if field is None:
        return _in_json(condition.field, schema, lambda path: f"json_contains({path}, {_write(value)})", bare=True)
    if field.type != ARRAY or KINDS.get(field.entries) != find_kind(value):
        return _never(schema)
    return f"(array_contains({field.name}, {_write(value)}))"


def _exists(condition: Exists, schema: Schema) -> str:
    field = schema.fields.get(condition.field)
    if field is None:
        return _in_json(condition.field, schema, None)
    return f"({field.name} is not null)" if field.nullable else f"(not {_never(schema)})"


def _join(parts: tuple[Condition, ...], schema: Schema, word: str) -> str:
    if not parts:
        return f"(not {_never(schema)})" if word == "and" else _never(schema)
    return "(" + f" {word} ".join(translate(part, schema) for part in parts) + ")"


def _complement(condition: Not, schema: Schema) -> str:
    if schema.is_lite and (field := _find_order(condition.part, schema)) is not None:
        raise InputError(
            f"where: Milvus Lite has no complement of an order ({field!r}); say what holds instead, e.g. "
            f"{{'$or': [{{{field!r}: {{'$exists': False}}}}, {{{field!r}: {{'$lte': …}}}}]}}"
        )
    return f"(not {translate(condition.part, schema)})"


def _find_order(condition: Condition, schema: Schema) -> str | None:
    """Return a field of the metadata that a condition compares by order, or None."""
    if isinstance(condition, Compare):
        return condition.field if condition.order != "eq" and condition.field not in schema.fields else None
    parts = condition.parts if isinstance(condition, (And, Or)) else ()
    inner = (condition.part,) if isinstance(condition, Not) else parts
    return next((found for part in inner if (found := _find_order(part, schema)) is not None), None)


def _in_json(name: str, schema: Schema, test: Callable[[str], str] | None, bare: bool = False) -> str:
    """Return the test of a field of the metadata: of the key of this name, or else of the dotted path."""
    whole = schema.metadata
    if whole is None:
        raise InputError(
            f"where: {schema.collection} has no field {name!r}, and no dynamic field; "
            f"it has {', '.join(schema.fields)}; pass metadata=FIELD if one of them is JSON with metadata"
        )

    def check(steps: list[str]) -> str:
        path = whole + "".join(f"[{_write(step)}]" for step in steps)
        short = bare and whole == "$meta" and steps[0].isidentifier()  # Milvus Lite wants it so
        asked = steps[0] + "".join(f"[{_write(step)}]" for step in steps[1:]) if short else path
        return f"((exists {path}) and ({test(asked)}))" if test else f"(exists {path})"

    if "." not in name:
        return check([name])
    return f"({check([name])} or ((not (exists {whole}[{_write(name)}])) and {check(name.split('.'))}))"


def _write(value: Scalar) -> str:
    if isinstance(value, str):
        if "\0" in value:
            raise InputError(f"where: Milvus reads no text with a zero character, got {value!r}")
        return f'"{value.translate(_ESCAPES)}"'
    if value is None:
        raise InputError("where: Milvus cannot compare with null; use {'$exists': false}")
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise InputError(f"where: Milvus reads whole numbers of 64 bits, got {value}")
    return str(value).lower() if isinstance(value, bool) else repr(value)


_FORMS: dict[type, Callable[[Any, Schema], str]] = {
    Compare: _compare,
    In: _is_in,
    Contains: _contains,
    Exists: _exists,
    And: lambda condition, schema: _join(condition.parts, schema, "and"),
    Or: lambda condition, schema: _join(condition.parts, schema, "or"),
    Not: _complement,
}
