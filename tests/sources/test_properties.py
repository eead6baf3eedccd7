"""What holds for all files: whatever was written is read again, wherever a block ends and whatever separates cells."""

from __future__ import annotations

import csv
import json
import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from breadth.sources import cut_into_pieces, json_values, open_source
from breadth.sources.tables import SEPARATORS

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r"), min_size=1, max_size=40).filter(
    lambda text: text.strip() != ""
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
FORMS = ["lines", "array", "pretty array", "pretty objects"]
RECORDS = st.lists(st.fixed_dictionaries({"text": TEXTS, "more": VALUES}), min_size=1, max_size=8)
quiet = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])


def read(path):
    source = open_source(path)
    found = [(document.text, dict(document.metadata)) for document in source.documents()]
    assert (source.skipped, source.stopped) == ([], None)
    assert source.read_bytes == path.stat().st_size
    return found


@quiet
@given(RECORDS, st.sampled_from(FORMS), st.integers(1, 200), st.booleans())
def test_json_is_read_as_it_was_written(tmp_path, records, form, block, as_ascii):
    indent = 2 if "pretty" in form else None
    whole = json.dumps(records, indent=indent, ensure_ascii=as_ascii)
    single = "\n".join(json.dumps(record, indent=indent, ensure_ascii=as_ascii) for record in records)
    (tmp_path / "a.json").write_text(whole if "array" in form else single, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        if "array" in form:  # the beginning tells which form it is, so it must be whole
            patch.setattr(json_values, "_HEAD", max(block, 8))
        assert read(tmp_path / "a.json") == [(r["text"], {"more": r["more"]}) for r in records]


@quiet
@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=8), st.sampled_from(sorted(SEPARATORS)), st.booleans())
def test_tables_are_read_as_they_were_written(tmp_path, rows, separator, quoted):
    with (tmp_path / "a.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=separator, quoting=csv.QUOTE_ALL if quoted else csv.QUOTE_MINIMAL)
        writer.writerow(["text", "answer"])
        writer.writerows(rows)
    assert read(tmp_path / "a.csv") == [(text, {"answer": answer}) for text, answer in rows]


@quiet
@given(
    st.lists(st.integers(0, 3), min_size=3, max_size=30),
    st.sampled_from(['{i},"never closed', '{i},"closed" not', "{i}", "{i},a,b", '{i},"a"b"']),
)
def test_a_broken_row_costs_no_other_row(tmp_path, kinds, broken):
    """Rows of one line each, some of them broken: all others are found."""
    lines = [broken.format(i=i) if kind == 0 else f"{i},fact number {i}" for i, kind in enumerate(kinds)]
    (tmp_path / "a.csv").write_text("\n".join(["id,text", *lines, ""]))
    source = open_source(tmp_path / "a.csv")
    found = [document.id for document in source.documents()]
    assert found == [str(i) for i, kind in enumerate(kinds) if kind != 0]
    assert [one.where for one in source.skipped] == [f"a.csv:{i + 2}" for i, kind in enumerate(kinds) if kind == 0]


@given(st.integers(1, 40), st.integers(1, 12), st.data())
def test_pieces_hold_every_word_and_overlap_as_they_should(count, words, data):
    overlap = data.draw(st.integers(0, words - 1))
    text = "  ".join(f"w{i}" for i in range(count))
    found = [
        [int(number) for number in re.findall(r"w(\d+)", piece)] for piece in cut_into_pieces(text, words, overlap)
    ]
    starts = range(0, max(1, count - overlap), words - overlap)
    assert found == [list(range(start, min(start + words, count))) for start in starts]
