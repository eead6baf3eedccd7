"""The judged collections: which questions are asked, what their aspects are, and which half they belong to."""

from __future__ import annotations

import json

import pytest

from benchmarks.serve import judged
from benchmarks.serve.judged import HALVES, judge_by_answers, spread
from breadth_experiments.run import Passage, Question


def write_lines(path, lines):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


@pytest.mark.parametrize(("count", "most"), [(0, 3), (2, 3), (3, 3), (10, 3), (1000, 120)])
def test_spread_takes_different_items_in_order_from_the_whole_range(count, most):
    taken = spread(range(count), most)
    assert len(taken) == len(set(taken)) == min(count, most)
    assert taken == sorted(taken) == spread(range(count), most)
    if count >= most:
        steps = [b - a for a, b in zip(taken, [*taken[1:], count], strict=True)]
        assert max(steps) - min(steps) <= 1


def test_trec_has_2014_for_choosing_2015_for_reporting_and_leaves_2013_out(tmp_path):
    write_lines(
        tmp_path / "trec_ts/queries.jsonl",
        [{"qid": f"TS{year}.{year}", "title": f"event {year}", "aspects": {}} for year in (13, 14, 15)],
    )
    aspects = [{"TS13.13": ["x"]}, {"TS14.14": ["n1", "n2"], "TS15.15": ["m"]}, {"TS14.14": ["n2"]}, {}]
    lines = [{"pid": f"p{i}", "text": f"text {i}", "aspects": one} for i, one in enumerate(aspects)]
    write_lines(tmp_path / "trec_ts/passages.jsonl", lines)
    found = judged.read_trec(tmp_path)
    assert [p.id for p in found.passages] == ["p0", "p1", "p2", "p3"]
    assert [q.question for q in found.questions] == ["event 14", "event 15"]
    assert found.halves == HALVES
    assert [q.relevant for q in found.questions] == [(("p1",), ("p1", "p2")), (("p1",),)]


def test_perspectrum_splits_by_the_number_in_the_file(tmp_path):
    asked = [{"qid": f"C{i}", "query": f"claim {i}", "aspects": {"a": {}, "b": {}}} for i in range(4)]
    asked[1]["aspects"] = {"a": {}}  # a claim with a single aspect is not asked
    write_lines(tmp_path / "perspectrum/queries.jsonl", asked)
    lines = [{"pid": i, "text": "t", "aspects": {f"C{i}": ["a"]}} for i in range(4)]
    write_lines(tmp_path / "perspectrum/passages.jsonl", lines)
    found = judged.read_perspectrum(tmp_path)
    assert dict(zip([q.id for q in found.questions], found.halves, strict=True)) == {
        "C0": "choosing",
        "C2": "choosing",
        "C3": "reporting",
    }
    assert [q.relevant for q in found.questions] == [(("0",),), (("2",),), (("3",),)]  # no passage holds aspect b


def test_medquad_asks_for_diseases_with_three_types_of_question(tmp_path):
    kinds = [("flu", "causes"), ("flu", "causes"), ("flu", "symptoms"), ("cold", "causes"), ("flu", "treatment")]
    lines = [{"pid": "same", "focus": f, "qtype": t, "answer": f"about {f}"} for f, t in kinds]
    write_lines(tmp_path / "medquad/qa_pairs.jsonl", [*lines, {**lines[0], "answer": " "}])
    found = judged.read_medquad(tmp_path)
    assert len({p.id for p in found.passages}) == len(found.passages) == 5
    assert [(q.question, q.relevant) for q in found.questions] == [("flu", (("0", "1"), ("2",), ("4",)))]


def test_asqa_leaves_out_what_no_passage_answers(tmp_path):
    write_lines(tmp_path / "asqa/passages.jsonl", [{"pid": p, "title": p, "text": p} for p in "xyz"])
    hits = [[[], []], [["x"], [], ["y", "z"]]]
    lines = [{"id": str(i), "question": f"q{i}", "answer_hits_in_pool": one} for i, one in enumerate(hits)]
    write_lines(tmp_path / "asqa/queries_with_pools.jsonl", lines)
    found = judged.read_asqa(tmp_path)
    assert [(q.id, q.relevant) for q in found.questions] == [("1", (("x",), ("y", "z")))]
    assert found.halves == ("reporting",)


def test_nq_has_one_aspect_that_any_accepted_answer_holds(tmp_path):
    texts = {"x": "It was Röntgen.", "y": "Curie won.", "z": "Nothing."}
    write_lines(tmp_path / "wiki/passages.jsonl", [{"pid": p, "title": "", "text": t} for p, t in texts.items()])
    lines = [{"question": "who", "answers": ["Röntgen", "Curie"]}, {"question": "unknown", "answers": ["Bohr"]}]
    write_lines(tmp_path / "wiki/nq_open_oracle_2655.jsonl", lines)
    found = judged.read_nq(tmp_path)
    assert [(q.question, q.relevant) for q in found.questions] == [("who", (("x", "y"),))]


def test_copies_follow_their_original_and_hold_the_same_aspects():
    passages = [Passage("x", "", "yes"), Passage("y", "", "no")]
    found = judge_by_answers(passages, [Question("q", "?", (("yes",),))], ["choosing"]).with_copies(2)
    assert [p.text for p in found.passages] == ["yes"] * 3 + ["no"] * 3
    assert len({p.id for p in found.passages}) == 6
    assert set(found.questions[0].relevant[0]) == {p.id for p in found.passages[:3]}
    assert found.words().tolist() == [1] * 6


def test_every_second_question_keeps_its_half():
    questions = [Question(str(i), "?", (("yes",),)) for i in range(4)]
    found = judge_by_answers([Passage("x", "", "yes")], questions, ["choosing"] * 2 + ["reporting"] * 2).every(2)
    assert ([q.id for q in found.questions], found.halves) == (["0", "2"], HALVES)
