"""A filter in SQL: values are bound, names are quoted, and NULL means that the field is not there."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from breadth.engines.pgvector.driver import identify, sql
from breadth.engines.pgvector.table import Column, Table
from breadth.errors import InputError
from breadth.filters import And, Compare, Condition, Contains, Exists, In, Not, Or, Scalar
from breadth.filters.values import find_kind

_SIGNS = {"eq": "=", "gt": ">", "gte": ">=", "lt": "<", "lte": "<="}
_KINDS = {"N": "number", "S": "text", "B": "truth"}
"""The categories of PostgreSQL's types whose values compare with numbers, with text, and with true and false."""
_CAST = ("uuid", "date", "timestamp", "timestamptz", "time", "timetz")
"""Types that are written as text: the text is read as a value of the type."""
_NEVER = sql.SQL("false")
_JSON_KINDS = {"number": "number", "text": "string", "truth": "boolean", "null": "null"}


class Translation:
    """Translates conditions for one table. `parameters` collects the values to bind."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self.parameters: dict[str, Any] = {}

    def translate(self, condition: Condition) -> sql.Composable:
        """Return an expression that is true where the condition holds, and false or NULL elsewhere."""
        return _FORMS[type(condition)](self, condition)

    def compare(self, condition: Compare) -> sql.Composable:
        column = self._table.columns.get(condition.field)
        if column is not None:
            return self._compare_column(column, _SIGNS[condition.order], condition.value)
        field, value, kind = self._find_in_json(condition.field), condition.value, find_kind(condition.value)
        if condition.order == "eq":
            return sql.SQL("{} = {}::jsonb").format(field, self._bind(json.dumps(value)))
        sign = sql.SQL(_SIGNS[condition.order])
        if kind == "text":  # by code points, as Python orders text
            form = "(jsonb_typeof({f}) = 'string' AND ({f} #>> '{{}}') COLLATE \"C\" {s} {v})"
            return sql.SQL(form).format(f=field, s=sign, v=self._bind(value))
        same = sql.SQL("jsonb_typeof({}) = {}").format(field, self._bind(_JSON_KINDS[kind]))
        return sql.SQL("({} AND {} {} {}::jsonb)").format(same, field, sign, self._bind(json.dumps(value)))

    def is_in(self, condition: In) -> sql.Composable:
        column = self._table.columns.get(condition.field)
        if column is None:
            values = [json.dumps(value) for value in condition.values]
            return sql.SQL("{} = ANY({}::text[]::jsonb[])").format(
                self._find_in_json(condition.field), self._bind(values)
            )
        array: sql.Composable
        if column.type in _CAST:
            texts = [value for value in condition.values if isinstance(value, str)]
            array = sql.SQL("{}::text[]::{}[]").format(self._bind(texts), identify(column.type))
        else:
            same = [value for value in condition.values if find_kind(value) == _KINDS.get(column.category)]
            if not same:
                return _NEVER
            mixed = any(isinstance(value, float) for value in same)
            array = self._bind([float(value or 0) for value in same] if mixed else same)
        return sql.SQL("{} = ANY({})").format(column.identifier, array)

    def contains(self, condition: Contains) -> sql.Composable:
        column = self._table.columns.get(condition.field)
        if column is None:
            form = sql.SQL("(jsonb_typeof({f}) = 'array' AND {f} @> {v}::jsonb)")
            return form.format(f=self._find_in_json(condition.field), v=self._bind(json.dumps(condition.value)))
        if column.category != "A":
            return _NEVER
        if condition.value is None:
            return sql.SQL("array_position({}, NULL) IS NOT NULL").format(column.identifier)
        if _KINDS.get(column.entries) != find_kind(condition.value):
            return _NEVER
        return sql.SQL("{} = ANY({})").format(self._bind(condition.value), column.identifier)

    def exists(self, condition: Exists) -> sql.Composable:
        column = self._table.columns.get(condition.field)
        field = self._find_in_json(condition.field) if column is None else column.identifier
        return sql.SQL("{} IS NOT NULL").format(field)

    def join(self, parts: tuple[Condition, ...], word: str, empty: str) -> sql.Composable:
        if not parts:
            return sql.SQL(empty)
        return sql.SQL("({})").format(sql.SQL(word).join([self.translate(part) for part in parts]))

    def complement(self, condition: Not) -> sql.Composable:
        return sql.SQL("({}) IS NOT TRUE").format(self.translate(condition.part))

    def _compare_column(self, column: Column, sign: str, value: Scalar) -> sql.Composable:
        kind = find_kind(value)
        if column.type in _CAST and kind == "text":
            form, name = "{} {} {}::{}", identify(column.type)
            return sql.SQL(form).format(column.identifier, sql.SQL(sign), self._bind(value), name)
        if kind != _KINDS.get(column.category):
            return _NEVER  # values of different types never compare; NULL is a field that is not there
        order = sql.SQL(' COLLATE "C"') if kind == "text" and sign != "=" else sql.SQL("")
        return sql.SQL("{}{} {} {}").format(column.identifier, order, sql.SQL(sign), self._bind(value))

    def _find_in_json(self, field: str) -> sql.Composable:
        """Return the expression for a field of the metadata: the key of this name, else the dotted path."""
        column = self._table.metadata
        if column is None:
            raise InputError(
                f"where: {self._table.label} has no column {field!r}, and no column with metadata (json or jsonb); "
                f"its columns are {', '.join(self._table.columns)}"
            )
        whole = column.identifier if column.type == "jsonb" else sql.SQL("{}::jsonb").format(column.identifier)
        by_name = sql.SQL("({} -> {})").format(whole, self._bind(field))
        if "." not in field:
            return by_name
        steps = [sql.SQL(" -> {}").format(self._bind(part)) for part in field.split(".")]
        path = sql.SQL("({}{})").format(whole, sql.Composed(steps))
        return sql.SQL("(CASE WHEN {} ? {} THEN {} ELSE {} END)").format(whole, self._bind(field), by_name, path)

    def _bind(self, value: Any) -> sql.Composable:
        name = f"where_{len(self.parameters)}"
        self.parameters[name] = value
        cast = "::text" if isinstance(value, str) else ""
        return sql.SQL("{}" + cast).format(sql.Placeholder(name))


_FORMS: dict[type, Callable[[Translation, Any], sql.Composable]] = {
    Compare: Translation.compare,
    In: Translation.is_in,
    Contains: Translation.contains,
    Exists: Translation.exists,
    And: lambda translation, condition: translation.join(condition.parts, " AND ", "true"),
    Or: lambda translation, condition: translation.join(condition.parts, " OR ", "false"),
    Not: Translation.complement,
}
