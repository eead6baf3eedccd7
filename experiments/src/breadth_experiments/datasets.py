"""Read the public files of ASQA, QAMPARI and DPR's passages, and check that they are complete."""

from __future__ import annotations

import csv
import gzip
import io
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from breadth.errors import InputError
from breadth_experiments import records
from breadth_experiments.run import LIST, PARAGRAPH, Passage, Question

SIZES = {"asqa": 948, "qampari": 1000}
"""Questions of the development sets."""
ANSWERS = {"asqa": PARAGRAPH, "qampari": LIST, "own": PARAGRAPH}
DPR_PASSAGES = 21_015_324
"""Passages of psgs_w100.tsv."""


def read_questions(path: Path, dataset: str) -> list[Question]:
    """The development questions of a data set. A file with too few or too many questions is an error.

    `own`: any number of questions of your own, as JSON lines of {"id", "question", "answers": [[form, …], …]}.
    """
    if dataset not in READERS:
        raise InputError(f"dataset must be one of {', '.join(READERS)}, got {dataset!r}")
    questions = READERS[dataset](path)
    if len(questions) != SIZES.get(dataset, len(questions)):
        raise InputError(
            f"{path.name} holds {len(questions)} questions, the development set of {dataset} has {SIZES[dataset]}; "
            "is the file complete?"
        )
    return questions


def read_asqa(path: Path) -> list[Question]:
    """ASQA.json as published ({"dev": {id: {"ambiguous_question", "qa_pairs"}}}), or a list of {"id", "question",
    "qa_pairs"}; every pair's `short_answers` are the forms of one answer."""
    data = _read_json(path)
    if isinstance(data, dict):
        if "dev" not in data:
            raise InputError(f"{path.name} has no part 'dev'; it has {sorted(data)[:5]}; is it ASQA.json?")
        items = [{"id": key, **_check_object(value, path)} for key, value in data["dev"].items()]
    else:
        items = [_check_object(value, path) for value in data]
    return _check_unique([_parse_asqa(item, path) for item in items], path)


def _parse_asqa(item: dict[str, Any], path: Path) -> Question:
    name = f"{path.name}: question {item.get('id')!r}"
    text = item.get("ambiguous_question") or item.get("question")
    pairs = item.get("qa_pairs")
    if not isinstance(text, str) or not isinstance(pairs, list) or not pairs:
        raise InputError(f"{name} has no question text or no qa_pairs; is the file ASQA's?")
    answers = [_check_object(pair, path).get("short_answers") for pair in pairs]
    return _make_question(item.get("id"), text, answers, name)


def read_qampari(path: Path) -> list[Question]:
    """dev_data.jsonl as published ({"qid", "question_text", "answer_list": [{"answer_text", "aliases"}]}), or a JSON
    list of {"id", "question", "answers": [[form, …], …]}."""
    if path.suffix == ".jsonl":
        return _check_unique([_parse_qampari(item, path) for item in records.read(_check_file(path))], path)
    return _check_unique([_parse_own(_check_object(value, path), path) for value in _read_json(path)], path)


def read_own(path: Path) -> list[Question]:
    """JSON lines of {"id", "question", "answers": [[form, …], …]}."""
    return _check_unique([_parse_own(item, path) for item in records.read(_check_file(path))], path)


def _parse_own(item: dict[str, Any], path: Path) -> Question:
    name = f"{path.name}: question {item.get('id')!r}"
    return _make_question(item.get("id"), item.get("question"), item.get("answers"), name)


def _parse_qampari(item: dict[str, Any], path: Path) -> Question:
    name = f"{path.name}: question {item.get('qid')!r}"
    answers = item.get("answer_list")
    if not isinstance(answers, list):
        raise InputError(f"{name} has no answer_list; is the file QAMPARI's?")
    forms = []
    for answer in answers:
        entry = _check_object(answer, path)
        forms.append(list(dict.fromkeys([entry.get("answer_text"), *(entry.get("aliases") or [])])))
    return _make_question(item.get("qid"), item.get("question_text"), forms, name)


def _make_question(identity: Any, text: Any, answers: Any, name: str) -> Question:
    good = isinstance(answers, list) and answers and all(isinstance(forms, list) and forms for forms in answers)
    if not good or not all(isinstance(form, str) for forms in answers for form in forms):
        seen = "is this a file of questions?" if answers is None else f"got {str(answers)[:80]}"
        raise InputError(f"{name}: answers must hold, for each answer, the list of its forms; {seen}")
    if not isinstance(identity, str) or not isinstance(text, str) or not text.strip():
        raise InputError(f"{name} must have an id and a question, both of them strings")
    return Question(identity, text, tuple(tuple(forms) for forms in answers))


def read_passages(path: Path) -> Iterator[Passage]:
    """Passages of a .tsv or .tsv.gz (DPR's psgs_w100: id, text, title) or a .jsonl file (id or pid, title, text).

    A file named psgs_w100 must hold all of DPR's passages.
    """
    kind = path.name.removesuffix(".gz")
    if kind.endswith(".tsv"):
        count = 0
        for passage in _read_dpr(_check_file(path)):
            count += 1
            yield passage
        if kind == "psgs_w100.tsv" and count != DPR_PASSAGES:
            raise InputError(f"{path.name} holds {count:,} passages, DPR's file has {DPR_PASSAGES:,}; is it complete?")
    elif path.suffix == ".jsonl":
        for number, record in enumerate(records.read(_check_file(path)), start=1):
            identity = record.get("pid", record.get("id"))
            if not isinstance(identity, str) or not isinstance(record.get("text"), str):
                raise InputError(f"{path.name}:{number} has no id (or pid) or no text")
            yield Passage(identity, str(record.get("title") or ""), record["text"])
    else:
        raise InputError(f"{path.name}: passages are read from .tsv, .tsv.gz and .jsonl files")


def _read_dpr(path: Path) -> Iterator[Passage]:
    csv.field_size_limit(min(sys.maxsize, 1 << 30))
    with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as raw:
        text = io.TextIOWrapper(raw, encoding="utf-8", newline="")
        reader = csv.reader(text, delimiter="\t")
        try:
            head = next(reader, [])
            if head != ["id", "text", "title"]:
                raise InputError(f"{path.name} must begin with 'id, text, title', separated by tabs; got {head}")
            for row in reader:
                if len(row) != 3:
                    raise InputError(f"{path.name}:{reader.line_num} has {len(row)} cells, not 3; is it complete?")
                yield Passage(row[0], row[2], row[1])
        except (csv.Error, UnicodeDecodeError, EOFError, gzip.BadGzipFile) as error:
            raise InputError(f"{path.name}:{reader.line_num} cannot be read ({error}); is it complete?") from None


def _check_file(path: Path) -> Path:
    if not path.is_file():
        raise InputError(f"there is no file {str(path)!r}")
    return path


def _read_json(path: Path) -> Any:
    try:
        data = json.loads(_check_file(path).read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(f"{path.name} is not JSON ({error}); is the file complete?") from None
    if not isinstance(data, (list, dict)):
        raise InputError(f"{path.name} holds neither a list nor an object but {type(data).__name__}")
    return data


def _check_object(value: Any, path: Path) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InputError(f"{path.name}: an entry is not an object but {type(value).__name__}: {str(value)[:60]}")
    return value


def _check_unique(questions: list[Question], path: Path) -> list[Question]:
    seen: set[str] = set()
    for question in questions:
        if question.id in seen:
            raise InputError(f"{path.name}: two questions have the id {question.id!r}")
        seen.add(question.id)
    return questions


READERS: dict[str, Callable[[Path], list[Question]]] = {"asqa": read_asqa, "qampari": read_qampari, "own": read_own}
