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


class KeyBook:
    """Gives each key a handle, a number from 0 on that depends on the key alone, and finds the key of a handle again.

    The handle is a hash. So a set does not depend on which rows were seen before, and two processes agree. Two keys
    with the same hash are an error; among a billion keys that happens with a probability of 5 %.
    """

    def __init__(self) -> None:
        self._keys: dict[int, Any] = {}
        self._handles: dict[Any, int] = {}
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        """Pickle everything but the lock."""
        return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()

    def handles(self, keys: Iterable[Any]) -> Ids:
        """Return the handles of keys, also of those that were not seen before."""
        wanted = list(keys)
        found = [self._handles.get(key) for key in wanted]
        for place, handle in enumerate(found):
            if handle is None:
                found[place] = self._enter(wanted[place])
        return np.array(found, dtype=np.int64)

    def keys(self, ids: Ids) -> Keys:
        """Return the keys of handles."""
        named: Keys = np.empty(len(ids), dtype=object)
        try:
            named[:] = [self._keys[handle] for handle in np.asarray(ids).tolist()]
        except KeyError as error:
            raise InputError(f"{error.args[0]} is no row that this oracle has returned") from None
        return named

    def _enter(self, key: Any) -> int:
        digest = blake2b(f"{type(key).__name__}:{key}".encode(), digest_size=8).digest()
        handle = int.from_bytes(digest, "little") >> 1
        with self._lock:
            known = self._keys.setdefault(handle, key)
            if known != key:
                raise OracleError(f"the ids {known!r} and {key!r} have the same handle; rename one of them")
            self._handles[key] = handle
        return handle
