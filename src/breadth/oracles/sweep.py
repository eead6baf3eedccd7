"""One pass over many rows, block by block and on all cores: the inner loop of the exact oracles.

Blocks are scored by compiled code where numba is installed (the extra `fast`), else by NumPy.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt

from breadth import kernels

Floats = npt.NDArray[np.float32]

FUSED = 8
"""Directions that share a pass; more are taken eight by eight."""
_ROWS_AT_ONCE = 4096
_LEAST = 4096
"""Fewer rows than this are not worth a thread of their own."""
_workers: ThreadPoolExecutor | None = None
_lock = threading.Lock()


def threads() -> int:
    """Threads of a sweep: the cores this process may use, or BREADTH_NUM_THREADS."""
    wanted = os.environ.get("BREADTH_NUM_THREADS", "")
    if wanted.isdigit() and int(wanted) > 0:
        return int(wanted)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def sweep(total: int, step: int, visit: Callable[[int, int], None], least: int = _LEAST) -> None:
    """Call visit(start, stop) for the blocks of 0 … total, several at a time; `step` is the most rows of a block."""
    together = threads() if kernels.current().SPREADS else 1  # else one call uses all cores itself
    parts = list(spans(total, min(step, max(least, -(-total // together)))))
    if len(parts) == 1 or together == 1:
        for start, stop in parts:
            visit(start, stop)
        return
    for _ in _pool().map(lambda span: visit(*span), parts):
        pass


def spans(total: int, step: int) -> Iterator[tuple[int, int]]:
    """0 … total in steps."""
    for start in range(0, total, step):
        yield start, min(start + step, total)


def _pool() -> ThreadPoolExecutor:
    global _workers
    with _lock:
        if _workers is None:
            _workers = ThreadPoolExecutor(threads(), thread_name_prefix="breadth-sweep")
        return _workers


def _after_fork() -> None:
    """A child process has none of its parent's threads."""
    global _workers, _lock
    _workers, _lock = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
