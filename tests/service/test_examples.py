"""Queries to begin with."""

from __future__ import annotations

from breadth.index import Document
from breadth.service.examples import COUNT, make_examples


def test_questions_and_titles_come_before_sentences():
    documents = [
        Document("a", "Text one.", {"question": "What is asthma?", "title": "No"}),
        Document("b", "Django before 2.1 is affected. More.", {"year": 3}),
        Document("c", "Text.", {"title": "The title of this"}),
        Document("d", "# Is it safe? Yes."),
        Document("e", "word"),
        Document("f", "Text one."),
    ]
    assert make_examples(documents) == [
        "What is asthma?",
        "Django before 2.1 is affected",
        "The title of this",
        "Is it safe?",
    ]


def test_there_are_few_and_none_twice():
    assert make_examples([]) == []
    assert len(make_examples([Document(str(i), f"Sentence number {i % 9} here.") for i in range(40)])) <= COUNT
