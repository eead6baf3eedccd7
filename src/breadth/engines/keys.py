"""Handles for the ids of an engine that are texts, UUIDs or any other values."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from hashlib import blake2b
from typing import Any

import numpy as np

from breadth.arrays import Ids
from breadth.errors import InputError, OracleError
from breadth.oracles.protocol import Keys

REMEMBERED = 1 << 19
"""Keys that are remembered at least. A key takes about 300 bytes."""


class KeyBook:
    """Gives each key a handle, a number from 0 on that depends on the key alone, and finds the key of a handle again.

    The handle is a hash. So a set does not depend on which rows were seen before, and two processes agree. Two keys
    with the same hash are an error; among a billion keys that happens with a probability of 5 %.

    The book remembers the keys of the last calls, at least `remembered` of them, and forgets older ones: those that no
    query works with any more, and those that somebody asked for and that are not there. It forgets between two calls,
    never within one.
    """

    def __init__(self, remembered: int = REMEMBERED) -> None:
        self._remembered = remembered
        self._recent, self._older = _Page(), _Page()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._recent.keys.keys() | self._older.keys.keys())

    def __getstate__(self) -> dict[str, Any]:
        """Pickle everything but the lock."""
        return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()

    def handles(self, keys: Iterable[Any]) -> Ids:
        """Return the handles of keys, also of those that were not seen before."""
        wanted = list(keys)
        with self._lock:
            if len(self._recent.keys) >= self._remembered:
                self._older, self._recent = self._recent, _Page()
            page = self._recent
        found = [page.handles.get(key) for key in wanted]
        for place, handle in enumerate(found):
            if handle is None:
                found[place] = self._enter(page, wanted[place])
        return np.array(found, dtype=np.int64)

    def keys(self, ids: Ids) -> Keys:
        """Return the keys of handles."""
        named: Keys = np.empty(len(ids), dtype=object)
        with self._lock:
            recent, older = self._recent.keys, self._older.keys
        try:
            named[:] = [recent[handle] if handle in recent else older[handle] for handle in np.asarray(ids).tolist()]
        except KeyError as error:
            raise InputError(f"{error.args[0]} is no row that this oracle has returned") from None
        return named

    def _enter(self, page: _Page, key: Any) -> int:
        handle = _hash(key)
        with self._lock:
            known = page.keys.setdefault(handle, self._older.keys.get(handle, key))
            if known != key:
                raise OracleError(f"the ids {known!r} and {key!r} have the same handle; rename one of them")
            page.handles[key] = handle
        return handle


class _Page:
    """Keys by their handles, and handles by their keys."""

    def __init__(self) -> None:
        self.keys: dict[int, Any] = {}
        self.handles: dict[Any, int] = {}


def _hash(key: Any) -> int:
    digest = blake2b(f"{type(key).__name__}:{key}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 1
