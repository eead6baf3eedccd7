"""The contract of an oracle: all checks, and the function that runs them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from breadth.errors import ContractError
from breadth.testing import collections, life, searches, selections
from breadth.testing.case import Case, NotApplicableError
from breadth.testing.promises import SLACK

CHECKS: dict[str, Callable[[Case], None]] = {
    "facts": searches.check_facts,
    "queries": searches.check_queries,
    "directions": searches.check_directions,
    "batches": searches.check_batches,
    "more than there are": searches.check_more_than_there_are,
    "more than the limit": searches.check_limit,
    "duplicates": searches.check_duplicates,
    "ties": searches.check_ties,
    "rows": collections.check_rows,
    "rows with ids": collections.check_rows_with_ids,
    "mean": collections.check_mean,
    "keys": collections.check_keys,
    "documents": collections.check_documents,
    "filters": collections.check_filters,
    "audit": collections.check_audit,
    "default selection": selections.check_default,
    "sharpness 1": selections.check_paper,
    "constraints": selections.check_constraints,
    "fewer matches than k": selections.check_few_matches,
    "empty collection": life.check_empty,
    "rows of another length": life.check_lengths,
    "threads": life.check_threads,
    "closed": life.check_closed,
    "engine gone": life.check_gone,
}
"""What is checked, in this order; the last one may end the engine."""


@dataclass(frozen=True)
class Report:
    """What `check_oracle` did: the checks that passed, and why the others did not apply."""

    passed: tuple[str, ...]
    skipped: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        lines = [f"passed: {', '.join(self.passed)}"]
        return "\n".join((*lines, *(f"not asked: {name} ({why})" for name, why in self.skipped.items())))


def check_oracle(
    open: Callable[..., Any],
    *,
    keys: str | None = None,
    metadata: bool = False,
    recall: float = 0.9,
    tolerance: float = SLACK,
    row_error: float = 0.0,
    takes_empty: bool = True,
    checks_lengths: bool = True,
    kill: Callable[[], None] | None = None,
    time_limit: float = 30.0,
    only: tuple[str, ...] = tuple(CHECKS),
) -> Report:
    """Check that an oracle keeps every promise of `breadth.oracles.Oracle`, and of each optional ability that it has.

    open             `open(rows)` puts an (n, d) float32 array of unit rows into a fresh collection of the engine, with
                     the ids 0 … n-1, and returns an oracle over it; or a coroutine, for an asynchronous engine.
    keys             "text", "uuid" or "number" for an engine with ids of its own: `open(rows, keys=[…])` then gets the
                     id of each row.
    metadata         whether `open(rows, metadata=[…])` also takes a dict for each row, for filters and `documents`.
    recall           an engine that is not exact must find this share of the best rows for plain queries.
    tolerance        how far scores may be off, relative to the length of the direction.
    row_error        how far the coordinates of rows may be off, for an engine that rounds them.
    takes_empty      whether a collection can be empty at all.
    checks_lengths   whether the oracle refuses rows that are not of unit length.
    kill             ends the engine (its server, say): the oracle must then raise an `EngineError` within `time_limit`
                     seconds.
    only             names of `CHECKS` to run.

    Raises a `ContractError` that names the check and what was wrong. An adapter's test is
    `breadth.testing.check_oracle(open)`.
    """
    case = Case(open, keys, metadata, recall, tolerance, row_error, takes_empty, checks_lengths, kill, time_limit)
    passed: list[str] = []
    skipped: dict[str, str] = {}
    for name in only:
        try:
            CHECKS[name](case)
        except NotApplicableError as reason:
            skipped[name] = str(reason)
        except ContractError as error:
            raise ContractError(f"{name}: {error}") from error
        else:
            passed.append(name)
    return Report(tuple(passed), skipped)
