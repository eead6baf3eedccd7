"""Checks of what happens around searches: nothing to search, wrong rows, many threads, an engine that is gone."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from breadth.api import select
from breadth.arrays import Array
from breadth.errors import ContractError, EngineError, InputError
from breadth.testing.case import Awaited, Case, NotApplicableError
from breadth.testing.promises import require


def check_empty(case: Case) -> None:
    """An empty collection has size 0 and finds nothing; `select` says that it is empty. Or opening says so."""
    if not case.takes_empty:
        raise NotApplicableError("a collection of this engine cannot be empty")
    try:
        with case.opened(case.rows()[:0]) as found:
            require(found.size == 0, f"an empty collection has size {found.size}")
            query = case.queries(case.rows(), 1)
            ids = np.asarray(found.top(query, 3)[0])
            require(not (ids >= 0).any(), "an empty collection found a row")
            _expect(InputError, lambda: select(found.oracle, query[0], k=3), "select on an empty collection")
    except InputError as refusal:
        require("empty" in str(refusal), f"an empty collection was refused with {refusal}")


def check_lengths(case: Case) -> None:
    """Rows that are not of unit length are refused, when the collection is opened or when they are read."""
    if not case.checks_lengths:
        raise NotApplicableError("the engine or the adapter normalises rows")
    rows = 2.0 * case.rows()
    try:
        with case.opened(rows) as found:
            found.oracle.rows(found.handles(np.arange(5)))
    except InputError as refusal:
        require("length" in str(refusal), f"rows of another length were refused with {refusal}")
        return
    require(False, "rows of length 2 were accepted")


def check_threads(case: Case) -> None:
    """Several threads ask at once, and get what one would."""
    rows = case.rows()
    queries = case.queries(rows, 12)
    with case.opened(rows) as found:
        if isinstance(found.oracle, Awaited):
            raise NotApplicableError("the engine is asynchronous")

        def ask(query: Array) -> tuple[Any, Any]:
            ids, scores = found.oracle.top(query[None], 25)
            return scores, found.oracle.rows(ids[0][:5])

        alone = [ask(query) for query in queries]
        with ThreadPoolExecutor(6) as threads:
            together = list(threads.map(ask, [*queries, *queries]))
    for ours, theirs in zip(together, [*alone, *alone], strict=True):
        for one, other in zip(ours, theirs, strict=True):
            require(np.allclose(one, other, atol=1e-6), "threads got other answers than one of them alone")


def check_closed(case: Case) -> None:
    """A closed oracle says so."""
    rows = case.rows(50)
    with case.opened(rows) as found:
        if not hasattr(found.oracle, "close") or isinstance(found.oracle, Awaited):
            raise NotApplicableError("the oracle has no close()")
        found.oracle.close()
        _expect(EngineError, lambda: found.oracle.top(case.queries(rows, 1), 5), "a search after close()")
        found.oracle.close()  # a second time does nothing


def check_gone(case: Case) -> None:
    """An engine that is gone is an `EngineError`, within the time limit."""
    if case.kill is None:
        raise NotApplicableError("the engine runs in this process")
    rows = case.rows(50)
    with case.opened(rows) as found:
        query = case.queries(rows, 1)
        found.oracle.top(query, 5)
        case.kill()
        started = time.monotonic()
        _expect(EngineError, lambda: found.oracle.top(query, 5), "a search after the engine was ended")
        spent = time.monotonic() - started
        require(spent < case.time_limit, f"the error took {spent:.1f} s")


def _expect(kind: type[Exception], call: Any, what: str) -> None:
    try:
        call()
    except kind:
        return
    except Exception as error:
        raise ContractError(f"{what} raised {type(error).__name__} ({error}), not {kind.__name__}") from error
    raise ContractError(f"{what} raised no {kind.__name__}")
