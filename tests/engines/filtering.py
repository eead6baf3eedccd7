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
    typed: bool = False  # a field has one type in all rows
    mixed_lists: bool = True  # entries of a list can be of several types


HELD = {
    "pgvector": Holds(),
    "milvus": Holds(null=False, truth=False, truth_is_a_number=True),
    "qdrant": Holds(empty_lists=False, large_numbers=False),
    "qdrant_edge": Holds(empty_lists=False, large_numbers=False, truth=False),
    "chroma": Holds(null=False, dicts=False, empty_lists=False, mixed_lists=False),
    "lancedb": Holds(null=False, typed=True),
    "faiss": Holds(),
    "usearch": Holds(),
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
            first = pick()
            entries = scalars if holds.mixed_lists else [one for one in scalars if type(one) is type(first)]
            count = int(rng.integers(0 if holds.empty_lists else 1, 4))
            return [entries[rng.integers(len(entries))] for _ in range(count)]
        if kind < 0.3 and holds.dicts:
            return {name: pick() for name in ("b", "c", "b.c") if rng.random() < 0.6}
        return pick()

    fields = [field for field in FIELDS if "\0" not in field]
    if holds.typed:
        return make_typed_records(rng, [field for field in fields if "." not in field], scalars)
    return [{field: make() for field in fields if rng.random() < 0.5} for _ in range(ROWS)]


def make_typed_records(rng: np.random.Generator, fields: list[str], scalars: list[Any]) -> list[dict[str, Any]]:
    """Metadata for a table: a field is text, whole number, number, truth, list of text or struct in all rows."""
    kinds = [[one for one in scalars if type(one) is kind] for kind in (str, int, float, bool)]

    def pick(kind: int) -> Any:
        return kinds[kind][rng.integers(len(kinds[kind]))]

    def make(place: int) -> Any:
        if place % 6 == 4:
            return [pick(0) for _ in range(rng.integers(0, 4))]
        return {"b": pick(1), "c": pick(0)} if place % 6 == 5 else pick(place % 6)

    # The order of the fields decides on their types: `a` is a struct, so that `a.b` can mean its field.
    ordered = sorted(fields, key=lambda field: (field == "a", field))
    places = {field: 5 if field == "a" else place % 5 for place, field in enumerate(ordered)}
    return [{field: make(places[field]) for field in fields if rng.random() < 0.7} for _ in range(ROWS)]


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
        found = ids[ids >= 0]
        names = oracle.keys(found).tolist() if hasattr(oracle, "keys") else found.tolist()
        assert {int(name) for name in names} == expected

    try:
        ask()
    finally:
        if hasattr(oracle, "close"):
            oracle.close()
    assert len(served) > SERVED * len(asked) > 10, f"{len(served)} of {len(asked)} filters were served"
