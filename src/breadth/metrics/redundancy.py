"""How much the rows of a set repeat each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from breadth.arrays import Array
from breadth.checks import check_number, check_unit_rows


def redundancy(vectors: Any) -> float:
    """Return the mean cosine over all pairs of rows.

    redundancy = 1 / (k(k-1)) · Σ_{i≠j} e_i·e_j for k unit rows, which is 1 - ILAD for k ≥ 2. It is 1 if all rows
    are copies of one row, and 0 by definition for a single row, which repeats nothing.
    """
    return mean_pairwise_cosine(check_unit_rows(vectors, "vectors"))


def near_copies(vectors: Any, threshold: float) -> npt.NDArray[np.bool_]:
    """Say for each row whether an earlier row is a near-copy of it.

    Entry j is true if and only if e_i·e_j ≥ threshold for some i < j. Pass the most relevant row first: a marked row
    then repeats something more relevant. The first row is never marked.
    """
    rows = check_unit_rows(vectors, "vectors")
    close = rows @ rows.T >= check_number(threshold, "threshold", -1.0, 1.0)
    marked: npt.NDArray[np.bool_] = np.tril(close, k=-1).any(axis=1)
    return marked


def mean_pairwise_cosine(rows: Array) -> float:
    """Compute `redundancy` without its checks: (‖Σe_i‖² - Σ‖e_i‖²) / (k(k-1))."""
    k = len(rows)
    if k < 2:
        return 0.0
    v = rows.sum(axis=0)
    return float(v @ v - np.einsum("ij,ij->", rows, rows)) / (k * (k - 1))
