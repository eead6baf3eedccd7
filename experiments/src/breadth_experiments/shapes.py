"""What the files of a run hold. A file that was damaged, or edited by hand, is refused when it is read.

Every record of a file has these fields. A field whose name ends with "?" may be missing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from breadth.errors import InputError


@dataclass(frozen=True)
class Kind:
    """What a field holds: in words, and as a test."""

    words: str
    fits: Callable[[Any], bool]


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 62


def _is_number(value: Any) -> bool:
    if isinstance(value, int) and not isinstance(value, bool):
        return abs(value) < 1 << 62
    return isinstance(value, float) and math.isfinite(value)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_list(value: Any, fits: Callable[[Any], bool]) -> bool:
    return isinstance(value, list) and all(fits(entry) for entry in value)


def _are_marks(value: Any) -> bool:
    """Whether this says what made the vectors of each part."""
    if not isinstance(value, dict) or set(value) != {"passages", "questions"}:
        return False
    return all(isinstance(mark, dict) and all(map(_is_text, mark.values())) for mark in value.values())


TEXT = Kind("a text", _is_text)
TEXT_OR_NONE = Kind("a text or null", lambda value: value is None or _is_text(value))
WHOLE = Kind("a whole number", _is_whole)
NUMBER = Kind("a number", _is_number)
NUMBER_OR_NONE = Kind("a number or null", lambda value: value is None or _is_number(value))
TEXTS = Kind("a list of texts", lambda value: _is_list(value, _is_text))
GROUPS = Kind("a list of lists of texts", lambda value: _is_list(value, lambda group: _is_list(group, _is_text)))
ROWS = Kind("a list of row numbers", lambda value: _is_list(value, _is_whole))
MARKS = Kind("what made the vectors of passages and questions", _are_marks)
LIST = Kind("a list", lambda value: isinstance(value, list))

Shape = Mapping[str, Kind]

_CELL: Shape = {"method": TEXT, "k": WHOLE, "theta": NUMBER_OR_NONE, "question": TEXT}
_ORIGIN: Shape = {"vectors?": MARKS, "engine?": TEXT, "device?": TEXT_OR_NONE}
_VECTORS: Shape = {"encoder?": TEXT, "dtype?": TEXT, "texts?": TEXT, "done?": WHOLE}

SHAPES: dict[str, Shape] = {
    "questions.jsonl": {"id": TEXT, "question": TEXT, "answers?": GROUPS, "relevant?": GROUPS},
    "passages.jsonl": {"id": TEXT, "title": TEXT, "text": TEXT},
    "candidates.jsonl": {"question": TEXT, "count": WHOLE, "passages": TEXTS},
    "retrieved.jsonl": {
        **_CELL,
        "rows": ROWS,
        "relevance?": NUMBER,
        "ilad?": NUMBER,
        "recall?": NUMBER,
        "bound?": NUMBER,
    },
    "latency.jsonl": {**_CELL, "seconds": NUMBER},
    "generated.jsonl": {
        **_CELL,
        "model": TEXT,
        "kind": TEXT,
        "answer": TEXT,
        "prompt?": TEXT,
        "recall": NUMBER,
        "precision?": NUMBER,
        "f1?": NUMBER,
    },
    "answers.jsonl": {"key": TEXT, "answer": TEXT},
    "run.json": {
        "dataset?": TEXT,
        "answers?": TEXT,
        "files?": LIST,
        "note?": TEXT,
        "copies?": WHOLE,
        "questions?": WHOLE,
        "passages?": WHOLE,
        "encoder?": TEXT,
        "dim?": WHOLE,
        "engine?": TEXT,
        "ceiling?": NUMBER,
    },
    "passages.vectors.json": _VECTORS,
    "questions.vectors.json": _VECTORS,
    "passages.partial.json": _VECTORS,
    "questions.partial.json": _VECTORS,
    "retrieved.json": _ORIGIN,
    "latency.json": _ORIGIN,
}
"""The fields of a record, or of the whole file, by the name of the file in the run folder."""


def check(record: Mapping[str, Any], name: str, place: str) -> None:
    """Refuse a record of the file `name` that does not have its fields. `place` is what the error names."""
    for field, kind in SHAPES[name].items():
        known = field.removesuffix("?")
        if known not in record:
            if field.endswith("?"):
                continue
            raise InputError(f"{place} has no field {known!r}; it has {sorted(map(str, record))}")
        if not kind.fits(record[known]):
            seen = repr(record[known])
            raise InputError(f"{place}: {known!r} must be {kind.words}, got {seen[:60]}{'…' if len(seen) > 60 else ''}")
