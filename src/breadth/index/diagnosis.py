"""Do you need diversity? What is wrong with top-k on a collection, and which setting mends it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from breadth import api
from breadth.arrays import Ids, Vector
from breadth.checks import check_count, check_k
from breadth.encoders import Vectors
from breadth.errors import InputError
from breadth.index.documents import Document
from breadth.index.index import Index
from breadth.index.judging import Question, check_known, recall
from breadth.index.profiles import Passages, Profile, Trial, examine, judge, list_trials, summarise
from breadth.index.verdict import suggest, word_verdict
from breadth.oracles.segmented import SegmentedOracle
from breadth.selection import Selection

_QUERY_WORDS = 12
"""How many words from the beginning of a document make a query."""
_EXAMPLES = 3
"""How many examples of what top-k repeats a diagnosis gives."""


@dataclass(frozen=True)
class Repeat:
    """Passages that top-k returns for one query: those after the first one say nothing that the first does not say."""

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
    documents    how many documents the index holds
    profiles     what the sets of each setting are like; top-k comes first
    repeats      examples of what top-k repeats, the most repeated first
    """

    queries: int
    skipped: int
    sampled: bool
    judged: bool
    k: int
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
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Diagnosis:
    """Compare top-k with the default of `breadth.select` and some other settings on an index.

    queries    texts. Without them, the first words of `sample` documents, drawn with `seed`, are the queries.
    answers    instead of queries: questions whose answers are known. The diagnosis then compares the settings by
               recall, the share of what a question wants that the chosen passages give.
    progress   called after every batch of queries with the number of sets chosen so far and the number in all.
    """
    oracle = index.oracle()
    check_k(k, oracle.size)
    questions = None if answers is None else _check_questions(answers, queries, index)
    texts = _choose_queries(index, oracle, queries, questions, check_count(sample, "sample"), seed)
    vectors = index.encode(texts, "query")
    known = np.flatnonzero(vectors.any(axis=1))
    if len(known) == 0:
        raise InputError("queries: the encoder knows no word of any of them")
    shelf = _Texts(index, oracle)
    trials = list_trials(k, oracle.size, shelf.read)
    sets = _select_all(oracle, vectors[known], k, trials, progress)
    profiles = _profile(trials, sets, shelf)
    if questions is not None:
        shares = _find_recall(index, oracle, [questions[i] for i in known], sets)
        profiles = [replace(p, judgement=j) for p, j in zip(profiles, judge(shares, seed), strict=True)]
    return Diagnosis(
        queries=len(known),
        skipped=len(texts) - len(known),
        sampled=queries is None and questions is None,
        judged=questions is not None,
        k=k,
        documents=oracle.size,
        profiles=tuple(profiles),
        repeats=_find_repeats(index, oracle, [texts[i] for i in known], sets[1]),
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


class _Texts:
    """The texts of rows, each read once."""

    def __init__(self, index: Index, oracle: SegmentedOracle) -> None:
        self._index, self._oracle = index, oracle
        self._known: dict[int, str] = {}

    def read(self, ids: Ids) -> list[str]:
        missing = [row for row in dict.fromkeys(ids.tolist()) if row not in self._known]
        if missing:
            found = self._index.documents(self._oracle.numbers[missing])
            self._known.update(zip(missing, (document.text for document in found), strict=True))
        return [self._known[row] for row in ids.tolist()]

    def passages(self, chosen: Selection) -> Passages:
        """The passages of a set."""
        return Passages(self._oracle.rows(chosen.ids), self.read(chosen.ids))


def _profile(trials: Sequence[Trial], sets: list[list[Selection]], shelf: _Texts) -> list[Profile]:
    """What the sets of each setting are like. The first setting is top-k."""
    plain = [(top, shelf.passages(top)) for top in sets[0]]
    traits = [
        [examine(one, shelf.passages(one), *top) for one, top in zip(chosen, plain, strict=True)] for chosen in sets
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
    index: Index, oracle: SegmentedOracle, texts: Sequence[str], chosen: list[Selection]
) -> tuple[Repeat, ...]:
    """The passages with the most copies in sets of the default, each once."""
    groups = [_find_largest_group(one) for one in chosen]
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


def _find_largest_group(chosen: Selection) -> list[int]:
    """The row with the most copies, and these."""
    groups = [
        [row, *(copy.id for copy in copies)]
        for row, copies in zip(chosen.ids.tolist(), chosen.copies or [()] * len(chosen.ids), strict=True)
    ]
    return max(groups, key=len)
