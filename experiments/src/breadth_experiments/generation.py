"""The generation stage: a reader answers every question from the passages that each method retrieved for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

from breadth.errors import InputError
from breadth_experiments.answers import Wanted, list_scores, paragraph_scores
from breadth_experiments.grid import Cell
from breadth_experiments.progress import Progress, report_nothing
from breadth_experiments.prompts import Messages, messages
from breadth_experiments.reader import Reader
from breadth_experiments.records import Records
from breadth_experiments.run import LIST, PARAGRAPH, Passage, Question, Run

KEY = ("model", "method", "k", "theta", "question")
"""The fields that identify a line of generated.jsonl."""

_SCORES: dict[str, Callable[[str, Wanted], dict[str, float]]] = {LIST: list_scores, PARAGRAPH: paragraph_scores}
_TURNS = 16
"""Prompts of a group for each request under way: few enough to write often, enough to keep the reader busy."""


def generate(
    run: Run,
    reader: Reader,
    *,
    kind: str | None = None,
    methods: Sequence[str] | None = None,
    ks: Sequence[int] | None = None,
    thetas: Sequence[float] | None = None,
    questions: int | None = None,
    progress: Progress = report_nothing,
) -> int:
    """Let a reader answer from the chosen sets, add its answers and scores to generated.jsonl, return how many are new.

    `kind` is "list" or "paragraph" (default: what run.json says under "answers"). `methods`, `ks` and `thetas` choose
    among the records of retrieved.jsonl (default: all; a method without θ fits every θ). `questions` limits the run to
    the first ones. The reader works question by question, so that a stopped run has all methods for the same questions.
    """
    source = "kind"
    if kind is None:
        kind, source = run.facts.get("answers"), 'what run.json says under "answers"'
    if kind not in _SCORES:
        raise InputError(f"{source} must be one of {', '.join(_SCORES)}, got {kind!r}")
    asked = _first_questions(run.questions(), questions)
    chosen = _choose_records(run, asked, methods, ks, thetas)
    passages = run.passages()
    done, new = 0, 0
    with Records(run.path("generated.jsonl"), KEY) as out:
        # Read after opening, which cuts off a torn line.
        written = {_key(one): one.get("prompt") for one in run.records("generated.jsonl", "generate")}
        pending = _pending(chosen, asked, passages, kind, reader, written)
        while group := list(islice(pending, _TURNS * reader.concurrency)):
            missing = [(record, prompt) for record, prompt in group if prompt]
            before = done + len(group) - len(missing)
            answers = reader.ask([prompt for _, prompt in missing], _offset(progress, before, len(chosen)))
            for (record, prompt), answer in zip(missing, answers, strict=True):
                out.append(_make_record(record, prompt, answer, kind, reader, asked[record["question"]]))
            out.flush()
            done, new = done + len(group), new + len(missing)
    return new


def _offset(progress: Progress, before: int, total: int) -> Progress:
    """Report the progress of a group as progress of the whole."""
    return lambda done, _: progress(before + done, total)


def _make_record(
    record: dict[str, Any], prompt: Messages, answer: str, kind: str, reader: Reader, question: Question
) -> dict[str, Any]:
    """The line of generated.jsonl for an answer."""
    known = {name: record[name] for name in ("method", "k", "theta", "question")}
    mark = {"model": reader.model, "kind": kind, "prompt": _prompt_mark(reader, prompt)}
    return {**known, **mark, "answer": answer, **_SCORES[kind](answer, question.answers)}


def _prompt_mark(reader: Reader, prompt: Messages) -> str:
    """A mark by which a changed prompt is noticed."""
    return reader.key(prompt)[:16]


def _pending(
    chosen: Sequence[dict[str, Any]],
    asked: dict[str, Question],
    passages: Sequence[Passage],
    kind: str,
    reader: Reader,
    written: dict[tuple[Any, ...], Any],
) -> Iterator[tuple[dict[str, Any], Messages]]:
    """Each retrieved record with its prompt; the prompt is empty if generated.jsonl has the answer already."""
    for record in chosen:
        question = asked[record["question"]]
        prompt = messages(kind, question.question, _passages_of(record, passages))
        key = _key({**record, "model": reader.model})
        if key in written:
            if written[key] != _prompt_mark(reader, prompt):
                raise InputError(
                    f"generated.jsonl answers {key} from another prompt (other passages, wording, kind or max_tokens); "
                    "move the file away to generate again"
                )
            prompt = []
        yield record, prompt


def _passages_of(record: dict[str, Any], passages: Sequence[Passage]) -> list[Passage]:
    """The passages of a record, in its order."""
    rows = record["rows"]
    if any(not 0 <= row < len(passages) for row in rows):
        raise InputError(
            f"retrieved.jsonl names rows up to {max(rows)} but passages.jsonl has {len(passages)} lines; "
            "do both files belong to the same run?"
        )
    return [passages[row] for row in rows]


def _first_questions(questions: Sequence[Question], count: int | None) -> dict[str, Question]:
    """The first questions by their ids."""
    if count is not None and count < 1:
        raise InputError(f"questions must be at least 1, got {count}")
    return {one.id: one for one in questions[:count]}


def _choose_records(
    run: Run,
    asked: dict[str, Question],
    methods: Sequence[str] | None,
    ks: Sequence[int] | None,
    thetas: Sequence[float] | None,
) -> list[dict[str, Any]]:
    """The retrieved records that fit, in the order of the questions."""
    chosen, available = [], set()
    for record in run.records("retrieved.jsonl", "retrieve", growing=True):
        method, k, theta = record["method"], record["k"], record["theta"]
        available.add((method, k, theta))
        fits = (methods is None or method in methods) and (ks is None or k in ks)
        if fits and (thetas is None or theta is None or theta in thetas) and record["question"] in asked:
            chosen.append(record)
    if not chosen:
        raise InputError(
            f"no retrieved record fits methods={_describe_choice(methods)}, ks={_describe_choice(ks)}, "
            f"thetas={_describe_choice(thetas)} for the first {len(asked)} questions; {_describe_settings(available)}"
        )
    wanted: dict[str, Sequence[Any]] = {"method": methods or (), "k": ks or (), "theta": thetas or ()}
    for column, values in wanted.items():
        known = {record[column] for record in chosen}
        for value in values:
            if value not in known:
                raise InputError(f"no retrieved record fits {column} {value!r}; {_describe_settings(available)}")
    place = {name: number for number, name in enumerate(asked)}
    return sorted(chosen, key=lambda record: place[record["question"]])


def _describe_settings(settings: set[Cell]) -> str:
    """The methods, k and θ that retrieved.jsonl has, in words."""
    if not settings:
        return "retrieved.jsonl is empty: run `breadth experiment retrieve` first"
    groups: dict[str, tuple[set[int], set[float]]] = {}
    for method, k, theta in settings:
        ks, thetas = groups.setdefault(method, (set(), set()))
        ks.add(k)
        if theta is not None:
            thetas.add(theta)
    named = [
        f"{method} with k in {sorted(ks)}" + (f" and theta in {sorted(thetas)}" if thetas else "")
        for method, (ks, thetas) in sorted(groups.items())
    ]
    return f"retrieved.jsonl has {'; '.join(named)}"


def _describe_choice(values: Sequence[Any] | None) -> str:
    return "any" if values is None else str(list(values))


def _key(record: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(record.get(name) for name in KEY)
