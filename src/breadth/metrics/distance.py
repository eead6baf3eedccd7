"""How different the rows of a set are from each other."""

from __future__ import annotations

from typing import Any

import numpy as np

from breadth.arrays import Array
from breadth.checks import check_unit_rows
from breadth.errors import InputError


def ilad(vectors: Any) -> float:
    """Intra-list average distance: the mean of 1 - e_i·e_j over all pairs i ≠ j. 0 for a single row.

    1 - (‖Σe_i‖² - Σ‖e_i‖²) / (k(k-1)) for k unit rows.
    """
    return mean_pairwise_distance(check_unit_rows(vectors, "vectors"))


def min_distance(vectors: Any) -> float:
    """The smallest 1 - e_i·e_j over all pairs: 0 (to the rows' precision) if the set holds a copy. Needs two rows."""
    rows = check_unit_rows(vectors, "vectors")
    if len(rows) < 2:
        raise InputError(f"vectors must have at least 2 rows for a distance between two, got {len(rows)}")
    similarity = rows @ rows.T
    np.fill_diagonal(similarity, -np.inf)
    return 1.0 - float(similarity.max())


def mean_pairwise_distance(rows: Array) -> float:
    """`ilad` without its checks."""
    k = len(rows)
    if k < 2:
        return 0.0
    v = rows.sum(axis=0)
    return 1.0 - float(v @ v - np.square(rows).sum()) / (k * (k - 1))
