"""`apart` and `unlike`: single pairs of rows that may not be chosen together, or that count as unlike each other."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from breadth.arrays import Ids, Mask
from breadth.constraints.lookup import read_ids
from breadth.constraints.protocol import Constraint, Given, Pairs, Scope
from breadth.errors import InputError


@dataclass(frozen=True, eq=False)
class NamedPairs(Constraint):
    """No two rows of a pair in `apart` are in one set; a pair in `unlike` costs nothing, whatever its similarity.

    Both are arrays of ids (pairs, 2).
    """

    apart: Ids
    unlike: Ids

    arguments = ("unlike", "apart")
    of_pairs = True
    forgives = True

    @classmethod
    def read(cls, given: Given, scope: Scope) -> NamedPairs | None:
        unlike, apart = (_read_pairs(given.get(name), name, scope) for name in cls.arguments)
        return cls(apart, unlike) if len(apart) or len(unlike) else None

    def renumber(self, ids: Ids) -> NamedPairs:
        return NamedPairs(*(_renumber(pairs, ids) for pairs in (self.apart, self.unlike)))

    def clash(self, pairs: Pairs) -> Mask:
        return _mark(self.apart, pairs.left, pairs.right)

    def forgive(self, left: Ids, right: Ids) -> Mask:
        return _mark(self.unlike, left, right)

    def contradict(self, pins: Pairs) -> str | None:
        left, right = np.nonzero(np.triu(self.clash(pins), k=1))
        if len(left) == 0:
            return None
        return f"rows {pins.left[left[0]]} and {pins.left[right[0]]} are pinned, and apart names them as a pair"


def _read_pairs(value: Any, name: str, scope: Scope) -> Ids:
    """Pairs of different row ids that a user names."""
    if value is None:
        return np.empty((0, 2), dtype=np.int64)
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        raise InputError(f"{name} must be a list of pairs of row ids, got {value!r}")
    pairs = list(value)
    for pair in pairs:
        if not isinstance(pair, Iterable) or isinstance(pair, (str, bytes)) or len(list(pair)) != 2:
            raise InputError(f"{name} must be a list of pairs of row ids, got {pair!r} among them")
    return np.array([read_ids(pair, name, scope) for pair in pairs], dtype=np.int64).reshape(-1, 2)


def _renumber(pairs: Ids, ids: Ids) -> Ids:
    """The pairs of which both rows are among `ids`, sorted, by their places there."""
    inside = np.isin(pairs, ids).all(axis=1)
    return np.searchsorted(ids, pairs[inside])


def _mark(named: Ids, left: Ids, right: Ids) -> Mask:
    """Which pairs (left, right) are named, in either order."""
    mask = np.zeros((len(left), len(right)), dtype=bool)
    for pair in named.tolist():
        for one, other in (pair, pair[::-1]):
            mask[np.ix_(left == one, right == other)] = True
    return mask
