"""Vectors that a file brings along."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from breadth.checks import UNIT_TOLERANCE

Row = npt.NDArray[np.float32]


def read_vector(value: Any, dim: int | None) -> Row | str:
    """Return a vector of unit length with `dim` numbers (any number of them if that is None), or what is wrong."""
    if not isinstance(value, list) or not value or not all(type(one) in (int, float) for one in value):
        return "missing, or not a list of numbers"
    if dim is not None and len(value) != dim:
        return f"a list of {len(value)} numbers, and the others have {dim}"
    try:
        row = np.array(value, dtype=np.float64)
    except OverflowError:
        return "not a list of numbers that a float can hold"
    length = float(np.linalg.norm(row))
    if not abs(length - 1.0) <= UNIT_TOLERANCE:  # also if a number is not one
        return f"of length {length:.6g}, not 1; divide it by its length"
    return row.astype(np.float32)
