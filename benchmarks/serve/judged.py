"""Real collections whose questions have judged aspects: which passages hold which aspect of which question.

The questions of a collection are split into two halves. Defaults are chosen on the half `choosing`. The half
`reporting` shows what they are worth.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import numpy as np

from breadth.metrics import SearchableText, answer_forms
from breadth_experiments import records
from breadth_experiments.copies import copy_ids
from breadth_experiments.datasets import read_passages
from breadth_experiments.run import Passage, Question

HALVES = ("choosing", "reporting")
MOST = 120
"""Questions in one half of a collection, at most: the benchmark then takes minutes, not hours."""

T = TypeVar("T")


@dataclass(frozen=True)
class Judged:
    """A collection of texts with judged questions.

    `halves` has the half of each question. `relevant` of a question has one tuple for each aspect, with the ids of the
    passages that hold it. Aspects that no passage holds are left out, so the recall of all passages together is 1.
    """

    passages: tuple[Passage, ...]
    questions: tuple[Question, ...]
    halves: tuple[str, ...]

    def words(self) -> np.ndarray:
        """The number of words of each passage."""
        return np.array([len(passage.text.split()) for passage in self.passages])

    def texts(self) -> list[str]:
        """The passages as a reader sees them."""
        return [f"{passage.title}\n{passage.text}" if passage.title else passage.text for passage in self.passages]

    def every(self, step: int) -> Judged:
        """The same passages with every `step`-th question."""
        return replace(self, questions=self.questions[::step], halves=self.halves[::step])

    def with_copies(self, copies: int) -> Judged:
        """The same collection with so many extra exact copies of each passage, each right after its original."""
        passages = tuple(replace(p, id=name) for p in self.passages for name in copy_ids(p.id, copies))
        questions = tuple(
            replace(
                q, relevant=tuple(tuple(name for one in held for name in copy_ids(one, copies)) for held in q.relevant)
            )
            for q in self.questions
        )
        return Judged(passages, questions, self.halves)


def read_trec(folder: Path) -> Judged:
    """TREC Temporal Summarization: the title of a news event is the query, and its nuggets are the aspects.

    The events of 2014 are for choosing, those of 2015 for reporting. Those of 2013 are left out: their sentences were
    pooled in another way.
    """
    lines = list(records.read(folder / "trec_ts" / "queries.jsonl"))
    half_of = {"TS14": HALVES[0], "TS15": HALVES[1]}
    events = [(line["qid"], line["title"], half_of[line["qid"][:4]]) for line in lines if line["qid"][:4] in half_of]
    return _read_with_aspects(folder / "trec_ts" / "passages.jsonl", events)


def read_perspectrum(folder: Path) -> Judged:
    """Perspectrum: the query is a claim, and its aspects are the clusters of equivalent perspectives, at least two."""
    lines = list(records.read(folder / "perspectrum" / "queries.jsonl"))
    numbered = [(number, line) for number, line in enumerate(lines) if len(line["aspects"]) > 1]
    claims = [(line["qid"], line["query"], half) for half, line in _sample_halves(numbered)]
    return _read_with_aspects(folder / "perspectrum" / "passages.jsonl", claims)


def read_medquad(folder: Path) -> Judged:
    """MedQuAD: the query is a disease, and the types of question that passages about it answer are its aspects.

    Only diseases with at least three types of question are asked. The passages are the answers, without the questions.
    """
    lines = [line for line in records.read(folder / "medquad" / "qa_pairs.jsonl") if line["answer"].strip()]
    types: dict[str, dict[str, list[str]]] = {}
    for row, line in enumerate(lines):  # a pid of the file is not always unique
        types.setdefault(line["focus"], {}).setdefault(line["qtype"], []).append(str(row))
    numbered = [(number, focus) for number, focus in enumerate(types) if len(types[focus]) > 2]
    asked = _sample_halves(numbered)
    questions = tuple(Question(focus, focus, relevant=_tuples(types[focus].values())) for _, focus in asked)
    passages = tuple(Passage(str(row), "", line["answer"]) for row, line in enumerate(lines))
    return Judged(passages, questions, tuple(half for half, _ in asked))


def read_asqa(folder: Path) -> Judged:
    """ASQA: the aspects of an ambiguous question are its interpretations, found by their short answers in its pool."""
    lines = list(records.read(folder / "asqa" / "queries_with_pools.jsonl"))
    asked = _sample_halves([(number, line) for number, line in enumerate(lines) if any(line["answer_hits_in_pool"])])
    questions = tuple(
        Question(line["id"], line["question"], relevant=_tuples(held for held in line["answer_hits_in_pool"] if held))
        for _, line in asked
    )
    passages = tuple(read_passages(folder / "asqa" / "passages.jsonl"))
    return Judged(passages, questions, tuple(half for half, _ in asked))


def read_nq(folder: Path) -> Judged:
    """Natural Questions on Wikipedia passages. There is one aspect: some accepted answer occurs in the set."""
    passages = list(read_passages(folder / "wiki" / "passages.jsonl"))
    lines = list(records.read(folder / "wiki" / "nq_open_oracle_2655.jsonl"))
    asked = _sample_halves([(number, (number, line)) for number, line in enumerate(lines)])
    questions = [Question(str(number), line["question"], (tuple(line["answers"]),)) for _, (number, line) in asked]
    return judge_by_answers(passages, questions, [half for half, _ in asked])


def read_ramdocs(folder: Path) -> Judged:
    """RAMDocs: the aspects of an ambiguous question are the distinct answers of its documents of type "correct".

    Every question is asked of the documents of all questions. Documents that are nearly the same often hold different
    answers.
    """
    lines = list(records.read(folder / "ramdocs" / "RAMDocs_test.jsonl"))
    places: dict[str, str] = {}
    for line in lines:
        for document in line["documents"]:
            places.setdefault(document["text"], str(len(places)))
    kept = []
    for half, line in _sample_halves(list(enumerate(lines))):
        held: dict[str, list[str]] = {}
        for document in line["documents"]:
            if document["type"] == "correct":
                held.setdefault(document["answer"].casefold(), []).append(places[document["text"]])
        if held:
            kept.append((Question(line["question"], line["question"], relevant=_tuples(held.values())), half))
    passages = tuple(Passage(name, "", text) for text, name in places.items())
    return Judged(passages, tuple(question for question, _ in kept), tuple(half for _, half in kept))


def judge_by_answers(passages: Sequence[Passage], questions: Sequence[Question], halves: Sequence[str]) -> Judged:
    """Judge by strings: an aspect is a wanted answer, and a passage holds it if one of its forms occurs in it."""
    texts = [SearchableText.of(f"{passage.title}\n{passage.text}") for passage in passages]
    kept = []
    for question, half in zip(questions, halves, strict=True):
        holders = (
            [passage.id for passage, text in zip(passages, texts, strict=True) if text.holds(forms)]
            for forms in answer_forms(question.answers)
        )
        relevant = _tuples(held for held in holders if held)
        if relevant:
            kept.append((replace(question, answers=(), relevant=relevant), half))
    return Judged(tuple(passages), tuple(question for question, _ in kept), tuple(half for _, half in kept))


READERS: dict[str, Callable[[Path], Judged]] = {
    "trec": read_trec,
    "perspectrum": read_perspectrum,
    "medquad": read_medquad,
    "asqa": read_asqa,
    "nq": read_nq,
    "ramdocs": read_ramdocs,
}
"""How to read each collection from the folder with the data."""


def spread(items: Sequence[T], most: int) -> list[T]:
    """At most so many of the items, evenly spread over their order. The same items come back every time."""
    if len(items) <= most:
        return list(items)
    return [items[place * len(items) // most] for place in range(most)]


def _sample_halves(numbered: Sequence[tuple[int, T]], most: int = MOST) -> list[tuple[str, T]]:
    """Questions with the numbers they have in their file. The even numbers are for choosing, the odd for reporting."""
    halves = [[item for number, item in numbered if number % 2 == rest] for rest in (0, 1)]
    return [(half, item) for half, items in zip(HALVES, halves, strict=True) for item in spread(items, most)]


def _read_with_aspects(path: Path, asked: Sequence[tuple[str, str, str]]) -> Judged:
    """Passages that name the aspects they hold, and the questions (id, text, half) that were asked about them."""
    lines = list(records.read(path))
    held: dict[str, dict[str, list[str]]] = {name: {} for name, _, _ in asked}
    for line in lines:
        for name in held.keys() & line["aspects"].keys():
            for aspect in line["aspects"][name]:
                held[name].setdefault(aspect, []).append(str(line["pid"]))
    kept = [(Question(name, text, relevant=_tuples(held[name].values())), half) for name, text, half in asked]
    kept = [(question, half) for question, half in kept if question.relevant]
    passages = tuple(Passage(str(line["pid"]), "", line["text"]) for line in lines)
    return Judged(passages, tuple(question for question, _ in kept), tuple(half for _, half in kept))


def _tuples(groups: Iterable[Iterable[str]]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(group) for group in groups)
