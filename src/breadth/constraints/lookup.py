"""Arguments about rows: ids, and what belongs to each row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from breadth.arrays import Ids
from breadth.constraints.protocol import Lookup, Scope
from breadth.errors import InputError


def check_together(*, why: str, **arguments: Any) -> None:
    """Raise an error if one of two arguments that belong together is missing."""
    given = [name for name, value in arguments.items() if value is not None]
    if len(given) == 1:
        missing = next(name for name in arguments if name not in given)
        raise InputError(f"{given[0]} needs {missing}: {why}")


def read_ids(value: Any, name: str, scope: Scope) -> Ids:
    """Row ids that a user names, none of them twice."""
    if value is None:
        return np.empty(0, dtype=np.int64)
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        raise InputError(f"{name} must be a list of row ids, got {value!r}")
    try:
        array = np.asarray(value if isinstance(value, np.ndarray) else list(value))
    except ValueError:  # a ragged list
        array = np.empty((1, 1))
    if array.size == 0:
        return np.empty(0, dtype=np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise InputError(f"{name} must be a list of row ids (whole numbers), got {value!r}")
    ids = array.astype(np.int64)
    unique, counts = np.unique(ids, return_counts=True)
    if counts.max() > 1:
        raise InputError(f"{name} names row {int(unique[np.argmax(counts)])} twice")
    wrong = ids[(ids < 0) | (ids >= scope.size)] if scope.numbered else ids[ids < 0]
    if len(wrong):
        there = f"the rows are 0 to {scope.size - 1}" if scope.numbered else "no id is negative"
        raise InputError(f"{name} names row {int(wrong[0])}, but {there}")
    return ids


def read_lookup(value: Any, name: str, scope: Scope) -> Lookup:
    """A function from ids to what belongs to them, from a sequence by row number, a mapping or a function."""
    if callable(value):
        return _checked_lookup(value, name)
    if isinstance(value, Mapping):
        return _mapping_lookup(value, name)
    if not scope.numbered:
        raise InputError(f"{name} must be a mapping from ids or a function of ids: the ids of this oracle are its own")
    entries = np.empty(scope.size, dtype=object)
    values = list(value) if isinstance(value, Iterable) and not isinstance(value, (str, bytes)) else None
    if values is None or len(values) != scope.size:
        seen = f"{len(values)} entries" if values is not None else repr(value)
        raise InputError(f"{name} must have one entry for each of the {scope.size} rows, got {seen}")
    entries[:] = values
    return lambda ids: np.asarray(entries[ids])


def _checked_lookup(function: Callable[[Ids], Any], name: str) -> Lookup:
    def look_up(ids: Ids) -> Any:
        answer = function(ids)
        found = list(answer) if isinstance(answer, Iterable) else None
        if found is None or len(found) != len(ids):
            seen = repr(answer) if found is None else f"{len(found)} entries"
            raise InputError(
                f"the function given as {name} must return an entry for each of {len(ids)} ids, got {seen}"
            )
        array = np.empty(len(ids), dtype=object)
        array[:] = found
        return array

    return look_up


def _mapping_lookup(mapping: Mapping[Any, Any], name: str) -> Lookup:
    def look_up(ids: Ids) -> Any:
        missing = [i for i in ids.tolist() if i not in mapping]
        if missing:
            raise InputError(f"{name} has no entry for row {missing[0]}")
        array = np.empty(len(ids), dtype=object)
        array[:] = [mapping[i] for i in ids.tolist()]
        return array

    return look_up
