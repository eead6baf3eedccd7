"""A set that grows row by row over a whole collection: which rows the constraints still let in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from breadth.arrays import Array, Ids, Mask, Vector
from breadth.problem import Problem


@dataclass(frozen=True, eq=False)
class Scored:
    """Pairs of rows whose cosines are at hand, to a `rounding`: a pair in doubt counts as closer."""

    left: Ids
    right: Ids
    cosines: Array
    rounding: float = 0.0

    def above(self, cosine: float) -> Mask:
        return np.asarray(self.cosines > cosine - self.rounding)


class Partial:
    """The rows chosen so far, and what they leave of the constraints."""

    def __init__(self, problem: Problem) -> None:
        self._problem, self._constraints = problem, problem.constraints
        self.ids: list[int] = []
        self.rows: list[Vector] = []
        self._counts: dict[Any, int] = {}
        self._spent = 0.0
        labelled = self._constraints.label(np.empty(0, dtype=np.int64))
        self._needs: Mapping[Any, int] = {} if labelled is None else labelled[2]

    def __len__(self) -> int:
        return len(self.ids)

    def add(self, identity: int, row: Array) -> None:
        """Take a row in."""
        one = np.array([identity])
        self.ids.append(identity)
        self.rows.append(np.asarray(row, dtype=np.float64))
        labelled = self._constraints.label(one)
        if labelled is not None and labelled[0][0] is not None:  # a row without a label is in no group
            label = labelled[0][0]
            self._counts[label] = self._counts.get(label, 0) + 1
        self._spent += float(self._constraints.cost(one)[0])

    @property
    def _missing(self) -> set[Any]:
        """The labels that must have the places that are left; empty while others may have one."""
        missing = {label: need - self._counts.get(label, 0) for label, need in self._needs.items()}
        short = {label: count for label, count in missing.items() if count > 0}
        return set(short) if sum(short.values()) >= self._problem.k - len(self) else set()

    @property
    def limits_rows(self) -> bool:
        """Whether labels or costs may keep a row out."""
        return bool(self._counts or self._needs) or self._constraints.budget < np.inf

    def has_room(self, ids: Ids) -> Mask:
        """Which of these rows may join as far as labels and costs are concerned."""
        mask = np.ones(len(ids), dtype=bool)
        labelled = self._constraints.label(ids) if self._counts or self._needs else None
        if labelled is not None:
            labels, most, _ = labelled
            full, missing = {label for label, count in self._counts.items() if count >= most}, self._missing
            mask &= np.array([label not in full and (not missing or label in missing) for label in labels], dtype=bool)
        if self._constraints.budget < np.inf:
            mask &= self._spent + self._constraints.cost(ids) <= self._constraints.budget
        return mask

    def admits(self, ids: Ids, rows: Array) -> Mask:
        """Which of these rows may join."""
        relevance = np.asarray(rows, dtype=np.float64) @ self._problem.query
        mask = self.has_room(ids) & self._constraints.admit(ids, relevance)
        mask &= np.isin(ids, np.array(self.ids, dtype=np.int64), invert=True)
        if self._constraints.limits_pairs and self.rows:
            cosines = self._problem.cosines(rows, np.array(self.rows))
            mask &= ~self._constraints.clash(Scored(ids, np.array(self.ids), cosines)).any(axis=1)
        return mask

    def pin(self, rows: Array) -> None:
        """Take the pinned rows in, or raise an error if they cannot be in one set."""
        check_pins(self._problem, rows)
        for identity, row in zip(self._constraints.pinned.tolist(), rows, strict=True):
            self.add(identity, row)


def check_pins(problem: Problem, rows: Array) -> None:
    """Raise an error that names the conflict if the pinned rows, given in their order, cannot be in one set."""
    pins = problem.constraints.pinned
    problem.constraints.check_pins(Scored(pins, pins, problem.cosines(rows, rows)), problem.k)
