"""Rows on a plane: the two directions in which they differ most."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from breadth.arrays import Array, Vector


@dataclass(frozen=True, eq=False)
class Plane:
    """The plane of the first two principal components.

    centre   the mean of the rows that it was made from
    axes     its two directions (d, 2), of unit length; zero where the rows differ in fewer directions
    share    the part of the variance of these rows that it shows
    """

    centre: Vector
    axes: Vector
    share: float

    @classmethod
    def through(cls, rows: Array) -> Plane:
        """The plane that shows most of the variance of these rows (n, d). The largest weight of an axis is positive."""
        exact = np.asarray(rows, dtype=np.float64)
        centre = exact.mean(axis=0)
        _, lengths, directions = np.linalg.svd(exact - centre, full_matrices=False)
        axes = np.zeros((exact.shape[1], 2))
        shown = min(2, int((lengths > 1e-9).sum()))
        axes[:, :shown] = directions[:shown].T
        largest = axes[np.abs(axes).argmax(axis=0), [0, 1]]
        total = float((lengths**2).sum())
        share = float((lengths[:shown] ** 2).sum()) / total if shown else 1.0
        return cls(centre, axes * np.where(largest < 0.0, -1.0, 1.0), share)

    def place(self, rows: Array) -> Vector:
        """Where rows are on the plane: (n, 2)."""
        return np.asarray((np.asarray(rows, dtype=np.float64) - self.centre) @ self.axes)
