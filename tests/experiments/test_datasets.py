"""The published files are read, and anything else is refused with a reason."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from breadth.errors import InputError
from breadth_experiments import datasets, subsets
from breadth_experiments.records import Records, read, write
from breadth_experiments.run import Passage, Question

SHARED = Path(__file__).parents[3] / "shared" / "data"

ASQA = {
    "dev": {
        "7": {
            "ambiguous_question": "Who won?",
            "qa_pairs": [{"short_answers": ["Ann", "Ann Lee"]}, {"short_answers": ["Bo"]}],
        },
        "8": {"ambiguous_question": "When?", "qa_pairs": [{"short_answers": ["1999"]}]},
    },
    "train": {},
}


def test_asqa_as_published(tmp_path):
    path = tmp_path / "ASQA.json"
    path.write_text(json.dumps(ASQA))
    assert datasets.read_asqa(path) == [
        Question("7", "Who won?", (("Ann", "Ann Lee"), ("Bo",))),
        Question("8", "When?", (("1999",),)),
    ]
    with pytest.raises(InputError, match="holds 2 questions, the development set of asqa has 948"):
        datasets.read_questions(path, "asqa")


def test_qampari_as_published(tmp_path):
    path = tmp_path / "dev_data.jsonl"
    answers = [{"answer_text": "Heat", "aliases": ["Heat", "HEAT (manga)"]}, {"answer_text": "Strain", "aliases": []}]
    path.write_text(json.dumps({"qid": "1__dev", "question_text": "Which manga?", "answer_list": answers}) + "\n")
    assert datasets.read_qampari(path) == [Question("1__dev", "Which manga?", (("Heat", "HEAT (manga)"), ("Strain",)))]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"dev": {"7": {"ambig', "is not JSON"),
        ('{"test": {}}', "has no part 'dev'"),
        ('{"dev": {"7": {"ambiguous_question": "Who?"}}}', "no qa_pairs"),
        ('{"dev": {"7": {"ambiguous_question": "Who?", "qa_pairs": [{}]}}}', "for each answer, the list of its forms"),
        ('[{"id": "1", "question": "a", "qa_pairs": [{"short_answers": ["x"]}]}, 3]', "not an object but int"),
    ],
)
def test_a_wrong_asqa_file_is_an_error(tmp_path, text, message):
    path = tmp_path / "ASQA.json"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        datasets.read_asqa(path)


def test_a_question_twice_is_an_error(tmp_path):
    path = tmp_path / "own.jsonl"
    line = json.dumps({"id": "1", "question": "Who?", "answers": [["x"]]}) + "\n"
    path.write_text(line + line)
    with pytest.raises(InputError, match="two questions have the id '1'"):
        datasets.read_questions(path, "own")
    with pytest.raises(InputError, match="must be one of"):
        datasets.read_questions(path, "squad")
    with pytest.raises(InputError, match="there is no file"):
        datasets.read_questions(tmp_path / "none.jsonl", "own")


TSV = 'id\ttext\ttitle\n1\t"He said ""no"" twice."\tA\n2\tplain\tB\n'


@pytest.mark.parametrize("packed", [False, True])
def test_dpr_passages(tmp_path, packed):
    path = tmp_path / ("passages.tsv.gz" if packed else "passages.tsv")
    path.write_bytes(gzip.compress(TSV.encode()) if packed else TSV.encode())
    assert list(datasets.read_passages(path)) == [Passage("1", "A", 'He said "no" twice.'), Passage("2", "B", "plain")]


def test_incomplete_passages_are_an_error(tmp_path):
    short = tmp_path / "psgs_w100.tsv"
    short.write_text(TSV)
    with pytest.raises(InputError, match="holds 2 passages, DPR's file has 21,015,324"):
        list(datasets.read_passages(short))
    torn = tmp_path / "torn.tsv"
    torn.write_text(TSV + "3\thalf a li")
    with pytest.raises(InputError, match=r"torn\.tsv:4 has 2 cells, not 3"):
        list(datasets.read_passages(torn))
    packed = tmp_path / "torn.tsv.gz"
    packed.write_bytes(gzip.compress(TSV.encode() * 200)[:-30])
    with pytest.raises(InputError, match="is it complete"):
        list(datasets.read_passages(packed))
    other = tmp_path / "other.tsv"
    other.write_text("a\tb\n")
    with pytest.raises(InputError, match="must begin with"):
        list(datasets.read_passages(other))
    with pytest.raises(InputError, match="are read from"):
        list(datasets.read_passages(tmp_path / "x.csv"))
    lines = tmp_path / "x.jsonl"
    lines.write_text('{"pid": "1", "title": "t"}\n')
    with pytest.raises(InputError, match="has no id"):
        list(datasets.read_passages(lines))


def test_a_subset_that_is_not_the_known_one_is_refused(tmp_path):
    with pytest.raises(InputError, match="there is no file"):
        subsets.load("asqa", tmp_path)
    for name in ("asqa/queries_with_pools.jsonl", "asqa/passages.jsonl"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("{}\n")
    with pytest.raises(InputError, match="its SHA-256 differs"):
        subsets.load("asqa", tmp_path)
    with pytest.raises(InputError, match="subset must be one of"):
        subsets.load("squad", tmp_path)


@pytest.mark.skipif(not SHARED.is_dir(), reason=f"the subsets are not at {SHARED}; only their owner has them")
@pytest.mark.parametrize(
    ("name", "questions", "passages"),
    [("asqa", 300, 8841), ("asqa-bm25", 948, None), ("qampari-bm25", 1000, None), ("medquad-liveqa", 38, None)],
)
def test_subsets_hold_what_is_said_of_them(name, questions, passages):
    subset = subsets.load(name, SHARED)
    assert len(subset.questions) == questions
    assert passages is None or len(subset.passages) == passages
    assert len({p.id for p in subset.passages}) == len(subset.passages)
    known = {p.id for p in subset.passages}
    assert all(i in known for q in subset.questions for group in q.relevant for i in group)


def test_records_survive_a_torn_line(tmp_path):
    path = tmp_path / "r.jsonl"
    with Records(path, ("a", "b")) as records:
        records.append({"a": 1, "b": None, "value": "ä"})
        with pytest.raises(InputError, match="already has a record"):
            records.append({"a": 1, "b": None})
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"a": 2, "b"')
    with Records(path, ("a", "b")) as records:
        assert len(records) == 1
        assert (1, None) in records
        assert (2, 3) not in records
    assert path.read_bytes() == whole
    path.write_bytes(b'{"a": 2, "b')
    with Records(path, ("a", "b")) as records:
        assert len(records) == 0
    path.write_bytes(b'{"a": \n' + whole)
    with pytest.raises(InputError, match=r"r\.jsonl:1 is not JSON"):
        Records(path, ("a",))
    write(path, [{"a": 1}])
    assert list(read(path)) == [{"a": 1}]
    assert [p.name for p in tmp_path.iterdir()] == ["r.jsonl"]
