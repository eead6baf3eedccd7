"""An exact scan of rows that an engine hands out block by block: for the mean, and to audit an approximate engine."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

import numpy as np

from breadth.arrays import Array, Ids, Vector

Blocks: TypeAlias = Iterable[tuple[Ids, Array]]
"""Ids and rows, some at a time, until every row was there once."""

FEW = 10_000
"""A filter that leaves at most so many rows is answered by a scan of them, where the engine has one: that is quick, and
an index that was built for all rows can lose most of them."""


def scan_top(blocks: Blocks, directions: Array, m: int) -> tuple[Ids, Vector]:
    """The m best rows for each direction, largest score first."""
    asked = np.asarray(directions, dtype=np.float32)
    ids: Ids = np.empty((len(asked), 0), dtype=np.int64)
    scores: Vector = np.empty((len(asked), 0))
    for block_ids, rows in blocks:
        found = asked @ np.asarray(rows, dtype=np.float32).T
        ids = np.concatenate((ids, np.broadcast_to(block_ids, found.shape)), axis=1)
        scores = np.concatenate((scores, found), axis=1)
        best = np.argsort(-scores, axis=1, kind="stable")[:, :m]
        ids, scores = np.take_along_axis(ids, best, axis=1), np.take_along_axis(scores, best, axis=1)
    return ids, scores


def scan_mean(blocks: Blocks, dim: int) -> Vector:
    """The mean row."""
    total, count = np.zeros(dim), 0
    for ids, rows in blocks:
        total += np.asarray(rows).sum(axis=0, dtype=np.float64)
        count += len(ids)
    return total / max(count, 1)
