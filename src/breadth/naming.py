"""The ids of an engine that are not numbers: `breadth.select` takes and returns them, solvers see handles.

An oracle with `keys` and `handles` (a `KeyedOracle`) translates. Every other oracle's ids are used as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from breadth.arrays import Ids
from breadth.errors import InputError
from breadth.explanation import Explanation, Reason
from breadth.selection import Selection


def read_names(oracle: Any, wishes: dict[str, Any]) -> dict[str, Any]:
    """The constraints of `select` as they were passed, with handles in the place of an engine's own ids."""
    if not hasattr(oracle, "keys"):
        return wishes
    read = dict(wishes)
    for name in ("pinned", "excluded"):
        if read.get(name) is not None:
            read[name] = oracle.handles(_read_keys(read[name], name))
    for name in ("groups", "costs", "texts", "prefer"):
        if callable(read.get(name)) or isinstance(read.get(name), Mapping):
            read[name] = _by_key(oracle, read[name], name)
    return read


def _read_keys(value: Any, name: str) -> list[Any]:
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        raise InputError(f"{name} must be a list of ids of the engine, got {value!r}")
    keys = value.tolist() if isinstance(value, np.ndarray) else list(value)
    if len(set(keys)) < len(keys):
        raise InputError(f"{name} names row {next(key for key in keys if keys.count(key) > 1)!r} twice")
    return keys


def _by_key(oracle: Any, entries: Any, name: str) -> Callable[[Ids], Any]:
    """A function of handles, from a mapping or a function that knows the engine's own ids."""
    if callable(entries):
        return lambda ids: entries(oracle.keys(ids))

    def look_up(ids: Ids) -> list[Any]:
        keys = oracle.keys(ids).tolist()
        missing = [key for key in keys if key not in entries]
        if missing:
            raise InputError(f"{name} has no entry for row {missing[0]!r}")
        return [entries[key] for key in keys]

    return look_up


def name_rows(oracle: Any, selection: Selection) -> Selection:
    """The selection with the engine's own ids."""
    if not hasattr(oracle, "keys"):
        return selection

    def name(identity: int) -> Any:
        return oracle.keys(np.array([identity])).tolist()[0]

    return replace(
        selection,
        ids=oracle.keys(selection.ids),
        near=selection.near.rename(name),
    )


def name_reasons(oracle: Any, explanation: Explanation) -> Explanation:
    """The explanation with the engine's own ids."""
    if not hasattr(oracle, "keys"):
        return explanation

    def name(identity: Any) -> Any:
        return None if identity is None else oracle.keys(np.array([identity]))[0]

    def name_reason(reason: Reason) -> Reason:
        names = (reason.id, reason.neighbour, reason.replacement)
        return replace(reason, **dict(zip(("id", "neighbour", "replacement"), map(name, names), strict=True)))

    return Explanation(tuple(map(name_reason, explanation)))
