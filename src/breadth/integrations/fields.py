"""The fields that a filter names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def list_fields(condition: Any) -> Iterator[str]:
    """The names of the fields of a filter, in its order."""
    if isinstance(condition, Mapping):
        for name, value in condition.items():
            if str(name).startswith("$"):
                yield from list_fields(value)
            else:
                yield str(name)
    elif isinstance(condition, list):
        for part in condition:
            yield from list_fields(part)


def prefix_fields(condition: Any, prefix: str) -> Any:
    """A filter whose fields are below another one; those that have the prefix keep their names."""
    if isinstance(condition, list):
        return [prefix_fields(part, prefix) for part in condition]
    if not isinstance(condition, Mapping):
        return condition
    return {
        name if name.startswith(("$", prefix)) else f"{prefix}{name}": (
            prefix_fields(value, prefix) if name.startswith("$") else value
        )
        for name, value in condition.items()
    }
