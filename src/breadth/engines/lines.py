"""One array from lines of different lengths: engines may find fewer rows for one direction than for another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from breadth.arrays import Array, Ids, Vector


class Line(NamedTuple):
    """What was found for one direction: ids, scores and rows (m, d); d is 0 where rows were not asked for."""

    ids: Ids
    scores: Vector
    rows: Array


def no_line(dim: int) -> Line:
    """Return the line of a direction for which nothing was found."""
    return Line(np.empty(0, dtype=np.int64), np.empty(0), np.empty((0, dim), dtype=np.float32))


def line_up(lines: Sequence[Line], dim: int) -> tuple[Ids, Vector, Array]:
    """Return ids (b, m), scores (b, m) and rows (b, m, dim). The id -1 and the score -∞ fill what is missing."""
    width = max((len(line.ids) for line in lines), default=0)
    ids = np.full((len(lines), width), -1, dtype=np.int64)
    scores = np.full((len(lines), width), -np.inf)
    rows = np.zeros((len(lines), width, dim), dtype=np.float32)
    for place, line in enumerate(lines):
        count = len(line.ids)
        ids[place, :count], scores[place, :count], rows[place, :count] = line
    return ids, scores, rows


def order(ids: Ids, scores: Vector) -> Line:
    """Return ids and scores without rows, largest score first: an engine's order may be that of rounded scores."""
    best = np.argsort(-scores, kind="stable")
    return Line(ids[best], scores[best], np.empty((len(ids), 0), dtype=np.float32))
