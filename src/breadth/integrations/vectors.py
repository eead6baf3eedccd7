"""Embeddings of any length as unit vectors: cosines do not depend on lengths."""

from __future__ import annotations

from typing import Any

import numpy as np

from breadth.arrays import Array, Vector
from breadth.errors import InputError

_WITHOUT_DIRECTION = 64
"""How many candidates may have a vector of zeros."""


def unit(vector: Any, name: str) -> Vector:
    """A vector divided by its length: cosines do not depend on it."""
    row = np.asarray(vector, dtype=np.float64)
    if row.ndim != 1 or row.size == 0 or not np.isfinite(row).all():
        raise InputError(f"{name} must be a list of finite numbers, got shape {row.shape}")
    length = float(np.linalg.norm(row))
    if length == 0.0:
        raise InputError(f"{name} is all zeros, so it has no direction: its text may hold no word the model knows")
    return np.asarray(row / length)


def unit_rows(rows: Array) -> Array:
    """Rows divided by their lengths. A row of zeros gets a coordinate of its own: its cosine with all others is 0."""
    lengths = np.linalg.norm(rows, axis=1)
    empty = np.flatnonzero(lengths == 0.0)
    if len(empty) > _WITHOUT_DIRECTION:
        raise InputError(
            f"{len(empty)} of {len(rows)} rows are all zeros, row {empty[0]} for one, so they have no direction; "
            "remove them, or embed their texts with a model that knows their words"
        )
    lengths[empty] = 1.0
    made = rows / lengths[:, None]
    if len(empty) == 0:
        return np.ascontiguousarray(made)
    more = np.zeros((len(rows), len(empty)), dtype=made.dtype)
    more[empty, np.arange(len(empty))] = 1.0
    return np.ascontiguousarray(np.hstack((made, more)))
