"""The arguments that say which sets are allowed, checked: `Constraints` from what a user passes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any

import numpy as np

from breadth.arrays import Ids
from breadth.checks import check_count, check_number
from breadth.errors import InputError
from breadth.feasible import Constraints, Lookup

NAMES = ("distinct", "groups", "per_group", "pinned", "excluded", "floor", "on_topic", "keep_best", "costs", "budget")


def read_constraints(
    size: int,
    numbered: bool,
    k: int,
    *,
    distinct: Any = None,
    groups: Any = None,
    per_group: Any = None,
    pinned: Any = None,
    excluded: Any = None,
    floor: Any = None,
    on_topic: Any = None,
    keep_best: Any = False,
    costs: Any = None,
    budget: Any = None,
) -> Constraints:
    """Check the arguments of `breadth.select` that restrict the set.

    `size` is the number of rows, and `numbered` says whether their ids are 0 … size-1.
    """
    if (groups is None) != (per_group is None):
        given, missing = ("groups", "per_group") if per_group is None else ("per_group", "groups")
        raise InputError(f"{given} needs {missing}: groups= labels the rows, per_group= says how many of one label")
    if (costs is None) != (budget is None):
        given, missing = ("costs", "budget") if budget is None else ("budget", "costs")
        raise InputError(f"{given} needs {missing}: costs= says what each row costs, budget= what a set may cost")
    if not isinstance(keep_best, (bool, np.bool_)):
        raise InputError(f"keep_best must be True or False, got {keep_best!r}")
    inside, outside = _read_ids(pinned, "pinned", size, numbered), _read_ids(excluded, "excluded", size, numbered)
    both = np.intersect1d(inside, outside) if len(inside) and len(outside) else inside[:0]
    if len(both):
        raise InputError(f"pinned and excluded contradict each other: both name row {int(both[0])}")
    if len(inside) > k:
        raise InputError(f"pinned names {len(inside)} rows, but k is {k}")
    if numbered and len(outside) >= size:
        raise InputError(f"excluded names all {size} rows, so no set is left")
    return Constraints(
        distinct=None if distinct is None or check_number(distinct, "distinct", -1.0, 1.0) == 1.0 else float(distinct),
        groups=None if groups is None else _read_labels(groups, size, numbered),
        per_group=1 if per_group is None else check_count(per_group, "per_group"),
        pinned=inside,
        excluded=outside,
        floor=None if floor is None else check_number(floor, "floor"),
        on_topic=None if on_topic is None else check_number(on_topic, "on_topic", 0.0, 1.0) or None,
        keep_best=bool(keep_best),
        costs=None if costs is None else _read_costs(costs, size, numbered),
        budget=np.inf if budget is None else check_number(budget, "budget", 0.0),
    )


def _read_ids(value: Any, name: str, size: int, numbered: bool) -> Ids:
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
    wrong = ids[(ids < 0) | (ids >= size)] if numbered else ids[ids < 0]
    if len(wrong):
        there = f"the rows are 0 to {size - 1}" if numbered else "no id is negative"
        raise InputError(f"{name} names row {int(wrong[0])}, but {there}")
    return ids


def _read_lookup(value: Any, name: str, size: int, numbered: bool) -> Lookup:
    """A function from ids to what belongs to them, from a sequence by row number, a mapping or a function."""
    if callable(value):
        return _checked_lookup(value, name)
    if isinstance(value, Mapping):
        return _mapping_lookup(value, name)
    if not numbered:
        raise InputError(f"{name} must be a mapping from ids or a function of ids: the ids of this oracle are its own")
    entries = np.empty(size, dtype=object)
    values = list(value) if isinstance(value, Iterable) and not isinstance(value, (str, bytes)) else None
    if values is None or len(values) != size:
        seen = f"{len(values)} entries" if values is not None else repr(value)
        raise InputError(f"{name} must have one entry for each of the {size} rows, got {seen}")
    entries[:] = values
    return lambda ids: np.asarray(entries[ids])


def _read_labels(groups: Any, size: int, numbered: bool) -> Lookup:
    look_up = _read_lookup(groups, "groups", size, numbered)

    def read(ids: Ids) -> Any:
        labels = look_up(ids)
        for identity, label in zip(ids.tolist(), labels.tolist(), strict=True):
            if not isinstance(label, Hashable):
                raise InputError(f"groups: the label of row {identity} is {label!r}; pass a text or a number")
        return labels

    return read


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


def _read_costs(costs: Any, size: int, numbered: bool) -> Lookup:
    look_up = _read_lookup(costs, "costs", size, numbered)

    def read(ids: Ids) -> Any:
        try:
            numbers = look_up(ids).astype(np.float64)
        except (TypeError, ValueError):
            raise InputError("costs must be numbers") from None
        wrong = np.flatnonzero(~(np.isfinite(numbers) & (numbers >= 0.0)))
        if len(wrong):
            raise InputError(f"costs: row {int(ids[wrong[0]])} costs {numbers[wrong[0]]}; a cost is at least 0")
        return numbers

    if numbered and not callable(costs) and not isinstance(costs, Mapping):
        read(np.arange(size))
    return read
