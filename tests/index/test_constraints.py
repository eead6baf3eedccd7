"""Constraints on the documents of an index: groups by metadata, ids, budgets in words, and the copies of a hit."""

from __future__ import annotations

import pytest

import breadth
from breadth.errors import InputError
from breadth.index import Document, Index
from breadth.index.wishes import count_words
from tests.index.letters import Letters, documents


@pytest.fixture
def index(tmp_path):
    with Index.create(tmp_path / "my.index", Letters()) as made:
        made.add(documents(120), batch=50)
        yield made


def vectors(some):
    return Letters().encode([document.text for document in some])


def sources(found):
    return [hit.metadata.get("source") for hit in found]


@pytest.mark.parametrize("sharpness", [None, 1])
def test_groups_by_metadata(index, sharpness):
    one = index.search("asthma fever", k=10, group_by="source", sharpness=sharpness)
    assert sorted(sources(one)) == ["asthma", "cough", "fever"]
    assert one.selection.stats["asked"] == 10
    two = index.search("asthma fever", k=10, group_by="source", per_group=2, sharpness=sharpness)
    assert sorted(sources(two)) == ["asthma", "asthma", "cough", "cough", "fever", "fever"]
    years = index.search("asthma fever", k=8, group_by="year", sharpness=sharpness)
    assert len({hit.metadata["year"] for hit in years}) == 8
    labels = [d.metadata["year"] for d in documents(120)]
    query = Letters().encode(["asthma fever"])[0]
    texts = [d.text for d in documents(120)] if sharpness is None else None
    asked = {"k": 8, "groups": labels, "per_group": 1, "sharpness": sharpness}
    direct = breadth.select(vectors(documents(120)), query, texts=texts, **asked)
    assert years.selection.objective == pytest.approx(direct.objective, abs=1e-6)


def test_documents_without_the_field_are_in_no_group(index):
    index.add([Document(f"free{i}", f"asthma asthma fever {'x' * i}", {}) for i in range(4)])
    found = index.search("asthma asthma fever", k=8, group_by="source", distinct=1.0)
    assert sources(found).count(None) >= 3
    assert all(sources(found).count(source) <= 1 for source in ("asthma", "cough", "fever"))


def test_groups_go_with_conditions_and_after_deletions(index):
    index.delete(["d0", "d3", "d50"])
    index.optimize()
    found = index.search("asthma", k=6, where={"year": {"$gt": 2010}}, group_by="source", per_group=2)
    assert all(hit.metadata["year"] > 2010 for hit in found)
    assert len(found) == 6
    assert max(sources(found).count(source) for source in set(sources(found))) == 2


def test_pinned_and_excluded_documents(index):
    plain = [hit.id for hit in index.search("asthma fever", k=5)]
    found = [hit.id for hit in index.search("asthma fever", k=5, pinned=["d77"], excluded=plain[:2])]
    assert "d77" in found
    assert not set(plain[:2]) & set(found)
    index.delete(["d1"])  # rows move, ids do not
    index.optimize()
    again = [hit.id for hit in index.search("asthma fever", k=5, pinned=("d77", "d119"), excluded={"d2"})]
    assert {"d77", "d119"} <= set(again)
    among = index.search("asthma", k=3, where={"source": "cough"}, pinned=["d1" if "d1" in index else "d4"])
    assert "d4" in [hit.id for hit in among]
    scored = index.search("asthma", k=2, scores={"d5": 0.2, "d6": 0.9, "d7": 0.5}, pinned=["d5"], theta=1.0)
    assert {hit.id for hit in scored} == {"d5", "d6"}
    assert index.search("asthma", k=3, where={"source": "cough"}, excluded=["d3"]).searched == 39  # not there anyway


def test_a_budget_is_counted_in_words(index):
    words = {d.id: count_words(d.text) for d in documents(120)}
    assert set(words.values()) == {4}
    found = index.search("asthma fever", k=10, budget=13)
    assert len(found) == 3
    assert sum(words[hit.id] for hit in found) <= 13
    assert found.selection.stats["asked"] == 10
    letters = index.search("asthma fever", k=10, budget=60, count=len)
    assert 0 < sum(len(hit.text) for hit in letters) <= 60
    shortest = min(len(d.text) for d in documents(120))
    assert sum(len(hit.text) for hit in letters) + shortest > 60  # the budget is used
    assert len(index.search("asthma fever", k=3, budget=1000)) == 3


def test_hits_name_the_copies_they_stand_for(index):
    texts = {"original": "liver kidney bone", "copy1": "liver kidney bone", "copy2": "Liver: kidney, bone"}
    index.add([Document(name, text, {"source": name}) for name, text in texts.items()])
    found = index.search("liver kidney bone", k=4, distinct=0.999)
    hit = next(hit for hit in found if hit.id in texts)
    assert {hit.id, *(copy.id for copy in hit.copies)} == set(texts)
    assert {copy.metadata["source"] for copy in hit.copies} == set(texts) - {hit.id}
    assert all(isinstance(copy.document, Document) for each in found for copy in each.copies)
    assert all(hit.copies == () for hit in index.search("liver kidney bone", k=4, distinct=1.0))
    assert all(hit.copies == () for hit in index.search("liver kidney bone", k=4, sharpness=1))
    listed = [copy.id for each in found for copy in each.copies]
    assert len(listed) == len(set(listed))
    assert not set(listed) & {hit.id for hit in found}


def test_no_near_copies_and_the_best_hit_by_default(tmp_path):
    with Index.create(tmp_path / "thrice.index", Letters()) as index:
        for copy in range(3):
            index.add(Document(f"{d.id}-{copy}", d.text, d.metadata) for d in documents(60))
        best = index.search("heart kidney", k=1, method="topk")[0]
        for k in (2, 6, 12):
            found = index.search("heart kidney", k=k)
            assert len({hit.text for hit in found}) == len(found) == k
            assert all(len(hit.copies) == 2 for hit in found)
            assert found[0].score == pytest.approx(best.score, abs=1e-6)
            assert found[0].text == best.text


def test_constraints_go_with_words_and_every_method(index):
    mixed = index.search("number 41", k=3, hybrid=0.9, group_by="source", keep_best=True)
    assert mixed[0].id == "d41"
    assert len(set(sources(mixed))) == 3
    for method in ("topk", "greedy", "mmr", "dpp", "frank_wolfe"):
        limits = {"group_by": "source", "pinned": ["d9"], "excluded": ["d8"]}
        found = index.search("asthma", k=3, method=method, pool=120, **limits)
        assert len(set(sources(found))) == len(found) == 3
        assert "d9" in [hit.id for hit in found]
    kept = index.search("asthma", k=3, keep=0.9, group_by="source")
    assert len(set(sources(kept))) == 3
    low = index.search("asthma", k=10, floor=0.5)
    assert all(hit.score >= 0.5 - 1e-6 for hit in low)


WRONG = {
    "unknown field": ({"group_by": "colour"}, "group_by: no document has the field 'colour'; there are source, year"),
    "per_group alone": ({"per_group": 2}, "per_group needs"),
    "per_group 0": ({"group_by": "source", "per_group": 0}, "per_group must be at least 1"),
    "pinned unknown": ({"pinned": ["nobody"]}, "pinned: there is no document 'nobody'"),
    "excluded unknown": ({"excluded": ["nobody"]}, "excluded: there is no document 'nobody'"),
    "pinned out of sight": (
        {"pinned": ["d0"], "where": {"source": "cough"}},
        "pinned: document 'd0' is not among the documents that where or scores leave",
    ),
    "too many pinned": ({"pinned": ["d1", "d2", "d3", "d4"]}, "pinned names 4 rows, but k is 3"),
    "count alone": ({"count": len}, "count needs budget"),
    "budget too small": ({"budget": 2}, "no single row costs at most budget=2"),
    "budget a word": ({"budget": "x"}, "budget must be a number"),
    "count of words": ({"budget": 9, "count": lambda text: "many"}, "costs must be numbers"),
    "floor a word": ({"floor": "x"}, "floor must be a finite number"),
    "sharpness odd": ({"sharpness": 5}, "sharpness must be 1 or an even number, got 5"),
}


@pytest.mark.parametrize("name", sorted(WRONG))
def test_wrong_constraints_are_clear_errors(index, name):
    arguments, message = WRONG[name]
    with pytest.raises(InputError, match=message):
        index.search("asthma", k=3, **arguments)
    assert len(index.search("asthma", k=3)) == 3


def test_one_id_given_as_text_is_meant_as_that_id_or_refused(index):
    """A string is a sequence of letters; 'd1' must not be read as 'd' and '1'."""
    index.add([Document("d", "asthma cough liver"), Document("1", "fever heart bone")])
    try:
        found = index.search("asthma", k=3, pinned="d1")
    except InputError as error:
        assert "pinned" in str(error)  # noqa: PT017
    else:
        assert "d1" in [hit.id for hit in found]
