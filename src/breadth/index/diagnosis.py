"""Do you need diversity? What is wrong with top-k on a collection, and which setting mends it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from breadth import api
from breadth.arrays import Vector
from breadth.checks import check_count, check_k, check_number
from breadth.encoders import Vectors
from breadth.errors import InputError
from breadth.index.documents import Document
from breadth.index.index import Index
from breadth.index.judging import Question, check_known, recall
from breadth.index.profiles import Profile, Trial, examine, judge, list_trials, summarise
from breadth.index.verdict import suggest, word_verdict
from breadth.oracles.segmented import SegmentedOracle
from breadth.selection import Selection

NEAR_COPY = 0.95
"""The cosine from which two passages count as near-copies."""
_QUERY_WORDS = 12
"""How many words from the beginning of a document make a query."""
_EXAMPLES = 3
"""How many examples of what top-k repeats a diagnosis gives."""


@dataclass(frozen=True)
class Repeat:
    """A passage that top-k returns for a query together with near-copies of it: the most relevant one comes first."""

    query: str
    documents: tuple[Document, ...]


@dataclass(frozen=True)
class Diagnosis:
    """What the sets of top-k and of some other settings are like on a collection.

    queries      how many queries were asked
    skipped      how many were not, because the encoder knows no word of them
    sampled      whether the queries are the beginnings of documents
    judged       whether the answers to the queries were known
    k            how many passages were asked for
    near_copy    the cosine from which two passages count as near-copies
    documents    how many documents the index holds
    profiles     what the sets of each setting are like; top-k comes first
    repeats      examples of what top-k repeats, the most repeated first. See whether they are copies to you
    """

    queries: int
    skipped: int
    sampled: bool
    judged: bool
    k: int
    near_copy: float
    documents: int
    profiles: tuple[Profile, ...]
    repeats: tuple[Repeat, ...]

    @property
    def top_k(self) -> Profile:
        """The profile of plain top-k."""
        return self.profiles[0]

    @property
    def suggested(self) -> Profile | None:
        """The profile of the setting to use, or None if top-k does as well: see `breadth.index.verdict.suggest`."""
        return suggest(self.profiles, self.queries)

    def verdict(self) -> str:
        """Put the diagnosis into words."""
        return word_verdict(self.profiles, self.k, self.queries)


def diagnose(
    index: Index,
    queries: Sequence[str] | None = None,
    *,
    answers: Sequence[Question] | None = None,
    k: int = 10,
    sample: int = 100,
    near_copy: float = NEAR_COPY,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Diagnosis:
    """Compare top-k with the default of `breadth.select` and some other settings on an index.

    queries    texts. Without them, the first words of `sample` documents, drawn with `seed`, are the queries.
    answers    instead of queries: questions whose answers are known. The diagnosis then compares the settings by
               recall, the share of what a question wants that the chosen passages give.
    near_copy  the cosine from which two passages count as near-copies.
    progress   called after every batch of queries with the number of sets chosen so far and the number in all.
    """
    oracle = index.oracle()
    check_k(k, oracle.size)
    check_number(near_copy, "near_copy", -1.0, 1.0)
    questions = None if answers is None else _check_questions(answers, queries, index)
    texts = _choose_queries(index, oracle, queries, questions, check_count(sample, "sample"), seed)
    vectors = index.encode(texts, "query")
    known = np.flatnonzero(vectors.any(axis=1))
    if len(known) == 0:
        raise InputError("queries: the encoder knows no word of any of them")
    trials = list_trials(k, oracle.size, near_copy)
    sets = _select_all(oracle, vectors[known], k, trials, progress)
    profiles = _profile(oracle, trials, sets, near_copy)
    if questions is not None:
        shares = _find_recall(index, oracle, [questions[i] for i in known], sets)
        profiles = [replace(p, judgement=j) for p, j in zip(profiles, judge(shares, seed), strict=True)]
    return Diagnosis(
        queries=len(known),
        skipped=len(texts) - len(known),
        sampled=queries is None and questions is None,
        judged=questions is not None,
        k=k,
        near_copy=near_copy,
        documents=oracle.size,
        profiles=tuple(profiles),
        repeats=_find_repeats(index, oracle, [texts[i] for i in known], sets[0], near_copy),
    )


def _choose_queries(
    index: Index,
    oracle: SegmentedOracle,
    queries: Sequence[str] | None,
    questions: list[Question] | None,
    sample: int,
    seed: int,
) -> list[str]:
    if questions is not None:
        return [question.query for question in questions]
    if queries is not None:
        return _check_queries(queries)
    rng = np.random.default_rng(seed)
    picked = np.sort(rng.choice(oracle.size, min(sample, oracle.size), replace=False))
    return [" ".join(d.text.split()[:_QUERY_WORDS]) for d in index.documents(oracle.numbers[picked])]


def _check_queries(queries: Sequence[str]) -> list[str]:
    if isinstance(queries, str):
        raise InputError("queries must be a list of texts, got one text; pass [text]")
    texts = [text for text in queries if text.strip()]
    if not texts:
        raise InputError("queries holds no text")
    return texts


def _check_questions(answers: Sequence[Question], queries: Sequence[str] | None, index: Index) -> list[Question]:
    if queries is not None:
        raise InputError("pass queries or answers, not both: the questions with answers are the queries")
    questions = list(answers)
    if not questions:
        raise InputError("answers holds no question")
    for one in questions:
        if not isinstance(one, Question):
            raise InputError(f"answers must hold `breadth.index.Question`s, got {type(one).__name__}")
    check_known(questions, index)
    return questions


def _select_all(
    oracle: SegmentedOracle,
    vectors: Vectors,
    k: int,
    trials: Sequence[Trial],
    progress: Callable[[int, int], None] | None,
) -> list[list[Selection]]:
    """The sets of every setting for every query."""
    sets: list[list[Selection]] = []
    for trial in trials:

        def report(done: int, _: int, before: int = len(sets) * len(vectors)) -> None:
            if progress is not None:
                progress(before + done, len(trials) * len(vectors))

        sets.append(api.select_many(oracle, vectors, k=k, progress=report, **trial.options))
    return sets


def _profile(
    oracle: SegmentedOracle, trials: Sequence[Trial], sets: list[list[Selection]], near_copy: float
) -> list[Profile]:
    """What the sets of each setting are like. The first setting is top-k."""
    traits = [
        [examine(one, oracle.rows(one.ids), top, near_copy) for one, top in zip(chosen, sets[0], strict=True)]
        for chosen in sets
    ]
    return [summarise(trial, own, traits[0]) for trial, own in zip(trials, traits, strict=True)]


def _find_recall(
    index: Index, oracle: SegmentedOracle, questions: Sequence[Question], sets: list[list[Selection]]
) -> Vector:
    """The recall of every setting (rows) on every question (columns)."""
    columns = []
    for question, chosen in zip(questions, zip(*sets, strict=True), strict=True):
        ids = np.unique(np.concatenate([one.ids for one in chosen]))
        documents = dict(zip(ids.tolist(), index.documents(oracle.numbers[ids]), strict=True))
        columns.append(recall(question, [[documents[i] for i in one.ids.tolist()] for one in chosen]))
    return np.ascontiguousarray(np.array(columns, dtype=np.float64).T)


def _find_repeats(
    index: Index, oracle: SegmentedOracle, texts: Sequence[str], top: list[Selection], near_copy: float
) -> tuple[Repeat, ...]:
    """The passages that top-k repeats most often, each once."""
    groups = [_find_largest_group(oracle, chosen, near_copy) for chosen in top]
    order = sorted(range(len(groups)), key=lambda place: -len(groups[place]))
    repeats: list[Repeat] = []
    shown: set[int] = set()
    for place in order:
        group = groups[place]
        if len(repeats) == _EXAMPLES or len(group) < 2:
            break
        if shown.isdisjoint(group):
            shown.update(group)
            repeats.append(Repeat(texts[place], tuple(index.documents(oracle.numbers[group]))))
    return tuple(repeats)


def _find_largest_group(oracle: SegmentedOracle, chosen: Selection, near_copy: float) -> list[int]:
    """The row of a set with the most near-copies among the less relevant ones, and those."""
    rows = np.asarray(oracle.rows(chosen.ids), dtype=np.float64)
    copies = np.triu(rows @ rows.T >= near_copy, k=1)
    first = int(np.argmax(copies.sum(axis=1)))
    return [int(chosen.ids[first]), *chosen.ids[copies[first]].tolist()]
