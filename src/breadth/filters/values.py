"""The values that metadata hold and that filters compare: text, numbers, true and false, null.

Dates become ISO text, which sorts as the dates do. NumPy numbers become plain ones. Metadata may also hold lists and
dicts of such values. Everything else is refused.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from breadth.errors import InputError

Scalar = str | int | float | bool | None
"""A value that a filter compares."""
Kind = str
"""The type of a value in comparisons: "text", "number", "truth" or "null"; "list" and "dict" compare with nothing."""

_LARGEST = 10**300
MAX_DEPTH = 16
"""How deep lists and dicts in metadata, and conditions in a filter, may be nested."""


def plain_scalar(value: Any, name: str) -> Scalar:
    """Return a scalar as one of the plain types; the message of the error names the argument."""
    plain = simplify(value)
    if isinstance(plain, str):
        return check_text(plain, name)
    if plain is None or isinstance(plain, bool):
        return plain
    if isinstance(plain, int):
        if abs(plain) < _LARGEST:
            return plain
        raise InputError(f"{name} is a whole number of more than 300 digits; pass it as text")
    if isinstance(plain, float):
        if math.isfinite(plain):
            return plain
        raise InputError(f"{name} must be a finite number, got {plain}; null says that there is none")
    raise InputError(f"{name} must be text, a number, true, false, null or a date, got {type(value).__name__}")


def plain_metadata(value: Any, name: str, depth: int = 0) -> Any:
    """Return a value of metadata in plain types: scalars, and lists and dicts of them."""
    if depth > MAX_DEPTH:
        raise InputError(f"{name} is nested more than {MAX_DEPTH} deep")
    if isinstance(value, Mapping):
        return {
            check_name(key, name): plain_metadata(entry, f"{name}[{key!r}]", depth + 1) for key, entry in value.items()
        }
    if isinstance(value, np.ndarray) and value.ndim:
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [plain_metadata(entry, f"{name}[{place}]", depth + 1) for place, entry in enumerate(value)]
    if isinstance(value, (set, frozenset)):
        raise InputError(f"{name} is a set, which has no order; pass a list, e.g. sorted(tags)")
    return plain_scalar(value, name)


def check_name(key: Any, name: str) -> str:
    """Return the name of a field."""
    if not isinstance(key, str):
        raise InputError(f"{name}: the name of a field must be text, got {key!r}")
    return check_text(key, f"{name}: the name of a field")


def check_text(text: str, name: str) -> str:
    """Return a text that can be written as UTF-8, as a plain str."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InputError(f"{name} holds half of a character (a lone surrogate), got {text!r}; decode it anew") from None
    return text if type(text) is str else str.__str__(text)


def find_kind(value: Any) -> Kind:
    """The type of a plain value in comparisons: values of different kinds are never equal, above or below."""
    if isinstance(value, bool):
        return "truth"
    if isinstance(value, (int, float)):
        return "number"
    if isinstance(value, str):
        return "text"
    if value is None:
        return "null"
    return "dict" if isinstance(value, Mapping) else "list"


def simplify(value: Any) -> Any:
    """A value with dates and NumPy's scalars made plain; anything else stays as it is."""
    if isinstance(value, (np.generic, np.ndarray)) and value.ndim == 0:
        if isinstance(value, np.datetime64) or value.dtype.kind == "M":
            return None if np.isnat(value) else str(value)
        value = value.item()
    if isinstance(value, (datetime.datetime, datetime.date)):  # NaT of pandas is one, and has no date
        return None if value != value else value.isoformat()
    return value
