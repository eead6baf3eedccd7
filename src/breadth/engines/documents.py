"""Texts and metadata for an engine that holds vectors alone: they are given when it is opened, and stay in memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from breadth.arrays import Ids
from breadth.errors import InputError
from breadth.filters import Condition, matches
from breadth.oracles.protocol import Payload


class Documents:
    """Payloads by the id of a row: a sequence, where ids are 0, 1, …, or a mapping; None for none at all."""

    def __init__(self, given: Sequence[Any] | Mapping[int, Any] | None) -> None:
        if given is not None and (isinstance(given, (str, bytes)) or not isinstance(given, (Sequence, Mapping))):
            raise InputError(f"documents must be a list or a mapping from ids, got {type(given).__name__}")
        self._given = given

    def __bool__(self) -> bool:
        return self._given is not None

    def find(self, ids: Ids) -> list[Payload]:
        """The payloads of rows, in this order."""
        return [self._find(identity) for identity in ids.tolist()]

    def match(self, condition: Condition) -> Ids:
        """The ids of all rows whose metadata fulfil a condition, rising."""
        if self._given is None:
            raise InputError("where needs metadata, which this engine does not hold; pass documents= when you open it")
        every: Iterable[int] = self._given if isinstance(self._given, Mapping) else range(len(self._given))
        return np.array(sorted(i for i in every if matches(condition, self._find(i).metadata)), dtype=np.int64)

    def _find(self, identity: int) -> Payload:
        assert self._given is not None
        try:
            return read_payload(self._given[identity])
        except (KeyError, IndexError):
            raise InputError(f"documents has no entry for row {identity}") from None


def join_filters(first: Mapping[str, Any] | None, second: Mapping[str, Any]) -> Mapping[str, Any]:
    """The filter that says both."""
    return second if first is None else {"$and": [first, second]}


def read_payload(entry: Any) -> Payload:
    """A payload from a text, or from a mapping with a "text" and metadata beside it, or from a payload."""
    if isinstance(entry, Payload):
        return entry
    if isinstance(entry, str):
        return Payload(entry)
    if not isinstance(entry, Mapping):
        raise InputError(f"documents must hold texts, mappings or Payloads, got {type(entry).__name__}")
    text = entry.get("text")
    return Payload(text, {name: value for name, value in entry.items() if name != "text"})
