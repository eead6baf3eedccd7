"""The stage `pool`: the candidate passages for all questions of a run together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from breadth.errors import InputError
from breadth.index import BM25, PER_QUERY
from breadth_experiments import datasets, subsets
from breadth_experiments.copies import add_copies, copy_ids
from breadth_experiments.progress import Progress, report_nothing
from breadth_experiments.records import Records
from breadth_experiments.run import Passage, Question, Run, fingerprint


class Searcher(Protocol):
    """Finds candidates for a question."""

    def top(self, question: str, count: int) -> list[str]: ...
    def passage(self, identity: str) -> Passage: ...


class LocalSearcher:
    """The BM25 of `breadth` over passages in memory."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._passages = passages
        self._place = {passage.id: place for place, passage in enumerate(passages)}
        if len(self._place) < len(passages):
            repeated = next(p.id for place, p in enumerate(passages) if self._place[p.id] != place)
            raise InputError(f"two passages have the id {repeated!r}")
        if not passages:
            raise InputError("there are no passages; is the file empty?")
        self._bm25 = BM25([f"{p.title} {p.text}" for p in passages])

    def top(self, question: str, count: int) -> list[str]:
        found = self._bm25.top(question, min(count, len(self._passages)))
        return [self._passages[int(place)].id for place in found]

    def passage(self, identity: str) -> Passage:
        if identity not in self._place:
            raise InputError(f"candidates.jsonl names the passage {identity!r}, which is not there; delete the file")
        return self._passages[self._place[identity]]


def pool_subset(
    folder: Path,
    name: str,
    source: Path,
    *,
    per_question: int = PER_QUERY,
    copies: int = 0,
    limit: int | None = None,
    progress: Progress = report_nothing,
) -> Run:
    """Create a run on a checked subset: with BM25's pool if its name ends with -bm25, else with all its passages."""
    subset = subsets.load(name, source)
    questions = subset.questions[:limit]
    uses_bm25 = name.endswith("-bm25")
    facts = {"dataset": name, "answers": subset.answers, "files": subset.files, "note": subset.note, "copies": copies}
    facts |= {"top": per_question if uses_bm25 else None, "lucene": None}
    run = _begin(folder, {**facts, "questions": len(questions)})
    if run.complete:
        return run
    if uses_bm25:
        passages = _find_candidates(run, questions, LocalSearcher(subset.passages), per_question, progress)
    else:
        passages = subset.passages
    _check_relevant(questions, passages)
    return _finish(run, _list_copies(questions, copies), add_copies(passages, copies))


def pool_files(
    folder: Path,
    dataset: str,
    questions: Path,
    passages: Path | None,
    *,
    lucene: str | None = None,
    per_question: int = PER_QUERY,
    limit: int | None = None,
    progress: Progress = report_nothing,
) -> Run:
    """Create a run on published files: BM25 over a file of passages, or over a Lucene index through Pyserini."""
    if (passages is None) == (lucene is None):
        raise InputError("pass exactly one of --passages (a file) and --lucene (an index of Pyserini)")
    for path in (questions, passages):
        if path is not None and not path.is_file():
            raise InputError(f"there is no file {str(path)!r}")
    asked = datasets.read_questions(questions, dataset)[:limit]
    files = fingerprint([questions] if passages is None else [questions, passages])
    note = f"BM25's top {per_question} of each question, merged"
    facts = {"dataset": dataset, "answers": datasets.ANSWERS[dataset], "files": files, "note": note, "copies": 0}
    facts |= {"top": per_question, "lucene": lucene}
    run = _begin(folder, {**facts, "questions": len(asked)})
    if run.complete:
        return run
    searcher: Searcher
    if passages is not None:
        searcher = LocalSearcher(list(datasets.read_passages(passages)))
    else:
        from breadth_experiments.lucene import LuceneSearcher

        searcher = LuceneSearcher(str(lucene))
    return _finish(run, asked, _find_candidates(run, asked, searcher, per_question, progress))


def _begin(folder: Path, facts: dict[str, Any]) -> Run:
    """Create the run folder, or open the one that was made from the same files: a run is about one set of files."""
    run = Run(folder)
    if run.path("run.json").is_file():
        known = run.facts
        other = [name for name in facts if name not in ("note", "answers") and known.get(name) != facts[name]]
        if other and run.complete:
            raise InputError(f"{folder} holds a run with other {other[0]}; use another folder")
        if other:  # a pool that was never finished
            run.path("candidates.jsonl").unlink(missing_ok=True)
            run.path("run.json").unlink()
    folder.mkdir(parents=True, exist_ok=True)
    run.note(**facts)
    return run


def _find_candidates(
    run: Run, questions: Sequence[Question], searcher: Searcher, per_question: int, progress: Progress
) -> list[Passage]:
    """The passages that BM25 finds for each question, merged, each once, in the order in which they were found.

    candidates.jsonl keeps what was found for each question, so that an interrupted stage resumes with the next one.
    """
    path = run.path("candidates.jsonl")
    with Records(path, ("question", "count")) as found:
        for number, question in enumerate(questions):
            if (question.id, per_question) not in found:
                ids = searcher.top(question.question, per_question)
                found.append({"question": question.id, "count": per_question, "passages": ids})
            progress(number + 1, len(questions))
    lines = run.records(path.name, "pool")
    merged = dict.fromkeys(i for record in lines if record["count"] == per_question for i in record["passages"])
    return [searcher.passage(identity) for identity in merged]


def _check_relevant(questions: list[Question], passages: Sequence[Passage]) -> None:
    """Check that the passages which the questions list as relevant are in the pool."""
    ids = {passage.id for passage in passages}
    for question in questions:
        for identity in (i for group in question.relevant for i in group):
            if identity not in ids:
                raise InputError(f"question {question.id!r} names the passage {identity!r}, which is not in the pool")


def _list_copies(questions: list[Question], copies: int) -> list[Question]:
    """Add the copies of relevant passages to the lists: a copy holds the same answers."""
    if not copies:
        return questions
    return [
        replace(q, relevant=tuple(tuple(j for i in group for j in copy_ids(i, copies)) for group in q.relevant))
        for q in questions
    ]


def _finish(run: Run, questions: list[Question], passages: Iterable[Passage]) -> Run:
    """Write questions and passages."""
    if not questions:
        raise InputError("there are no questions; is the file empty?")
    run.write_questions(questions)
    size = run.write_passages(passages)
    if not size:
        raise InputError("BM25 found no passage for any question; do questions and passages share any words?")
    run.note(passages=size)
    return run
