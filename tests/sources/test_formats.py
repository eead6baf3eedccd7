"""Every format gives the same documents, and what cannot be read is reported."""

from __future__ import annotations

import datetime
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from breadth import sources
from breadth.errors import InputError
from breadth.sources import FORMATS, cut_into_pieces, open_source, parse_chunk

RECORDS = [
    {"id": f"r{i}", "text": f"fact number {i} about asthma", "source": f"s{i % 2}", "year": 2000 + i} for i in range(5)
]


def write_json_lines(path):
    path.write_text("".join(json.dumps(record) + "\n" for record in RECORDS))


def write_json_array(path):
    path.write_text(json.dumps(RECORDS, indent=2))


def write_csv(path):
    lines = [f'{r["id"]},"{r["text"]}",{r["source"]},{r["year"]}' for r in RECORDS]
    path.write_text("\n".join(["id,text,source,year", *lines, ""]))


def write_tsv(path):
    path.write_text("".join("\t".join(map(str, row)) + "\n" for row in [RECORDS[0], *(r.values() for r in RECORDS)]))


def write_parquet(path):
    pq.write_table(pa.Table.from_pylist(RECORDS), path)


SAMPLES = {
    ".jsonl": write_json_lines,
    ".ndjson": write_json_lines,
    ".json": write_json_array,
    ".csv": write_csv,
    ".tsv": write_tsv,
    ".parquet": write_parquet,
}
"""How to write RECORDS in every format."""


@pytest.mark.parametrize("ending", FORMATS)
def test_every_format_gives_the_same_documents(tmp_path, ending):
    assert ending in SAMPLES, f"{ending} files can be read, but this test cannot write one: add it to SAMPLES"
    path = tmp_path / f"a{ending.upper()}"
    SAMPLES[ending](path)
    source = open_source(path)
    found = [{"id": d.id, "text": d.text, **d.metadata} for d in source.documents()]
    assert found == RECORDS
    assert source.skipped == []
    assert source.read_bytes == source.total_bytes == path.stat().st_size


def test_a_new_format_is_one_function(tmp_path, monkeypatch):
    def read_lines(source):
        for number, line in enumerate(source.path.read_text().splitlines(), start=1):
            yield f"{source.path.name}:{number}", {"text": line, "line": number}

    monkeypatch.setitem(FORMATS, ".lines", read_lines)
    (tmp_path / "a.lines").write_text("one\n\nthree\n")
    source = open_source(tmp_path / "a.lines")
    assert [(d.id, d.text, d.metadata) for d in source.documents()] == [
        ("a.lines:1", "one", {"line": 1}),
        ("a.lines:3", "three", {"line": 3}),
    ]
    assert [s.where for s in source.skipped] == ["a.lines:2"]
    assert ".lines" in sources.describe_formats()


def test_a_folder_gives_a_document_a_file(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "one.txt").write_text("one two three four five six seven")
    (tmp_path / "deep" / "two.md").write_bytes(b"caf\xe9")
    (tmp_path / "picture.png").write_bytes(b"")
    folder = open_source(tmp_path, words=3, overlap=1)
    assert [(d.id, d.text, d.metadata["part_of"]) for d in folder.documents()] == [
        ("one.txt#0", "one two three", "one.txt"),
        ("one.txt#1", "three four five", "one.txt"),
        ("one.txt#2", "five six seven", "one.txt"),
    ]
    assert folder.parts == {"one.txt": 3}
    assert [(s.where, s.reason.split(":")[0]) for s in folder.skipped] == [
        ("picture.png", "not a .txt, .md, .rst file"),
        ("deep/two.md", "not UTF-8"),
    ]


def test_broken_rows_of_a_csv_are_reported(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"id,text\n1,one\n2\n3,three,more\n4,caf\xe9\n5,five\n")
    source = open_source(tmp_path / "a.csv")
    assert [d.id for d in source.documents()] == ["1", "5"]
    assert [s.where for s in source.skipped] == ["a.csv:3", "a.csv:4", "a.csv:5"]


def test_values_of_every_kind_are_kept_or_reported(tmp_path):
    rows = [{"id": "a", "text": "one", "when": datetime.date(2020, 1, 2), "x": float("nan"), "list": [1, 2]}]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    (document,) = open_source(tmp_path / "a.parquet").documents()
    assert document.metadata == {"when": "2020-01-02", "x": None, "list": [1, 2]}
    (tmp_path / "a.jsonl").write_text('{"id": "a", "text": "half \\ud83d"}\n{"id": "b", "text": "whole"}\n')
    source = open_source(tmp_path / "a.jsonl")
    assert [d.id for d in source.documents()] == ["b"]
    assert source.skipped[0].where == "a.jsonl:1"


def test_other_fields_can_hold_the_text_and_the_id(tmp_path):
    (tmp_path / "a.csv").write_text("key,words,text\n7,2000,x\n8.5,asthma,y\n")
    source = open_source(tmp_path / "a.csv", text_field="words", id_field="key")
    assert [(d.id, d.text, d.metadata) for d in source.documents()] == [
        ("7", "2000", {"text": "x"}),
        ("8.5", "asthma", {"text": "y"}),
    ]
    (tmp_path / "a.jsonl").write_text('{"id": 1.5, "text": "a"}\n{"id": true, "text": "b"}\n{"id": 3, "text": "c"}\n')
    source = open_source(tmp_path / "a.jsonl")
    assert [d.id for d in source.documents()] == ["3"]
    assert all("the id field id is missing, or neither text nor a whole number" in s.reason for s in source.skipped)


def test_what_cannot_be_read_is_an_error(tmp_path):
    with pytest.raises(InputError, match="there is no file or folder"):
        open_source(tmp_path / "nothing")
    with pytest.raises(InputError, match=r"holds no \.txt"):
        open_source(tmp_path)
    (tmp_path / "a.docx").write_bytes(b"")
    with pytest.raises(
        InputError, match=r"a\.docx: can read \.jsonl, \.ndjson, \.json, \.csv, \.tsv, \.parquet files and folders"
    ):
        open_source(tmp_path / "a.docx")
    (tmp_path / "a.parquet").write_bytes(b"no table")
    with pytest.raises(InputError, match="is not a Parquet file"):
        list(open_source(tmp_path / "a.parquet").documents())


def test_pieces_cover_the_text():
    assert list(cut_into_pieces("a b c d e", 2)) == ["a b", "c d", "e"]
    assert list(cut_into_pieces("a", 5)) == ["a"]
    assert list(cut_into_pieces("a  b\nc d", 3, 1)) == ["a  b\nc", "c d"]


def test_chunks_are_described_in_words():
    assert parse_chunk("100w") == (100, 0)
    assert parse_chunk("100w/20") == (100, 20)
    for wrong in ("100", "0w", "10w/10", "w", "100w/"):
        with pytest.raises(InputError, match="chunk must be like 100w"):
            parse_chunk(wrong)
