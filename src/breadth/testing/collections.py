"""Checks of what belongs to rows: vectors, ids, texts and metadata."""

from __future__ import annotations

from typing import Any

import numpy as np

from breadth.errors import InputError, OracleError
from breadth.filters import matches, read_filter
from breadth.testing.case import Case, NotApplicableError, Opened
from breadth.testing.promises import assert_close, assert_found, assert_mean, assert_rows, require


def check_rows(case: Case) -> None:
    """Rows by id in the order asked, an id twice, none at all, and an id that is not there."""
    rows = case.rows()
    last = len(rows) - 1
    with case.opened(rows) as found:
        for numbers in ([5, 3, 600], [last, 0, last, 7], list(range(300)), []):
            assert_rows(found, rows, np.array(numbers, dtype=np.int64), case.row_error)
        strange = found.oracle.handles(["not there"]) if hasattr(found.oracle, "handles") else np.array([2**40 + 3])
        try:
            answer = found.oracle.rows(strange)
        except Exception:
            return
        require(len(answer) == 0, "an id that is not there was answered with a row")


def check_rows_with_ids(case: Case) -> None:
    """`top_rows` is `top` with the rows."""
    rows = case.rows()
    with case.opened(rows) as found:
        if not hasattr(found.oracle, "top_rows"):
            raise NotApplicableError("the oracle has no top_rows()")
        for m, count in ((1, 1), (60, 1), (30, 3), (len(rows) + 5, 1)):
            queries = case.queries(rows, count)
            ids, scores, vectors = found.oracle.top_rows(queries, m)
            numbers = found.numbers(ids)
            assert_found(numbers, scores, rows, queries, m, found.exact, case.tolerance)
            there = numbers >= 0
            assert_close(np.asarray(vectors)[there], rows[numbers[there]], case.row_error, "rows with ids")


def check_mean(case: Case) -> None:
    """The mean row, of all rows; or an `OracleError` that says that the engine does not compute it."""
    rows = case.rows()
    with case.opened(rows) as found:
        try:
            assert_mean(found, rows, 2e-6 + case.row_error)
        except OracleError as refusal:
            raise NotApplicableError(str(refusal)) from None


def check_keys(case: Case) -> None:
    """The engine's own ids are found again."""
    if case.keys is None:
        raise NotApplicableError("ids are 0, 1, …")
    rows = case.rows(60)
    with case.opened(rows) as found:
        assert found.names is not None
        ids = found.oracle.top(case.queries(rows, 1), 10)[0][0]
        require(bool((found.numbers(ids) >= 0).all()), "an id came that was not put in")
        if not hasattr(found.oracle, "keys"):
            return
        keys = found.oracle.keys(ids).tolist()
        require(all(key in found.names for key in keys), f"keys() gave {keys[0]!r}, which was not put in")
        require(bool((found.oracle.handles(keys) == ids).all()), "handles() of keys() are other ids")


def make_metadata(n: int) -> list[dict[str, Any]]:
    """Metadata of every plain type; some fields are missing from some rows."""
    return [
        {
            "source": ("nih", "who", 'O\'Hara "x" %')[i % 3],
            "year": 2000 + i % 25,
            "score": (i % 10) / 4.0,
            "draft": i % 5 == 0,
            **({} if i % 4 else {"tag": f"t{i % 7}"}),
        }
        for i in range(n)
    ]


FILTERS: tuple[dict[str, Any], ...] = (
    {"source": "nih"},
    {"source": 'O\'Hara "x" %'},
    {"source": {"$ne": "nih"}},
    {"year": {"$gte": 2010, "$lt": 2015}},
    {"year": {"$gt": 2003}, "draft": True},
    {"score": {"$lte": 0.5}},
    {"source": {"$in": ["who", "nobody"]}},
    {"source": {"$nin": ["who", "nih"]}},
    {"$or": [{"year": 2001}, {"$and": [{"source": "who"}, {"draft": False}]}]},
    {"$not": {"year": {"$lt": 2020}}},
    {"tag": "t0"},
    {"tag": {"$ne": "t0"}},
    {"tag": {"$exists": True}},
    {"tag": {"$exists": False}},
    {"year": "2001"},
    {"source": "'; DROP TABLE docs; --"},
)
"""Filters that every engine is asked; one that it cannot express must be refused with an `InputError`."""


def check_filters(case: Case) -> None:
    """A filter leaves exactly the rows for which `breadth.filters.matches` says that it holds."""
    rows = case.rows(240)
    metadata = make_metadata(len(rows))
    if not case.metadata:
        raise NotApplicableError("the engine was opened without metadata")
    served = 0
    with case.opened(rows, metadata) as found:
        if not hasattr(found.oracle, "filtered"):
            raise NotApplicableError("the oracle has no filtered()")
        for where in FILTERS:
            try:
                inside = found.over(found.oracle.filtered(where))
            except InputError:
                continue
            served += 1
            condition = read_filter(where)
            numbers = np.array([i for i, entry in enumerate(metadata) if matches(condition, entry)], dtype=np.int64)
            _check_inside(case, inside, rows, numbers, where)
        both = found.over(found.oracle.filtered({"source": "nih"}).filtered({"year": {"$gte": 2010}}))
        expected = [i for i, m in enumerate(metadata) if m["source"] == "nih" and m["year"] >= 2010]
        _check_inside(case, both, rows, np.array(expected), "two filters, one after the other")
    require(served >= 5, f"only {served} of {len(FILTERS)} filters are served; equality and ranges must be")


def _check_inside(case: Case, inside: Opened, rows: Any, numbers: Any, where: Any) -> None:
    require(inside.size == len(numbers), f"{where}: size is {inside.size}, but {len(numbers)} rows match")
    if len(numbers) == 0:
        return
    query = case.queries(rows, 1)
    for m in (5, len(numbers)):
        ids, scores = inside.top(query, m)
        require(bool(np.isin(ids, numbers).all()), f"{where}: a row came that does not match")
        places = np.searchsorted(numbers, ids).astype(np.int64)
        found = assert_found(places, scores, rows[numbers], query, m, inside.exact, case.tolerance)
        require(found >= min(case.recall, 0.9), f"{where}: {found:.2f} of the best rows were found")


def check_documents(case: Case) -> None:
    """`documents` returns the metadata in the order of the ids."""
    if not case.metadata:
        raise NotApplicableError("the engine was opened without metadata")
    rows = case.rows(30)
    metadata = make_metadata(len(rows))
    with case.opened(rows, metadata) as found:
        if not hasattr(found.oracle, "documents"):
            raise NotApplicableError("the oracle has no documents()")
        for numbers in ([4, 2, 29, 2], []):
            got = found.oracle.documents(found.handles(np.array(numbers, dtype=np.int64)))
            require(len(got) == len(numbers), f"{len(numbers)} documents were asked for, {len(got)} came")
            for number, payload in zip(numbers, got, strict=True):
                own = {name: payload.metadata.get(name) for name in metadata[number]}
                require(own == metadata[number], f"row {number} has the metadata {payload.metadata!r}")


def check_audit(case: Case) -> None:
    """The exact scan of an engine that is not exact misses nothing."""
    rows = case.rows()
    with case.opened(rows) as found:
        if found.exact or not hasattr(found.oracle, "exact_top"):
            raise NotApplicableError("the engine is exact" if found.exact else "the oracle has no exact_top()")
        queries = case.queries(rows, 2)
        ids, scores = found.oracle.exact_top(queries, 40)
        assert_found(found.numbers(ids), scores, rows, queries, 40, case.row_error == 0.0, case.tolerance)
