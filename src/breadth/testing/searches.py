"""Checks of `top`."""

from __future__ import annotations

from typing import Any

import numpy as np

from breadth.arrays import Array
from breadth.testing.case import Case, NotApplicableError, Opened
from breadth.testing.promises import assert_close, assert_found, require

_COUNTS = (1, 2, 10, 100, 500)


def check_facts(case: Case) -> None:
    """`size`, `dim` and `exact` are there and right."""
    rows = case.rows()
    with case.opened(rows) as found:
        require((found.size, found.dim) == rows.shape, f"size and dim are {(found.size, found.dim)}, not {rows.shape}")
        require(isinstance(found.exact, bool), f"exact must be True or False, got {found.exact!r}")
        for name in ("top", "rows", "mean"):
            require(callable(getattr(found.oracle, name, None)), f"the oracle has no {name}()")


def check_queries(case: Case) -> None:
    """Plain queries, for 1 to 500 rows. An engine that is not exact must find most of the best rows."""
    rows = case.rows()
    queries, recalls = case.queries(rows, 5), []
    with case.opened(rows) as found:
        for m in _COUNTS:
            for query in queries:
                recalls.append(search(case, found, rows, query[None], m))
    if np.mean(recalls) < case.recall:
        require(False, f"{np.mean(recalls):.2f} of the best rows were found on average, not {case.recall:.2f}")


def check_directions(case: Case) -> None:
    """Directions of any length and sign, zero included."""
    rows = case.rows()
    w = case.rng.standard_normal((2, rows.shape[1]))
    directions = np.vstack((w, -rows[:2], 50.0 * w[:1], 0.01 * w[1:], 3.0 * rows[:1] - 2.0 * rows[1:2], 0.0 * w[:1]))
    with case.opened(rows) as found:
        for direction in directions:
            for m in (1, 50):
                search(case, found, rows, direction[None], m)


def check_batches(case: Case) -> None:
    """Several directions at once, or none, are answered as one by one."""
    rows = case.rows()
    directions = np.vstack((case.queries(rows, 3), case.rng.standard_normal((2, rows.shape[1]))))
    with case.opened(rows) as found:
        search(case, found, rows, directions, 20)
        search(case, found, rows, directions.astype(np.float32), 20)
        ids, scores = found.oracle.top(directions[:0], 5)
        require(len(ids) == len(scores) == 0, "no direction was asked, but something was answered")
        if found.exact:
            together = found.oracle.top(directions, 20)[1]
            alone = [found.oracle.top(w[None], 20)[1][0] for w in directions]
            assert_close(together, np.array(alone), 50 * case.tolerance, "scores of a batch")


def check_more_than_there_are(case: Case) -> None:
    """Fewer rows come back than were asked for: all of them, if the engine is exact."""
    rows = case.rows(12)
    with case.opened(rows) as found:
        for m in (12, 13, 400):
            ids, scores = found.top(case.queries(rows, 1), m)
            assert_found(ids, scores, rows, case.queries(rows, 1), m, found.exact, case.tolerance)
            require(bool((ids[0] >= 0).any()), f"no row came back when {m} were asked for")


def check_limit(case: Case) -> None:
    """Where the engine has a limit, a search beyond it returns that many rows."""
    rows = case.rows()
    with case.opened(rows) as found:
        limit = getattr(found.oracle, "limit", None)
        if limit is None:
            raise NotApplicableError("the engine has no limit")
        ids, scores = found.top(case.queries(rows, 1), limit + 1)
        assert_found(ids[:, :SHORT], scores[:, :SHORT], rows, case.queries(rows, 1), SHORT, found.exact, case.tolerance)


SHORT = 100


def check_duplicates(case: Case) -> None:
    """Every row several times, exactly: each has its own id."""
    distinct = case.rows(25)
    rows = np.repeat(distinct, 4, axis=0)
    with case.opened(rows) as found:
        for query in case.queries(rows, 3):
            search(case, found, rows, query[None], 30)


def check_ties(case: Case) -> None:
    """All rows are the same."""
    rows = np.repeat(case.rows(1), 40, axis=0)
    with case.opened(rows) as found:
        search(case, found, rows, case.queries(rows, 1), 15)


def search(case: Case, found: Opened, rows: Array, directions: Array, m: Any) -> float:
    """Search and check the answer. Returns the share of the best rows that were found."""
    ids, scores = found.top(directions, m)
    return assert_found(ids, scores, rows, directions, m, found.exact, case.tolerance)
