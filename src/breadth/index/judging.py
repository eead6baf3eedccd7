"""Questions whose answers are known: which share of them a set of documents finds."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from breadth.errors import InputError
from breadth.index.documents import Document
from breadth.index.index import Index
from breadth.metrics.matching import SearchableText, answer_forms

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Question:
    """A query and what a good set for it finds. Build one with `from_answers`, `from_relevant` or `from_aspects`.

    query     the text to search for
    wanted    one entry for each thing to find: the ids of the documents that give it, or the normalised forms of an
              answer, of which a document's text must hold one
    by_id     whether `wanted` holds ids
    """

    query: str
    wanted: tuple[frozenset[str], ...]
    by_id: bool

    def __post_init__(self) -> None:
        if not isinstance(self.query, str) or not self.query.strip():
            raise InputError(f"query must be a text that is not empty, got {self.query!r}")

    @classmethod
    def from_answers(cls, query: str, answers: Sequence[str | Sequence[str]]) -> Question:
        """Want every one of these answers in the text of a document. An answer is a text or the list of its aliases."""
        if not isinstance(answers, list | tuple) or not all(isinstance(one, str | list | tuple) for one in answers):
            raise InputError(f"answers must be a list of texts or of lists of aliases, got {answers!r}")
        forms = answer_forms([[answer] if isinstance(answer, str) else answer for answer in answers])
        return cls(query, tuple(forms), by_id=False)

    @classmethod
    def from_relevant(cls, query: str, relevant: Sequence[str]) -> Question:
        """Want every one of the documents with these ids. If one of several copies is enough, use `from_aspects`."""
        ids = _check_ids(relevant, "relevant")
        return cls(query, tuple(frozenset({identity}) for identity in dict.fromkeys(ids)), by_id=True)

    @classmethod
    def from_aspects(cls, query: str, aspects: Mapping[str, Sequence[str]]) -> Question:
        """Want, for every aspect, one of the documents with its ids."""
        if not isinstance(aspects, Mapping) or not aspects:
            raise InputError(f"aspects must map names to lists of document ids, got {aspects!r}")
        wanted = (frozenset(_check_ids(ids, f"aspects[{name!r}]")) for name, ids in aspects.items())
        return cls(query, tuple(wanted), by_id=True)

    def match(self, document: Document) -> frozenset[int]:
        """The places in `wanted` of the things that this document gives."""
        if self.by_id:
            return frozenset(place for place, ids in enumerate(self.wanted) if document.id in ids)
        text = SearchableText.of(document.text)
        return frozenset(place for place, forms in enumerate(self.wanted) if text.holds(forms))


def _check_ids(ids: Any, name: str) -> list[str]:
    if not isinstance(ids, list | tuple) or not ids or not all(isinstance(identity, str) for identity in ids):
        raise InputError(f"{name} must be a list of document ids (texts) that is not empty, got {ids!r}")
    return list(ids)


def recall(question: Question, sets: Sequence[Sequence[Document]]) -> list[float]:
    """The share of what the question wants that each of several sets finds. Every document is read once."""
    matches = {document.id: question.match(document) for document in {d.id: d for s in sets for d in s}.values()}
    found = (frozenset[int]().union(*(matches[document.id] for document in chosen)) for chosen in sets)
    return [len(places) / len(question.wanted) for places in found]


_READERS: dict[str, Callable[[str, Any], Question]] = {
    "answers": Question.from_answers,
    "relevant": Question.from_relevant,
    "aspects": Question.from_aspects,
}
"""What a line of a file of questions may hold beside the query."""
FIELDS = ", ".join(_READERS)


def read_questions(path: Path) -> list[Question]:
    """Read questions from JSON lines, each with "query" and one of "answers", "relevant" and "aspects"."""
    if not path.is_file():
        raise InputError(f"there is no file {str(path)!r}")
    lines = path.read_bytes().removeprefix(_BYTE_ORDER_MARK).splitlines()
    questions = []
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                questions.append(_read_question(line))
            except InputError as error:
                raise InputError(f"{path.name}, line {number}: {error}") from None
    if not questions:
        raise InputError(f"{path.name} holds no question; write one JSON object on each line")
    return questions


def _read_question(line: bytes) -> Question:
    try:
        record = json.loads(line.decode("utf-8"))
    except UnicodeDecodeError:
        raise InputError("not UTF-8") from None
    except ValueError as error:
        raise InputError(f"broken JSON ({error})") from None
    if not isinstance(record, dict):
        raise InputError(f"must be a JSON object, got {type(record).__name__}")
    if "query" not in record:
        raise InputError(f'lacks the field "query"; it has {", ".join(record) or "none"}')
    given = [name for name in _READERS if name in record]
    if len(given) != 1:
        seen = " and ".join(given) or "none of them"
        raise InputError(f"needs exactly one of the fields {FIELDS}, got {seen}")
    return _READERS[given[0]](record["query"], record[given[0]])


def check_known(questions: Iterable[Question], index: Index) -> None:
    """Refuse questions that name a document which the index does not hold."""
    known: set[str] = set()
    for question in questions:
        if question.by_id:
            for identity in sorted(frozenset[str]().union(*question.wanted) - known):
                if identity not in index:
                    raise InputError(
                        f"answers: the question {question.query!r} names the document {identity!r}, "
                        "which the index does not hold"
                    )
                known.add(identity)
