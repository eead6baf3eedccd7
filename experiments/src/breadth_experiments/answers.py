"""Compare what a reader wrote with the wanted answers.

`wanted` has one entry for each wanted answer, itself the list of the forms (aliases) that it may take. Forms are
normalised and matched as in `breadth.metrics`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from breadth.metrics import SearchableText, answer_forms, normalise

Wanted = Sequence[Sequence[str]]

_THOUGHT = re.compile(r"<think>.*?(</think>|\Z)", re.DOTALL)
_PREFIX = re.compile(
    r"^\W*(?:the\s+)?(?:final\s+)?answers?(?:\s+to\s+(?:the|this)\s+question)?(?:\s+(?:list|is|are))?\W*:[\s*]*",
    re.IGNORECASE,
)
_BULLET = re.compile(r"^\s*(?:[-*+•‣◦·–—]\s+|[•‣◦]|\(?(\d{1,3})[.)](?:\s+|$)|\[\d{1,3}\]:?\s*)")
_INLINE_NUMBER = re.compile(r"(?:^|\s)\(?\d{1,3}[.)]\s+")
_CITATION = re.compile(r"\s*(?:\[\d+(?:\s*,\s*\d+)*\]|\((?:passages?\s*)\[?\d+[^)]*\))[\s.,;]*$", re.IGNORECASE)
_WRAPPING = " \t*_`\"'“”‘’«»"
_MONTH = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
_DATE = re.compile(rf"\b(?:{_MONTH})[a-z]*\.? \d{{1,2}}(,)\s?\d{{4}}\b", re.IGNORECASE)
_PAIRS = {"(": ")", "[": "]", '"': '"', "“": "”", "«": "»"}
_CONJUNCTION = re.compile(r"^(?:and|or|&)\s+", re.IGNORECASE)

_WHOLE_REFUSAL = re.compile(
    r"none(?: of above| found)?|nothing(?: found)?|unknown|unclear|not applicable|no answers?(?: found)?"
    r"|(?:i )?(?:dont|do not) know|(?:im|i am) not sure|not (?:mentioned|specified|stated|given|provided|found)"
    r"|(?:no|not enough|insufficient) information"
)
_REFUSAL_WITHIN = re.compile(
    r"\b(?:passages?|texts?|context|documents?|information) (?:\w+ ){0,2}"
    r"(?:do not|does not|did not|is not|are not|dont|doesnt|didnt|isnt|arent)\b"
    r"|\bthere (?:is|are) no (?:answers?|information|mention|passages?)\b"
    r"|\b(?:not|nothing|none) (?:\w+ ){0,2}in (?:\w+ )?(?:passages?|texts?|context|documents?)\b"
    r"|\b(?:cannot|cant|can not|could not|couldnt|unable to) (?:be )?(?:answer|determine|find|provide)"
)
"""Both are matched against normalised entries: the whole entry refuses, or a part of a longer sentence does."""


def list_entries(answer: str) -> list[str]:
    """The entries of a list answer, in order, without refusals, empty entries and repetitions.

    An answer of several lines has one entry on each line. Bullets, numbers, citations such as [2] and quotes are
    removed, and a first line that ends with a colon is an introduction. An answer of one line is split at its numbers
    ("1. … 2. …"), or else at semicolons, or else at commas outside quotes, brackets and dates ("July 8, 1997"). So a
    comma inside an entry survives on a line of its own, in a list split at semicolons, and in quotes. In a bare list
    with commas it does not: nobody can tell it from a separator.
    """
    entries: dict[str, str] = {}
    parts = _split_answer(_without_thoughts(answer))
    for part in parts:
        entry = _clean(part, len(parts))
        form = normalise(entry)
        if form and not _is_refusal(entry, form):
            entries.setdefault(form, entry)
    return list(entries.values())


def list_scores(answer: str, wanted: Wanted) -> dict[str, float]:
    """Precision, recall and F1 of a list answer, as QAMPARI counts them for one question.

    An entry of the list is right if its normalised form is a normalised form of a wanted answer.

    - precision = right entries / entries, 0 without entries
    - recall = wanted answers that some entry names / wanted answers; two aliases of one answer count once
    - f1 = 2 · precision · recall / (precision + recall), 0 if both are 0
    """
    forms = answer_forms(wanted, "wanted")
    entries = {normalise(entry) for entry in list_entries(answer)}
    right = len(entries & frozenset().union(*forms))
    named = sum(not entries.isdisjoint(one) for one in forms)
    precision, recall = right / len(entries) if entries else 0.0, named / len(forms)
    f1 = 2 * precision * recall / (precision + recall) if right else 0.0
    return {"precision": precision, "recall": recall, "f1": f1}


def paragraph_scores(answer: str, wanted: Wanted) -> dict[str, float]:
    """Recall of a paragraph: the share of the wanted answers that it holds, as in `breadth.metrics.answer_recall`."""
    forms = answer_forms(wanted, "wanted")
    text = SearchableText.of(_without_thoughts(answer))
    return {"recall": sum(text.holds(one) for one in forms) / len(forms)}


def _without_thoughts(answer: str) -> str:
    """The answer without the thoughts that a reasoning model wrote before it; nothing if they never ended."""
    return _THOUGHT.sub("", answer).strip()


def _split_answer(answer: str) -> list[str]:
    """Raw entries: the lines of an answer, or the pieces of its only line."""
    lines = [line for line in (_PREFIX.sub("", line).strip(" \t`") for line in answer.splitlines()) if line]
    if len(lines) > 1:
        return lines[1:] if lines[0].rstrip("* ").endswith(":") else lines
    if not lines:
        return []
    line = lines[0]
    if len(_INLINE_NUMBER.findall(line)) > 1 and _INLINE_NUMBER.match(line):
        return _INLINE_NUMBER.split(line)
    if _BULLET.match(line):
        return lines
    return _split_line(line, ";" if ";" in line else ",")


def _split_line(line: str, mark: str) -> list[str]:
    """Split a line at a mark outside quotes, brackets and dates, and remove an "and" before a piece."""
    dates = {found.start(1) for found in _DATE.finditer(line)}
    pieces, piece, closing = [], "", ""
    for at, char in enumerate(line):
        if closing:
            closing = "" if char == closing else closing
        elif char in _PAIRS and _PAIRS[char] in line[at + 1 :]:
            closing = _PAIRS[char]
        if char == mark and not closing and at not in dates:
            pieces.append(piece)
            piece = ""
        else:
            piece += char
    pieces.append(piece)
    return [_CONJUNCTION.sub("", one.strip()) for one in pieces] if len(pieces) > 1 else [line]


def _is_refusal(entry: str, form: str) -> bool:
    """Whether an entry says that there is no answer. ("n/a" is looked for as written: normalised, it is "n".)"""
    return bool(entry.casefold() == "n/a" or _WHOLE_REFUSAL.fullmatch(form) or _REFUSAL_WITHIN.search(form))


def _clean(entry: str, count: int) -> str:
    """Remove bullet, citation, quotes and emphasis from one of `count` entries."""
    bullet = _BULLET.match(entry)
    # A list of `count` entries has no larger number: in "(500) Days of Summer" the number belongs to the title.
    if bullet and int(bullet[1] or 0) <= count:
        entry = entry[bullet.end() :]
    while (shorter := _CITATION.sub("", entry)) != entry:
        entry = shorter
    return entry.strip(_WRAPPING).removesuffix(".").strip(_WRAPPING)
