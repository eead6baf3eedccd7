"""Which filters of LangChain the engines read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from breadth.errors import InputError


def check_dict(condition: Any) -> Mapping[str, Any] | None:
    """The filter, if it is one that an engine of breadth reads."""
    if condition is None or isinstance(condition, Mapping):
        return condition
    raise InputError(f"the filter is a {type(condition).__name__}; write it as a dict, see breadth.filters")
