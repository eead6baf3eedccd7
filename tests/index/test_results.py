"""How an index and what it finds show themselves."""

from __future__ import annotations

import json
import pickle

import pytest

from breadth.index import Document, Index
from tests.index.letters import Letters, documents


@pytest.fixture
def index(tmp_path):
    with Index.create(tmp_path / "my.index", Letters()) as made:
        made.add(documents(30))
        made.add(
            [Document("<b>", "heart <script>alert(1)</script> \x1b[2J heart", {"id": "mine", "tags": ["a", "<i>"]})]
        )
        yield made


def test_results_are_a_sequence_with_a_short_repr(index):
    found = index.search("heart", k=4)
    assert len(found) == len(list(found)) == 4
    assert found.ids == [hit.id for hit in found]
    assert repr(found).startswith("Results(4 of 31 documents: ['")
    many = index.search("heart", k=31, distinct=1.0, on_topic=0)
    assert len(repr(many)) < 150
    assert repr(index.search("heart", k=3, where={"year": 1})) == "Results(0 of 0 documents, asked=3: [])"


def test_results_as_plain_data(index):
    found = index.search("heart", k=3, where={"year": 2003})
    data = json.loads(json.dumps(found.to_dict()))
    assert data["query"] == "heart"
    assert (data["asked"], data["searched"]) == (3, 2)
    assert [hit["id"] for hit in data["hits"]] == found.ids
    assert data["hits"][0]["metadata"]["year"] == 2003
    assert set(data["hits"][0]) == {"id", "score", "text", "metadata", "parent", "copies", "variants"}


def test_results_as_a_table_for_notebooks_are_escaped(index):
    shown = index.search("heart alert script", k=31, distinct=1.0, on_topic=0)._repr_html_()
    assert "<table>" in shown
    assert "&lt;b&gt;" in shown
    assert "&lt;script&gt;" in shown
    assert "<script>" not in shown
    assert "\x1b" not in shown


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_results_as_data_frames(index, package):
    pytest.importorskip(package, reason=f"{package} is not installed")
    found = index.search("heart", k=31, distinct=1.0, on_topic=0)
    frame = found.to_pandas() if package == "pandas" else found.to_polars()
    assert frame.shape[0] == 31
    assert list(frame["id"]) == found.ids
    assert {"score", "text", "copies", "source", "year", "metadata.id", "tags"} <= set(frame.columns)
    empty = index.search("heart", k=3, where={"year": 1})
    assert (empty.to_pandas() if package == "pandas" else empty.to_polars()).shape[0] == 0


def test_an_index_shows_itself_and_is_pickled_by_its_path(index):
    assert repr(index) == f"Index({str(index.path)!r}, 31 documents, 26 dimensions, letters)"
    with pickle.loads(pickle.dumps(index)) as again:
        assert len(again) == 31
        assert again.search("heart", k=3).ids == index.search("heart", k=3).ids


def test_an_index_with_a_named_encoder_is_pickled_without_it(tmp_path):
    with Index.create(tmp_path / "a.index") as index:
        index.add([Document("a", "asthma is treated")])
        data = pickle.dumps(index)
        assert len(data) < 400
        with pickle.loads(data) as again:
            assert again.search("asthma", k=1).ids == ["a"]
