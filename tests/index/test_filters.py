"""Filters of an index mean what `breadth.filters.matches` says, see nothing else, and cannot be made to run long."""

from __future__ import annotations

import datetime
import time
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import breadth
from breadth.errors import DamagedError, InputError
from breadth.filters import matches, parse_filter, read_filter
from breadth.index import Document, Index
from tests.filters.strategies import filters, metadata
from tests.index.hostile import HOSTILE, TEXTS
from tests.index.letters import Letters, documents


@pytest.fixture
def index(tmp_path):
    with Index.create(tmp_path / "my.index", Letters()) as made:
        yield made


def find(index, where):
    """The ids of all documents for which a filter holds."""
    condition = read_filter(where)
    rows = index._collection.read(lambda view: index._collection.rows(view, condition))
    return {document.id for document in index.documents(rows.numbers)}


def test_filters_restrict_the_collection_itself(index):
    index.add(documents(120), batch=50)
    where = {"source": "cough", "year": {"$gt": 2010}}
    found = index.search("asthma", k=10, where=where)
    keep = [d for d in documents(120) if matches(read_filter(where), d.metadata)]
    assert found.searched == len(keep) > 10
    assert set(found.ids) <= {d.id for d in keep}
    texts = [d.text for d in keep]
    direct = breadth.select(Letters().encode(texts), Letters().encode(["asthma"])[0], k=10, texts=texts)
    assert found.selection.objective == pytest.approx(direct.objective, abs=1e-6)
    assert index.fields == ["source", "year"]
    assert index.oracle(where).size == len(keep)


@settings(max_examples=25, deadline=None)
@given(st.lists(metadata(), min_size=1, max_size=12), st.lists(filters(), min_size=8, max_size=20), st.data())
def test_filters_mean_what_the_reference_says(tmp_path_factory, records, many, data):
    """Random metadata and filters, before and after documents are deleted, updated and merged."""
    with Index.create(tmp_path_factory.mktemp("filters") / "my.index", dim=4) as index:
        stored = {f"d{i}": record for i, record in enumerate(records)}
        rows = np.eye(4, dtype=np.float32)[[i % 4 for i in range(len(stored))]]
        index.add([Document(i, "", record) for i, record in stored.items()], vectors=rows)
        for step in range(3):
            for one in many:
                condition = read_filter(one)
                assert find(index, one) == {i for i, record in stored.items() if matches(condition, record)}
            if step == 0:
                gone = data.draw(st.sampled_from(sorted(stored)))
                assert index.delete([gone]) == 1
                del stored[gone]
                changed = [(i, data.draw(metadata())) for i in sorted(stored)[:2]]
                index.update([Document(i, "", r) for i, r in changed], vectors=rows[: len(changed)])
                stored.update(changed)
            elif step == 1:
                index.optimize()
        assert index.check().ok


def test_metadata_of_every_kind_are_kept_and_filterable(index):
    given = {
        "tags": ["lung", "child", 7],
        "day": datetime.date(2021, 3, 4),
        "at": datetime.datetime(2021, 3, 4, 5, 6),
        "score": np.float32(0.5),
        "count": np.int64(3),
        "good": np.bool_(True),
        "author": {"name": "Ada", "born": {"year": 1815}},
        "nothing": None,
        "long": "x" * 5000 + "a",
        "huge": 2**80,
    }
    index.add([Document("a", "asthma", given), Document("b", "fever", {"long": "x" * 5000 + "b", "huge": 2**80 + 1})])
    kept = index.get("a").metadata
    assert kept["tags"] == ["lung", "child", 7]
    assert (kept["day"], kept["count"], kept["good"], kept["huge"]) == ("2021-03-04", 3, True, 2**80)
    for where in (
        {"tags": {"$contains": "lung"}},
        {"tags": {"$contains": 7}},
        {"day": {"$gte": datetime.date(2021, 1, 1)}},
        {"day": "2021-03-04"},
        {"at": {"$lt": datetime.datetime(2022, 1, 1)}},
        {"score": 0.5, "count": {"$lte": np.int32(3)}, "good": True},
        {"author.name": "Ada", "author.born.year": {"$lt": 1900}},
        {"nothing": None},
        {"long": "x" * 5000 + "a"},
        {"long": {"$lt": "x" * 5000 + "b"}},
        {"huge": 2**80},
        {"huge": {"$lt": 2**80 + 1}},
    ):
        assert find(index, where) == {"a"}, where
    assert find(index, {"long": {"$gte": "x" * 5000}}) == {"a", "b"}
    assert find(index, {"huge": {"$gt": 2.0**79}}) == {"a", "b"}
    assert find(index, {"tags": "lung"}) == set()


def test_a_text_is_refused_and_the_dict_is_shown(index):
    index.add(documents(5))
    with pytest.raises(InputError, match=r"where must be a dict .* write \{'source': 'cough'\}"):
        index.search("asthma", k=1, where="source = 'cough'")
    with pytest.raises(InputError, match="where must be a dict"):
        index.oracle("1); DELETE FROM documents; --")
    assert len(index) == 5


def test_names_that_differ_in_case_or_hold_anything_are_different_fields(index):
    """One planted field used to hide another one, or to break every filter for good."""
    index.add([Document(f"d{i}", "asthma fever", {"tenant": "a"}) for i in range(20)])
    names = [
        "Tenant",
        "TENANT",
        "tenant\0",
        "number",
        "metadata",
        "id",
        "text",
        "rowid",
        'with"quote',
        "a'b",
        "a.b",
        "",
    ]
    names += [f"field {i}" for i in range(2500)]
    index.add([Document("planted", "asthma fever", dict.fromkeys(names, "a") | {"tenant": "b"})])
    assert find(index, {"tenant": "a"}) == {f"d{i}" for i in range(20)}
    for name in names[:12] + names[-3:]:
        assert find(index, {name: "a"}) == {"planted"}, name
    assert len(index.fields) == len(names) + 1
    with pytest.raises(InputError, match=r"no document has the field 'colour'; there are .* more"):
        index.search("fever", k=1, group_by="colour")


@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_hostile_filters_see_nothing_of_others_and_end_soon(tmp_path_factory, name):
    """Each is refused, or finds documents of its own tenant only, within a second."""
    index = hostile_index(tmp_path_factory)
    started = time.perf_counter()
    try:
        found = find(index, {"$and": [{"tenant": "mine"}, HOSTILE[name]]})
    except InputError:
        found = set()
    assert all(identity.startswith("mine") for identity in found)
    assert time.perf_counter() - started < 5.0
    assert len(index) == 120


def test_hostile_texts_are_filters_or_refused(tmp_path_factory):
    index = hostile_index(tmp_path_factory)
    for text in TEXTS:
        with suppress(InputError):
            found = find(index, {"$and": [{"tenant": "mine"}, parse_filter(text)]})
            assert all(identity.startswith("mine") for identity in found)
    assert len(HOSTILE) + len(TEXTS) >= 70
    assert index.check().ok


_BUILT: dict[str, Index] = {}


def hostile_index(tmp_path_factory):
    """An index of two tenants, built once."""
    if "one" not in _BUILT:
        made = Index.create(tmp_path_factory.mktemp("hostile") / "my.index", Letters())
        made.add(
            Document(f"{tenant} {i}", f"asthma fever {i}", {"tenant": tenant, "year": i, "secret": f"{tenant} {i}"})
            for tenant in ("mine", "theirs")
            for i in range(60)
        )
        _BUILT["one"] = made
    return _BUILT["one"]


def test_a_damaged_table_of_entries_shows_nobody_elses_documents(index):
    index.add([Document("a", "asthma", {"tenant": "a"}), Document("b", "asthma", {"tenant": "b"})])
    db = index._collection.connections.writer()
    db.execute("UPDATE entries SET value = 'a'")
    with pytest.raises(DamagedError, match="for which the filter does not hold"):
        index.search("asthma", k=2, where={"tenant": "a"}, distinct=1.0)
    assert any("filters do not see the metadata of document 'b'" in problem for problem in index.check().problems)


def test_a_filter_is_answered_again_after_every_change(index):
    index.add([Document("a", "asthma", {"x": 1}), Document("b", "asthma", {"x": True})])
    assert find(index, {"x": 1}) == {"a"}
    assert find(index, {"x": True}) == {"b"}  # 1 == True in Python
    assert find(index, {"x": 1.0}) == {"a"}
    index.update([Document("b", "asthma", {"x": 1})])
    assert find(index, {"x": 1}) == {"a", "b"}
    index.delete("a")
    assert find(index, {"x": 1}) == {"b"}
