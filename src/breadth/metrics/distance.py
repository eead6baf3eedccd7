"""How different the rows of a set are from each other."""

from __future__ import annotations

from typing import Any

import numpy as np

from breadth.arrays import Array
from breadth.checks import check_unit_rows
from breadth.errors import InputError
from breadth.metrics.redundancy import mean_pairwise_cosine


def ilad(vectors: Any) -> float:
    """Return the intra-list average distance: the mean of 1 - e_i·e_j over all pairs i ≠ j. 0 for a single row.

    ILAD = 1 - (‖Σe_i‖² - Σ‖e_i‖²) / (k(k-1)) for k ≥ 2 unit rows.
    """
    return mean_pairwise_distance(check_unit_rows(vectors, "vectors"))


def min_distance(vectors: Any) -> float:
    """Return the smallest 1 - e_i·e_j over all pairs. The set must have at least two rows.

    It is 0, up to the precision of the rows, if the set holds a copy.
    """
    rows = check_unit_rows(vectors, "vectors")
    if len(rows) < 2:
        raise InputError(f"vectors must have at least 2 rows for a distance between two, got {len(rows)}")
    similarity = rows @ rows.T
    np.fill_diagonal(similarity, -np.inf)
    return 1.0 - float(similarity.max())


def mean_pairwise_distance(rows: Array) -> float:
    """Compute `ilad` without its checks."""
    return 1.0 - mean_pairwise_cosine(rows) if len(rows) > 1 else 0.0
