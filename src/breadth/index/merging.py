"""Which vector files to merge, so that there are never many of them, and never much dead weight.

Files grow in steps: whenever FANOUT neighbours are of one size or smaller, they become one. So a row is written a few
times in its life, however many documents come later. Files that would become larger than LARGEST bytes are left as they
are, so that no change has to wait long; `Index.optimize` merges everything.
"""

from __future__ import annotations

from collections.abc import Sequence

FLUSH = 1024
"""Vectors wait in SQLite until there are so many of them; then they become a file."""
FANOUT = 8
"""So many neighbours of one size become one file."""
LARGEST = 96 << 20
"""The bytes of the largest file that is made by merging."""
_DEAD = 0.5
"""A file of which more than this share was deleted is written anew."""


def choose_merge(live: Sequence[int], total: Sequence[int], row_bytes: int) -> slice | None:
    """Choose neighbours to merge, or one file to write anew; None if all is well.

    live       the rows of each file that are still there, in the order of the files
    total      all rows of each file
    row_bytes  the bytes of a row
    """
    for place, (own, whole) in enumerate(zip(live, total, strict=True)):
        if whole - own > max(FLUSH, _DEAD * whole) or own == 0:
            return slice(place, place + 1)
    steps = [_find_step(rows) for rows in total]
    for step in range(max(steps, default=-1) + 1):
        for run in _find_runs(steps, step):
            while run.stop - run.start >= FANOUT and sum(live[run]) * row_bytes > LARGEST:
                run = slice(run.start + 1, run.stop)  # the oldest files are the largest
            if run.stop - run.start >= FANOUT:
                return run
    return None


def _find_step(rows: int) -> int:
    """How many times FLUSH must be multiplied by FANOUT to exceed this number of rows."""
    step = 0
    while rows >= FLUSH * FANOUT ** (step + 1):
        step += 1
    return step


def _find_runs(steps: list[int], step: int) -> list[slice]:
    """The runs of neighbours that are of this step or a smaller one."""
    runs, start = [], None
    for place, own in enumerate([*steps, step + 1]):
        if own <= step and start is None:
            start = place
        elif own > step and start is not None:
            runs.append(slice(start, place))
            start = None
    return runs
