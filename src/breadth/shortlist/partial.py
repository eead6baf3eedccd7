"""A set that grows row by row over a whole collection: which rows the constraints still let in."""

from __future__ import annotations

from typing import Any

import numpy as np

from breadth.arrays import Array, Ids, Mask, Vector
from breadth.problem import Problem
from breadth.shortlist.pins import check_pins


class Partial:
    """The rows chosen so far, and what they leave of the constraints."""

    def __init__(self, problem: Problem) -> None:
        self._problem, self._constraints = problem, problem.constraints
        self.ids: list[int] = []
        self.rows: list[Vector] = []
        self._groups: dict[Any, int] = {}
        self._spent = 0.0

    def __len__(self) -> int:
        return len(self.ids)

    def add(self, identity: int, row: Array) -> None:
        """Take a row in."""
        one = np.array([identity])
        self.ids.append(identity)
        self.rows.append(np.asarray(row, dtype=np.float64))
        if self._constraints.groups is not None:
            label = self._constraints.groups(one)[0]
            if label is not None:  # a row without a label is in no group
                self._groups[label] = self._groups.get(label, 0) + 1
        if self._constraints.costs is not None:
            self._spent += float(self._constraints.costs(one)[0])

    def has_room(self, ids: Ids) -> Mask:
        """Which of these rows may join as far as members, exclusions, groups and costs are concerned."""
        constraints = self._constraints
        mask = np.isin(ids, np.array(self.ids, dtype=np.int64), invert=True)
        if len(constraints.excluded):
            mask &= np.isin(ids, constraints.excluded, invert=True)
        if constraints.groups is not None and self._groups:
            full = {label for label, count in self._groups.items() if count >= constraints.per_group}
            mask &= np.array([label not in full for label in constraints.groups(ids)], dtype=bool)
        if constraints.costs is not None:
            mask &= self._spent + constraints.costs(ids) <= constraints.budget
        return mask

    def admits(self, ids: Ids, rows: Array) -> Mask:
        """Which of these rows may join."""
        mask = self.has_room(ids)
        if self._constraints.floor is not None:
            mask &= np.asarray(rows, dtype=np.float64) @ self._problem.query >= self._constraints.floor
        if self._constraints.distinct is not None and self.rows:
            cosines = self._problem.cosines(rows, np.array(self.rows))
            mask &= ~(cosines > self._constraints.distinct).any(axis=1)
        return mask

    def pin(self, rows: Array) -> None:
        """Take the pinned rows in, or raise an error if they cannot be in one set."""
        check_pins(self._problem, rows)
        for identity, row in zip(self._constraints.pinned.tolist(), rows, strict=True):
            self.add(identity, row)
