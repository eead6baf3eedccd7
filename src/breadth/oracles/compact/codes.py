"""Turn rows into int8 codes, and keep the length of what the codes leave out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from breadth.arrays import Array, Vector
from breadth.checks import check_lengths


@dataclass(frozen=True, eq=False)
class CodedRows:
    """Some rows as int8 codes: row i is about scales[i] · codes[i], and errors[i] = ‖e_i - scales[i] · codes[i]‖."""

    codes: npt.NDArray[np.int8]
    scales: npt.NDArray[np.float32]
    errors: npt.NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class RowSummary:
    """What is known about some rows together: their sum, and the largest |‖e_i‖² - 1| among them."""

    total: Vector
    length_error: float

    def merge(self, other: RowSummary) -> RowSummary:
        """Return the summary of these rows and others."""
        return RowSummary(self.total + other.total, max(self.length_error, other.length_error))


NO_ROWS = RowSummary(np.zeros(1), 0.0)
"""The summary of no rows, of any dimension."""


def quantise(rows: Array, start: int, name: str = "vectors") -> tuple[CodedRows, RowSummary]:
    """Check rows start, start + 1, … of the argument `name` and code them.

    Return the codes and the summary of the rows. The largest coordinate of a row becomes ±127. Arithmetic is float32.
    """
    wide = np.asarray(rows, dtype=np.float32)
    squared = np.einsum("ij,ij->i", wide, wide)
    check_lengths(squared, start, name)
    scales = np.abs(wide).max(axis=1) / np.float32(127.0)
    codes = np.rint(wide / scales[:, None]).astype(np.int8)
    residual = wide - scales[:, None] * codes
    errors = np.sqrt(np.einsum("ij,ij->i", residual, residual))
    total = wide.sum(axis=0, dtype=np.float64)
    return CodedRows(codes, scales, errors), RowSummary(total, float(np.abs(squared - 1.0).max()))


def stored_dtype(rows: Array) -> np.dtype[Any]:
    """Return the precision in which a file keeps rows like these: float16 stays, everything else is float32."""
    return np.dtype(np.float16 if rows.dtype == np.float16 else np.float32)
