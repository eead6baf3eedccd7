"""Inner products of int8 rows with a few directions: compiled where numba is installed (the extra `fast`), else NumPy.

Both give the same approximate scores up to rounding; the oracle that uses them re-scores in full precision anyway.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[np.int8]
Floats = npt.NDArray[np.float32]
Kernel = Callable[[Codes, Floats, Floats, Floats], None]
"""codes (n, d), scales (n,), directions (b, d), out (b, n): out[b, i] = scales[i] · Σ_j codes[i, j] directions[b, j]"""

_ROWS_AT_ONCE = 4096
FUSED = 8
"""Directions that a compiled pass takes at once; more are cheaper as a product of blocks."""


def score_by_numpy(codes: Codes, scales: Floats, directions: Floats, out: Floats) -> None:
    """Widen a few thousand rows at a time and multiply."""
    for start in range(0, len(codes), _ROWS_AT_ONCE):
        stop = min(start + _ROWS_AT_ONCE, len(codes))
        block = codes[start:stop].astype(np.float32)
        out[:, start:stop] = (block @ directions.T).T
    out *= scales


def compiled() -> Kernel | None:
    """The compiled kernel, ready to run (compiled now or loaded from its cache), or None without numba."""
    try:
        import numba
    except ImportError:
        return None
    global _compiled
    if _compiled is None:
        _compiled = _compile(numba)
        for count in (1, 2, FUSED):  # the first call compiles: never inside a query
            _compiled(
                np.zeros((2, 4), np.int8),
                np.zeros(2, np.float32),
                np.zeros((count, 4), np.float32),
                np.zeros((count, 2), np.float32),
            )
    return _compiled


_compiled: Kernel | None = None


def _compile(numba: Any) -> Kernel:
    @numba.njit(parallel=True, fastmath=True, cache=True)  # type: ignore[untyped-decorator]
    def score(codes: Codes, scales: Floats, directions: Floats, out: Floats) -> None:
        rows, dim = codes.shape
        for i in numba.prange(rows):
            for b in range(directions.shape[0]):
                total = np.float32(0.0)
                for j in range(dim):
                    total += np.float32(codes[i, j]) * directions[b, j]
                out[b, i] = total * scales[i]

    kernel: Kernel = score
    return kernel
