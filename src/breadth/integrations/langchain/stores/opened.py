"""What a store is opened as: an oracle over its documents, and a way to read them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from breadth.errors import InputError
from breadth.integrations.whole import Read, read_payloads

Opener = Callable[[Any, Any], "Whole"]
"""Opens the documents of a store that fulfil a filter. What it cannot open is an `InputError` that says why."""


@dataclass(frozen=True, eq=False)
class Whole:
    """A store as an oracle, with a way to read its documents. `close` ends what was opened for it."""

    oracle: Any
    read: Read

    def close(self) -> None:
        if hasattr(self.oracle, "close"):
            self.oracle.close()


class _Nothing:
    """A collection without rows."""

    size = 0


def empty() -> Whole:
    """A store without documents."""
    return Whole(_Nothing(), lambda ids: [])


def with_payloads(oracle: Any) -> Whole:
    """An oracle whose engine holds texts and metadata."""
    return Whole(oracle, read_payloads(oracle))


def check_dict(condition: Any) -> Mapping[str, Any] | None:
    """The filter, if it is one that an engine of breadth reads."""
    if condition is None or isinstance(condition, Mapping):
        return condition
    raise InputError(f"the filter is a {type(condition).__name__}; write it as a dict, see breadth.filters")
