"""How values are shown: escaped in terminals, as tables in notebooks, as data frames."""

from __future__ import annotations

import html
import json
import re
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import breadth
from breadth.display import escape_controls, format_number, list_briefly, make_html_table, shorten
from breadth.errors import MissingExtraError, hint_install
from breadth.frames import make_pandas, make_polars
from tests.synthetic import clustered, query_near

HOSTILE = "\x1b[2J\x1b]52;c;aGFjaw==\x07 \x9b31m a\x00b \u202egnp.exe <script>alert(1)</script>"


def make_collection(rows=400):
    rng = np.random.default_rng(3)
    vectors = clustered(rng, rows, 16)
    return vectors, query_near(rng, vectors)


def steers(text: str) -> bool:
    """Whether a text holds what a terminal acts on, or what turns text around."""
    return (
        re.search("[\x00-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", text)
        is not None
    )


def test_controls_are_shown_not_sent():
    shown = escape_controls(HOSTILE)
    assert not steers(shown)
    assert shown.startswith(r"\x1b[2J\x1b]52;c;")
    assert r"\u202egnp" in shown


@given(st.text(st.characters(), max_size=60))
def test_whatever_a_text_holds_nothing_steers_the_terminal(text):
    shown = escape_controls(text)
    assert not steers(shown)
    shown.encode()  # no half characters are left
    if not steers(text) and "\u061c" not in text:
        assert shown == text


def test_words_of_all_languages_stay_as_they_are():
    for text in ("naïve\u00a0café", "می\u200cخواهم", "日本語", "👩\u200d👩\u200d👧", "soft\u00adhyphen"):
        assert escape_controls(text) == text


def test_texts_and_lists_are_shown_briefly():
    assert shorten("a\n b  c", 10) == "a b c"
    assert shorten("abcdefgh", 5) == "abcd…"
    assert list_briefly([1, 2]) == "[1, 2]"
    assert list_briefly(list(range(9)), 3) == "[0, 1, 2, … 9 in all]"
    assert (format_number(0.12345), format_number(None)) == ("0.1235", "–")


def test_a_table_for_a_notebook_is_escaped():
    table = make_html_table(["<b>id</b>", "score"], [[HOSTILE, 0.5], ["<img src=x onerror=y>", None]], "a & b")
    assert "<script" not in table
    assert "<img" not in table
    assert not steers(table.replace("\n", ""))
    assert html.escape("<b>id</b>") in table
    assert "a &amp; b" in table
    assert ">0.5000<" in table


@pytest.fixture(scope="module")
def chosen():
    vectors, query = make_collection()
    return breadth.select(vectors, query, k=8, on_topic=0), breadth.frontier(vectors, query, k=8)


def test_a_selection_shows_its_ids(chosen):
    selection, _ = chosen
    assert len(selection) == len(list(selection)) == 8
    assert list(selection) == selection.ids.tolist()
    assert all(type(row) is int for row in selection)
    assert repr(selection).startswith(f"Selection(ids=[{selection.ids[0]}, {selection.ids[1]}, ")
    assert "… 8 in all]" in repr(selection)
    assert len(repr(selection)) < 240
    shown = selection._repr_html_()
    assert shown.count("<tr>") == 9
    for row in selection:
        assert f">{row}<" in shown
    assert selection.describe_proof()[:6] in html.unescape(shown)


def test_a_frontier_shows_its_curve(chosen):
    _, curve = chosen
    assert repr(curve).startswith("Frontier(thetas=[")
    shown = curve._repr_html_()
    assert shown.count("<tr>") == len(curve) + 1
    assert "knee" in shown


def test_both_are_plain_data(chosen):
    selection, curve = chosen
    data = json.loads(json.dumps(selection.to_dict()))
    assert data["ids"] == list(selection)
    assert data["certificate"]["gap"] == selection.certificate.gap
    assert [one["theta"] for one in json.loads(json.dumps(curve.to_dict()))["selections"]] == [s.theta for s in curve]


@pytest.mark.parametrize("method", breadth.methods())
def test_the_selection_of_every_method_is_plain_data(method):
    vectors, query = make_collection(rows=40)
    selection = breadth.select(vectors, query, k=4, theta=0.5, method=method)
    assert json.loads(json.dumps(selection.to_dict(), allow_nan=False))["method"] == method
    assert f">{selection.ids[0]}<" in selection._repr_html_()


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_both_become_data_frames(chosen, package):
    pytest.importorskip(package, reason=f"{package} is not installed (the extra `{package}`)")
    selection, curve = chosen
    frame = getattr(selection, f"to_{package}")()
    assert list(frame["id"]) == list(selection)
    assert list(frame["relevance"]) == selection.scores.tolist()
    assert list(getattr(curve, f"to_{package}")()["theta"]) == [s.theta for s in curve]


@pytest.mark.parametrize("make", [make_pandas, make_polars])
def test_values_of_different_types_in_a_column_stay_as_they_are(make):
    columns = {
        "mixed": [1, "a", None],
        "numbers": [1, 2.5, None],
        "nested": [{"a": 1}, {"b": 2}, [3]],
        "none": [None] * 3,
    }
    frame = make(columns)
    assert list(frame.columns) == list(columns)
    assert list(frame["mixed"])[:2] == [1, "a"]
    assert list(frame["numbers"])[:2] == [1.0, 2.5]
    assert list(frame["nested"]) == columns["nested"]
    assert len(make({"id": []})) == 0


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_a_missing_package_names_its_extra(chosen, package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=re.escape(hint_install(package))):
        getattr(chosen[0], f"to_{package}")()
