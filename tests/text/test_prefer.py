"""`prefer`: which of several passages with the same words is chosen."""

from __future__ import annotations

import numpy as np
import pytest

from breadth import InputError, select
from breadth.index import Document, Index
from breadth.text import SAME
from tests.synthetic import unit

RNG = np.random.default_rng(0)
BASE = unit(np.ones(8) + 0.8 * RNG.normal(size=(6, 8))).astype(np.float32)
ROWS = np.repeat(BASE, 3, axis=0)
TEXTS = [f"Release {place // 3} is out." for place in range(18)]
YEARS = [2020 + (5 * place) % 3 for place in range(18)]
QUERY = BASE[0]


def test_the_preferred_copy_is_chosen_and_the_others_are_its_copies():
    plain = select(ROWS, QUERY, k=4, texts=TEXTS)
    found = select(ROWS, QUERY, k=4, texts=TEXTS, prefer=YEARS)
    assert [row // 3 for row in found.ids] == [row // 3 for row in plain.ids]
    assert {YEARS[row] for row in found.ids} == {2022}
    for row, copies in zip(found.ids.tolist(), found.copies, strict=True):
        assert {copy.id for copy in copies} | {row} == {row // 3 * 3 + place for place in range(3)}
        assert {copy.relation for copy in copies} == {SAME}
    assert (found.objective, found.relevance) == (plain.objective, plain.relevance)
    assert found.given_up == ()


def test_pinned_rows_stay_and_excluded_ones_are_never_preferred():
    oldest = int(np.argmin(YEARS[:3]))
    newest = int(np.argmax(YEARS[3:6])) + 3
    found = select(ROWS, QUERY, k=3, texts=TEXTS, prefer=YEARS, pinned=[oldest], excluded=[newest])
    assert oldest in found.ids
    assert newest not in found.ids


def test_a_copy_of_a_full_group_is_not_preferred():
    groups = ["full" if year == 2022 else str(place) for place, year in enumerate(YEARS)]
    found = select(ROWS, QUERY, k=4, texts=TEXTS, prefer=YEARS, groups=groups, per_group=1)
    assert sum(groups[row] == "full" for row in found.ids) <= 1


def test_rows_without_a_value_come_last_and_values_must_compare():
    values = [None if year == 2022 else year for year in YEARS]
    assert {YEARS[row] for row in select(ROWS, QUERY, k=4, texts=TEXTS, prefer=values).ids} == {2021}
    with pytest.raises(InputError, match="prefer must give values that can be compared, got int and str"):
        select(ROWS, QUERY, k=4, texts=TEXTS, prefer=["new", 3, 4] * 6)
    missing = [float("nan") if year == 2022 else float(year) for year in YEARS]
    assert {YEARS[row] for row in select(ROWS, QUERY, k=4, texts=TEXTS, prefer=missing).ids} == {2021}
    with pytest.raises(InputError, match="prefer needs texts"):
        select(ROWS, QUERY, k=4, prefer=YEARS)


def test_an_index_prefers_by_a_field_or_by_a_function_of_the_metadata(tmp_path):
    with Index.create(tmp_path / "my.index", dim=8) as index:
        pairs = enumerate(zip(TEXTS, YEARS, strict=True))
        index.add([Document(str(place), text, {"year": year}) for place, (text, year) in pairs], ROWS)
        newest = index.search(QUERY, k=4, prefer="year")
        oldest = index.search(QUERY, k=4, prefer=lambda metadata: -metadata["year"])
        assert {hit.metadata["year"] for hit in newest} == {2022}
        assert {hit.metadata["year"] for hit in oldest} == {2020}
        with pytest.raises(InputError, match="prefer: no document has the field 'date'; there are year"):
            index.search(QUERY, prefer="date")
        with pytest.raises(InputError, match="prefer must be a field of metadata, or a function"):
            index.search(QUERY, prefer=3)
        with pytest.raises(InputError, match="prefer says which of several documents"):
            index.search(QUERY, prefer="year", method="mmr", pool=10)
        with pytest.raises(InputError, match="texts: an index has the texts"):
            index.search(QUERY, texts=TEXTS)
