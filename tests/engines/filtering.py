"""Random filters on random metadata: an engine must leave the rows that `breadth.filters.matches` leaves.

A filter that an engine cannot express is refused with an `InputError`. What an engine cannot hold, or is known not to
tell apart (docs/engines says so), is left out of its metadata.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import given, settings

from breadth import InputError
from breadth.filters import matches, read_filter
from tests.engines.stores import Store
from tests.filters.strategies import FIELDS, filters
from tests.synthetic import isotropic

ROWS, EXAMPLES = 150, 150
SERVED = 0.3
"""The least share of the filters that an engine must serve, and not refuse."""


@dataclass(frozen=True)
class Holds:
    """What the metadata of an engine can hold beside text and numbers of usual size."""

    null: bool = True
    truth: bool = True
    lists: bool = True
    empty_lists: bool = True
    dicts: bool = True
    large_numbers: bool = True
    truth_is_a_number: bool = False  # true is 1 for it: it is not asked about true and false


HELD = {
    "pgvector": Holds(),
    "milvus": Holds(null=False, truth=False, truth_is_a_number=True),
    "qdrant": Holds(empty_lists=False, large_numbers=False),
    "qdrant_edge": Holds(empty_lists=False, large_numbers=False, truth=False),
}
"""What the metadata of each engine can hold, and tells apart."""


def make_records(rng: np.random.Generator, holds: Holds) -> list[dict[str, Any]]:
    """Metadata with the fields and the values that random filters ask for."""
    scalars: list[Any] = ["", "nih", "NIH", "asthma", "2020", "é", "' or 1=1 --", "\U0001f600", "%"]
    scalars += [0, 1, -1, 2020, 2020.5, 0.1, 1.0]
    scalars += [2**53 + 1, 2**53] * holds.large_numbers + [True, False] * holds.truth + [None] * holds.null

    def pick() -> Any:
        return scalars[rng.integers(len(scalars))]

    def make() -> Any:
        kind = rng.random()
        if kind < 0.15 and holds.lists:
            return [pick() for _ in range(rng.integers(0 if holds.empty_lists else 1, 4))]
        if kind < 0.3 and holds.dicts:
            return {name: pick() for name in ("b", "c", "b.c") if rng.random() < 0.6}
        return pick()

    return [{field: make() for field in FIELDS if "\0" not in field and rng.random() < 0.5} for _ in range(ROWS)]


def assert_filters_agree(store: Store, server: Any, folder: Path) -> None:
    """Ask many filters."""
    rng, holds = np.random.default_rng(5), HELD[store.engine]
    records = make_records(rng, holds)
    rows = isotropic(rng, ROWS, 8)
    oracle = store.fill(store.place(folder, server), rows, metadata=records)
    asked, served = [], []

    @settings(max_examples=EXAMPLES)
    @given(where=filters())
    def ask(where):
        if holds.truth_is_a_number and any(word in str(where) for word in ("True", "False")):
            return
        asked.append(where)
        try:
            inside = oracle.filtered(where)
        except InputError:
            return
        served.append(where)
        condition = read_filter(where)
        expected = {place for place, record in enumerate(records) if matches(condition, record)}
        assert inside.size == len(expected)
        ids = inside.top(rows[:1].astype(np.float64), ROWS)[0][0]
        assert {number for number in ids.tolist() if number >= 0} == expected

    try:
        ask()
    finally:
        oracle.close()
    assert len(served) > SERVED * len(asked) > 10, f"{len(served)} of {len(asked)} filters were served"
