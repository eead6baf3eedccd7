"""Pass over many rows once, block by block and on all cores: the inner loop of the exact oracles.

Compiled code scores the blocks if numba is installed (the extra `fast`), NumPy otherwise.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt

from breadth import kernels
from breadth.ranking import Positions

Floats = npt.NDArray[np.float32]

FUSED = 8
"""Directions that share a pass. More than these take several passes."""
_ROWS_AT_ONCE = 4096
"""Rows that NumPy converts to float32 at a time."""
_LEAST = 4096
"""A block with fewer rows than this is not worth a thread of its own."""
_executor: ThreadPoolExecutor | None = None
_lock = threading.Lock()


def threads() -> int:
    """Return the number of threads of a sweep: BREADTH_NUM_THREADS if set, else the cores this process may use."""
    wanted = os.environ.get("BREADTH_NUM_THREADS", "")
    if wanted.isdigit() and int(wanted) > 0:
        return int(wanted)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def score(rows: npt.NDArray[Any], scales: Floats, directions: Floats, out: Floats) -> None:
    """out[b, i] = scales[i] · rows[i]·directions[b], for int8 codes or float32 rows."""
    code = kernels.scan()
    if code is not None:
        code.score(rows, scales, directions, out)
        return
    for start in range(0, len(rows), _ROWS_AT_ONCE):
        stop = min(start + _ROWS_AT_ONCE, len(rows))
        out[:, start:stop] = (rows[start:stop].astype(np.float32, copy=False) @ directions.T).T
    out *= scales


def sift(scores: Floats, errors: Floats, length: float, rounding: float, least: float) -> tuple[Positions, Floats]:
    """Positions whose score + reach is at least `least`, with reach = length · error + rounding, and these reaches."""
    code = kernels.scan()
    if code is None:
        near = np.flatnonzero(scores >= least - (length * float(errors.max()) + rounding))
        reach = np.float32(length) * errors[near] + np.float32(rounding)
        kept = scores[near] + reach >= np.float32(least)
        return near[kept], reach[kept]
    positions = np.empty(len(scores), dtype=np.int64)
    reaches = np.empty(len(scores), dtype=np.float32)
    count = code.sift(scores, errors, length, rounding, least, positions, reaches)
    return positions[:count].copy(), reaches[:count].copy()


def sweep(total: int, step: int, visit: Callable[[int, int], None], least: int = _LEAST) -> None:
    """Call visit(start, stop) for the blocks of 0 … total, several at a time; `step` is the most rows of a block."""
    together = threads() if kernels.available() else 1  # NumPy's products use all cores themselves
    parts = list(spans(total, min(step, max(least, -(-total // together)))))
    if len(parts) == 1 or together == 1:
        for start, stop in parts:
            visit(start, stop)
        return
    for _ in _shared_executor().map(lambda span: visit(*span), parts):
        pass


def spans(total: int, step: int) -> Iterator[tuple[int, int]]:
    """Yield (start, stop) for each block of at most `step` of the numbers 0 … total - 1."""
    for start in range(0, total, step):
        yield start, min(start + step, total)


def _shared_executor() -> ThreadPoolExecutor:
    """Return the threads that all sweeps share; the first call starts them."""
    global _executor
    with _lock:
        if _executor is None:
            _executor = ThreadPoolExecutor(threads(), thread_name_prefix="breadth-sweep")
        return _executor


def _reset_after_fork() -> None:
    """Forget the threads in a child process, which has none of its parent's."""
    global _executor, _lock
    _executor, _lock = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_after_fork)
