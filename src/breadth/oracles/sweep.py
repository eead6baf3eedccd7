"""Pass over many rows once, block by block and on all cores: the inner loop of the exact oracles.

The core scores the blocks (`breadth.native`).
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

Floats = npt.NDArray[np.float32]

FUSED = 8
"""Directions that share a pass. More than these take several passes."""
_LEAST = 4096
"""A block with fewer rows than this is not worth a thread of its own."""
_executor: ThreadPoolExecutor | None = None
_running = 0
_lock = threading.Lock()
_here = threading.local()
"""`sweeping`: whether this thread works for a sweep."""


def threads() -> int:
    """Return the number of threads of a sweep: BREADTH_NUM_THREADS if set, else the cores this process may use."""
    wanted = os.environ.get("BREADTH_NUM_THREADS", "")
    if wanted.isdigit() and int(wanted) > 0:
        return int(wanted)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def sweep(total: int, step: int, visit: Callable[[int, int], None], least: int = _LEAST) -> None:
    """Call visit(start, stop) for the blocks of 0 … total, several at a time; `step` is the most rows of a block.

    Sweeps that run at the same time share the cores: each then uses fewer of them, down to its own thread alone. One
    inside `visit` uses its own thread: threads that wait for others of the same pool could wait for ever.
    """
    if total == 0:
        return
    if getattr(_here, "sweeping", False):
        for start, stop in spans(total, step):
            visit(start, stop)
        return
    with _sharing() as sweeps:
        together = max(1, threads() // sweeps)
        step = min(step, max(least, -(-total // together)))
        rounds = -(-total // (step * together))
        if step < total:  # parts of one size, as many for each thread
            step = -(-total // (rounds * together))
        parts = list(spans(total, step))
        if len(parts) == 1 or together == 1:
            for start, stop in parts:
                visit(start, stop)
            return

        def visit_inside(span: tuple[int, int]) -> None:
            _here.sweeping = True
            try:
                visit(*span)
            finally:
                _here.sweeping = False

        for _ in _shared_executor().map(visit_inside, parts):
            pass


@contextmanager
def _sharing() -> Iterator[int]:
    """Count this sweep as running, and give the number of those that run."""
    global _running
    with _lock:
        _running += 1
        sweeps = _running
    try:
        yield sweeps
    finally:
        with _lock:
            _running -= 1


def spans(total: int, step: int) -> Iterator[tuple[int, int]]:
    """Yield (start, stop) for each block of at most `step` of the numbers 0 … total - 1."""
    for start in range(0, total, step):
        yield start, min(start + step, total)


def _shared_executor() -> ThreadPoolExecutor:
    """Return the threads that all sweeps share; the first call starts them."""
    global _executor
    with _lock:
        if _executor is None:
            from concurrent.futures import ThreadPoolExecutor  # most callers have too few rows for threads

            _executor = ThreadPoolExecutor(threads(), thread_name_prefix="breadth-sweep")
        return _executor


def _reset_after_fork() -> None:
    """Forget the threads in a child process, which has none of its parent's."""
    global _executor, _lock, _running
    _executor, _lock, _running = None, threading.Lock(), 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_after_fork)
