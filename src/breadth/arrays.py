"""The kinds of arrays that the package passes around."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.floating[Any]]
"""Numbers in the precision they came in."""
Vector = npt.NDArray[np.float64]
"""Numbers in float64, whatever the shape: formulas are computed in it."""
Matrix = npt.NDArray[np.float32]
"""Similarities and scores that are kept in float32."""
Ids = npt.NDArray[np.int64]
"""Rows of a collection, by the oracle's ids."""
Positions = npt.NDArray[np.int64]
"""Places in an array."""
Mask = npt.NDArray[np.bool_]
