"""`select` on an array in memory with ordinary wishes: one check and one call of the kernels, no requests.

An ordinary call takes a tenth of a millisecond, and half of that would be the way through oracle, requests and driver.
What this way does not serve, or would refuse, is left to the general one, which says what is wrong.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from breadth import kernels
from breadth.altering import alter
from breadth.arrays import Vector
from breadth.certified.effort import EFFORT
from breadth.certified.in_one_call import PlainWork
from breadth.certified.shortlist.at_once import Work
from breadth.checks import check_relevance
from breadth.errors import InputError
from breadth.oracles.array import ArrayOracle
from breadth.problem import Problem
from breadth.selection import Selection

_MOST_NUMBERS = 1 << 22
"""Arrays with more numbers than this are scored by several threads."""


def prepare(problem: Problem) -> Work | PlainWork | None:
    """A problem, whose query does not matter, prepared for the kernels; None if they do not solve it."""
    if PlainWork.is_served(problem):
        return PlainWork(problem, EFFORT)
    free = problem.constraints.is_free
    return None if problem.sharpness == 1 or free else Work(problem, EFFORT)


def choose_directly(work: Work | PlainWork, vectors: Any, query: Any, scores: Any) -> Selection | None:
    """The set of an array or an `ArrayOracle`, by a query or by scores; None where the general way has to be taken."""
    started = time.perf_counter()
    rows: Any
    if type(vectors) is ArrayOracle:
        rows, length_error = vectors.plain_rows, vectors.length_error
    else:
        rows, length_error = vectors, None
    if (query is None) == (scores is None) or not _is_plain(rows) or work.problem.k > len(rows):
        return None
    vector, given = _read_query(query, rows.shape[1]), _read_scores(scores, len(rows))
    if vector is None and given is None:
        return None
    selection = work.choose(rows, vector, given, length_error)
    if selection is None:
        return None
    stats = {**selection.stats, **work.count(rows), "seconds": time.perf_counter() - started}
    return alter(selection, stats=stats)


def is_possible() -> bool:
    """Whether the kernels can do it."""
    return kernels.current().choose is not None


def _is_plain(rows: Any) -> bool:
    """Whether it is an array that the kernels read as it lies in memory."""
    return (
        type(rows) is np.ndarray
        and rows.dtype == np.float32
        and rows.ndim == 2
        and 0 < rows.size <= _MOST_NUMBERS
        and rows.flags.c_contiguous
    )


def _read_query(query: Any, dim: int) -> Vector | None:
    """The query in float64. The kernels check its length."""
    if type(query) is np.ndarray and query.shape == (dim,) and query.dtype in (np.float32, np.float64):
        return query.astype(np.float64)
    return None


def _read_scores(scores: Any, size: int) -> Vector | None:
    if scores is None:
        return None
    try:
        return check_relevance(scores, size)
    except InputError:
        return None
