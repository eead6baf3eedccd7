"""A filter in Qdrant's words.

Qdrant compares a value with every entry of a list; `field[]` addresses the entries alone, which tells the two apart.
It orders numbers and dates, no other text. It takes an empty list for a field that is not there.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from breadth.engines.qdrant.door import Words
from breadth.errors import InputError
from breadth.filters import And, Compare, Condition, Contains, Exists, In, Not, Or, Scalar
from breadth.filters.values import find_kind


class Translation:
    """Translates conditions. `prefix` is the field that holds all metadata, with a dot; or ""."""

    def __init__(self, words: Words, prefix: str) -> None:
        self._words, self._prefix = words, prefix

    def translate(self, condition: Condition) -> Any:
        """Return a filter that holds where the condition does."""
        return _FORMS[type(condition)](self, condition)

    def compare(self, condition: Compare) -> Any:
        def test(key: str) -> Any:
            both = (
                self._test(key, condition.order, condition.value),
                self._test(f"{key}[]", condition.order, condition.value),
            )
            return self._words.join(must=both[:1], must_not=both[1:])

        return self._on(condition.field, test)

    def is_in(self, condition: In) -> Any:
        parts = tuple(Compare(condition.field, "eq", value) for value in condition.values)
        return self.either(parts)

    def contains(self, condition: Contains) -> Any:
        return self._on(
            condition.field, lambda key: self._words.join(must=[self._test(f"{key}[]", "eq", condition.value)])
        )

    def exists(self, condition: Exists) -> Any:
        return self._on(condition.field, self._is_there)

    def both(self, parts: tuple[Condition, ...]) -> Any:
        return self._words.join(must=[self.translate(part) for part in parts])

    def either(self, parts: tuple[Condition, ...]) -> Any:
        if not parts:  # nothing to choose from: never
            return self._words.join(must_not=[self._words.join()])
        return self._words.join(should=[self.translate(part) for part in parts])

    def complement(self, condition: Not) -> Any:
        return self._words.join(must_not=[self.translate(condition.part)])

    def _on(self, field: str, test: Callable[[str], Any]) -> Any:
        """Test a field: the key of exactly this name or, if that is not there, the dotted path."""
        named = self._prefix + _quote(field)
        if "." not in field:
            return test(named)
        path = self._prefix + ".".join(map(_quote, field.split(".")))
        nested = self._words.join(must=[test(path)], must_not=[self._is_there(named)])
        return self._words.join(should=[test(named), nested])

    def _is_there(self, key: str) -> Any:
        filled = self._words.join(must_not=[self._words.empty(key)])
        return self._words.join(should=[filled, self._words.null(key)])

    def _test(self, key: str, order: str, value: Scalar) -> Any:
        kind = find_kind(value)
        if kind == "null":
            return self._words.null(key)
        if kind == "number":
            if float(value or 0) != value:
                raise InputError(f"where: Qdrant compares numbers as floats, which {value} is not; use a text")
            limits: dict[str, Any] = {"gte": value, "lte": value} if order == "eq" else {order: value}
            return self._words.span(key, **limits)
        if order != "eq":
            return self._words.dates(key, **{order: _read_date(value)})
        if kind == "truth" and not self._words.compares_truth:
            raise InputError("where: qdrant-edge-py takes true and false for 1 and 0; compare with a text or a number")
        return self._words.match(key, value)


def _read_date(value: Scalar) -> str:
    try:
        return datetime.fromisoformat(str(value)).isoformat()
    except ValueError:
        raise InputError(f"where: Qdrant orders numbers and dates, and {value!r} is neither") from None


def _quote(name: str) -> str:
    if not name or '"' in name or "\0" in name:
        raise InputError(f"where: Qdrant has no way to address the field {name!r}")
    return f'"{name}"'


_FORMS: dict[type, Callable[[Translation, Any], Any]] = {
    Compare: Translation.compare,
    In: Translation.is_in,
    Contains: Translation.contains,
    Exists: Translation.exists,
    And: lambda translation, condition: translation.both(condition.parts),
    Or: lambda translation, condition: translation.either(condition.parts),
    Not: Translation.complement,
}
