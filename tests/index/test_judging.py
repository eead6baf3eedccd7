"""Questions with known answers: what counts as found, and what a file of them may hold."""

from __future__ import annotations

import json

import pytest

from breadth.errors import InputError
from breadth.index import Document, Question
from breadth.index.judging import read_questions, recall

DOCUMENTS = [
    Document("one", "The treaty was signed in Rome by Paul Simon's uncle."),
    Document("two", "It came into force in 1958."),
    Document("three", "A party of six."),
]


def test_recall_is_the_share_of_answers_that_a_set_holds():
    question = Question.from_answers("treaty", ["Rome", ["in 1957", "1958"], "art", "Paul Simon"])
    sets = [DOCUMENTS, DOCUMENTS[:1], DOCUMENTS[1:2], DOCUMENTS[2:], []]
    assert recall(question, sets) == [3 / 4, 2 / 4, 1 / 4, 0, 0]


def test_one_document_is_enough_for_an_aspect_but_not_for_relevant_ids():
    aspects = Question.from_aspects("treaty", {"where": ["one", "four"], "when": ["two"]})
    assert recall(aspects, [DOCUMENTS[:1], DOCUMENTS[:2], DOCUMENTS[2:]]) == [1 / 2, 1, 0]
    relevant = Question.from_relevant("treaty", ["one", "four", "two", "one"])
    assert recall(relevant, [DOCUMENTS[:1], DOCUMENTS[:2], DOCUMENTS[2:]]) == [1 / 3, 2 / 3, 0]


def test_a_file_of_questions(tmp_path):
    records = [
        {"query": "a", "answers": ["x", ["y", "z"]]},
        {"query": "b", "relevant": ["d1", "d2"], "id": 7},
        {"query": "c", "aspects": {"one": ["d1"], "two": ["d1", "d2"]}},
    ]
    path = tmp_path / "q.jsonl"
    path.write_text("\ufeff" + "\n\n".join(map(json.dumps, records)), encoding="utf-8")
    assert read_questions(path) == [
        Question.from_answers("a", [["x"], ["z", "y"]]),
        Question.from_relevant("b", ["d1", "d2"]),
        Question.from_aspects("c", {"one": ["d1"], "two": ["d2", "d1"]}),
    ]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"{broken", "line 2: broken JSON"),
        (b'{"query": "caf\xe9"}', "line 2: not UTF-8"),
        (b"[1]", "line 2: must be a JSON object, got list"),
        (b'{"answers": ["x"]}', 'line 2: lacks the field "query"; it has answers'),
        (b'{"query": "a"}', "line 2: needs exactly one of the fields answers, relevant, aspects, got none of them"),
        (b'{"query": "a", "answers": ["x"], "relevant": ["y"]}', "got answers and relevant"),
        (b'{"query": " ", "answers": ["x"]}', "line 2: query must be a text that is not empty, got ' '"),
        (b'{"query": 3, "answers": ["x"]}', "line 2: query must be a text that is not empty, got 3"),
        (b'{"query": "a", "answers": "x"}', "line 2: answers must be a list of texts"),
        (b'{"query": "a", "answers": ["x", 3]}', "line 2: answers must be a list of texts"),
        (b'{"query": "a", "answers": []}', "line 2: answers must be a non-empty list"),
        (b'{"query": "a", "answers": [["x", 3]]}', "line 2: answers must be a non-empty list"),
        (b'{"query": "a", "relevant": []}', "line 2: relevant must be a list of document ids"),
        (b'{"query": "a", "relevant": [3]}', "line 2: relevant must be a list of document ids"),
        (b'{"query": "a", "aspects": ["x"]}', "line 2: aspects must map names to lists of document ids"),
        (b'{"query": "a", "aspects": {"n": "x"}}', r"line 2: aspects\['n'\] must be a list of document ids"),
    ],
)
def test_a_line_that_cannot_be_read_is_named(tmp_path, line, message):
    path = tmp_path / "q.jsonl"
    path.write_bytes(b'{"query": "good", "answers": ["x"]}\n' + line + b"\n")
    with pytest.raises(InputError, match=message):
        read_questions(path)


def test_files_without_questions(tmp_path):
    with pytest.raises(InputError, match="there is no file"):
        read_questions(tmp_path / "nowhere.jsonl")
    (tmp_path / "empty.jsonl").write_text("\n\n")
    with pytest.raises(InputError, match=r"empty.jsonl holds no question"):
        read_questions(tmp_path / "empty.jsonl")
