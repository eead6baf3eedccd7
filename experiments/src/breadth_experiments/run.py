"""A run folder: the plain files that the stages of an experiment pass on to each other.

run.json         the data set, the files it came from (names, sizes, checksums), and facts that the stages note
questions.jsonl  {"id", "question", "answers": [[form, …], …]}: one list of forms for each wanted answer;
                 or "relevant": [[passage id, …], …], where it is known which passages hold each of them
passages.jsonl   {"id", "title", "text"}: the candidate pool, one passage a line
passages.npy     the vectors of the passages: row i belongs to line i; passages.vectors.json says what made them
questions.npy    the vectors of the questions, with questions.vectors.json
candidates.jsonl {"question", "passages": [id, …]}: what BM25 found for each question
retrieved.jsonl  {"method", "k", "theta", "question", "rows": […], "recall", "ilad", …}
latency.jsonl    {"method", "k", "theta", "question", "seconds"}
generated.jsonl  {"method", "k", "theta", "question", "model", "answer", …}
report/          figures and tables
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from breadth.errors import InputError
from breadth_experiments import records, shapes

LIST, PARAGRAPH = "list", "paragraph"
"""What is asked of a reader: a list of answers (QAMPARI), or a paragraph that holds them (ASQA)."""


@dataclass(frozen=True)
class Question:
    """A question and the answers it wants. Each answer is a tuple of the forms (aliases) that it may take.

    If it is known which passages hold an answer, `relevant` lists their ids, one tuple for each wanted answer, and the
    texts are not searched.
    """

    id: str
    question: str
    answers: tuple[tuple[str, ...], ...] = ()
    relevant: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class Passage:
    """A passage that may be retrieved."""

    id: str
    title: str
    text: str


@dataclass(frozen=True)
class Run:
    """The folder of a run."""

    folder: Path

    @classmethod
    def open(cls, folder: Path) -> Run:
        run = cls(Path(folder))
        if not run.path("run.json").is_file():
            raise InputError(f"{str(folder)!r} is not a run folder; create one with `breadth experiment pool`")
        return run

    def path(self, name: str) -> Path:
        return self.folder / name

    def require(self, name: str, stage: str) -> Path:
        """The path of a file that an earlier stage writes; an error that names the stage if it is missing."""
        path = self.path(name)
        if not path.is_file():
            raise InputError(f"{path} is missing; run `breadth experiment {stage}` first")
        return path

    def records(self, name: str, stage: str, growing: bool = False) -> Iterator[dict[str, Any]]:
        """The records of a file that an earlier stage writes, with the fields that they must have."""
        return records.read(self.require(name, stage), growing, shape=name)

    @property
    def complete(self) -> bool:
        """Whether the stage `pool` is done."""
        return "passages" in self.facts and all(self.path(f"{n}.jsonl").is_file() for n in ("passages", "questions"))

    @property
    def facts(self) -> dict[str, Any]:
        """The contents of run.json."""
        return read_json(self.path("run.json"))

    def note(self, **facts: Any) -> None:
        """Add facts to run.json."""
        write_json(self.path("run.json"), {**self.facts, **facts})

    def questions(self) -> list[Question]:
        return [
            Question(r["id"], r["question"], _tuples(r.get("answers", [])), _tuples(r.get("relevant", [])))
            for r in self.records("questions.jsonl", "pool")
        ]

    def passages(self) -> list[Passage]:
        return [Passage(r["id"], r["title"], r["text"]) for r in self.records("passages.jsonl", "pool")]

    def write_questions(self, questions: Iterable[Question]) -> int:
        return records.write(self.path("questions.jsonl"), (asdict(q) for q in questions))

    def write_passages(self, passages: Iterable[Passage]) -> int:
        return records.write(self.path("passages.jsonl"), (asdict(p) for p in passages))


def _tuples(lists: list[list[str]]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(entry) for entry in lists)


def read_json(path: Path) -> dict[str, Any]:
    """The contents of a JSON file; an empty dictionary if there is no such file."""
    if not path.is_file():
        return {}
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"{path} is not valid JSON ({error}); delete it, and the files that the same stage wrote"
        ) from None
    if not isinstance(data, dict):
        raise InputError(
            f"{path} must hold a JSON object, got {type(data).__name__}; delete it and run its stage again"
        )
    if path.name in shapes.SHAPES:
        shapes.check(data, path.name, str(path))
    return data


def write_json(path: Path, data: Any) -> None:
    """Write a JSON file: under another name first, so that a half-written one is never read."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".partial")
    partial.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    partial.replace(path)


def checksum(path: Path) -> str:
    """SHA-256 of a file."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def fingerprint(paths: Sequence[Path]) -> list[dict[str, Any]]:
    """Names, sizes and checksums of files."""
    return [{"name": path.name, "bytes": path.stat().st_size, "sha256": checksum(path)} for path in paths]
