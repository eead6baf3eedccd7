"""What a reader wrote, taken apart and compared with the wanted answers.

`wanted` holds one entry for each wanted answer, itself the list of the forms (aliases) it may take. An answer all of
whose forms are empty after normalisation counts as wanted and is never hit.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from breadth.errors import InputError

Wanted = Sequence[Sequence[str]]

_THOUGHT = re.compile(r"<think>.*?(</think>|\Z)", re.DOTALL)
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_DECIMAL = re.compile(r"(?<=\d)\.(?=\d)")
_SEPARATING = frozenset(",;:/\\|&+_·…")
_GENITIVE = re.compile(r"(?<=\w)['’]s\b", re.IGNORECASE)
_ARTICLES = frozenset({"a", "an", "the"})

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
_LAST = re.compile(r"^(?:and|or|&)\s+", re.IGNORECASE)

_REFUSALS = re.compile(
    r"none(?: of above| found)?|nothing(?: found)?|unknown|unclear|not applicable|no answers?(?: found)?"
    r"|(?:i )?(?:dont|do not) know|(?:im|i am) not sure|not (?:mentioned|specified|stated|given|provided|found)"
    r"|(?:no|not enough|insufficient) information"
)
_REFUSAL = re.compile(
    r"\b(?:passages?|texts?|context|documents?|information) (?:\w+ ){0,2}"
    r"(?:do not|does not|did not|is not|are not|dont|doesnt|didnt|isnt|arent)\b"
    r"|\bthere (?:is|are) no (?:answers?|information|mention|passages?)\b"
    r"|\b(?:not|nothing|none) (?:\w+ ){0,2}in (?:\w+ )?(?:passages?|texts?|context|documents?)\b"
    r"|\b(?:cannot|cant|can not|could not|couldnt|unable to) (?:be )?(?:answer|determine|find|provide)"
)
"""Of normalised entries: the whole of it is a refusal, or it is a sentence with a refusal in it."""


def normalised(text: str) -> str:
    """The form in which answers are compared.

    In this order: Unicode NFKC, lower case (casefold); dashes and marks that part words (, ; : / and the like) become
    spaces, while a comma that groups thousands goes ("11,437" → "11437") and a point between digits stays ("69.5");
    all other punctuation and symbols go ("E.T." → "et", "Women's" → "womens"); the words a, an, the go, unless nothing
    would be left; runs of white space become one space. Accents stay: "Jōban" is not "Joban".
    """
    text = _THOUSANDS.sub("", unicodedata.normalize("NFKC", text).casefold())
    kept = {at.start() for at in _DECIMAL.finditer(text)}
    plain = "".join(char if place in kept else _plain(char) for place, char in enumerate(text))
    words = plain.split()
    return " ".join([word for word in words if word not in _ARTICLES] or words)


def _plain(char: str) -> str:
    """A letter, digit or accent as it is, a separating mark as a space, any other mark as nothing."""
    category = unicodedata.category(char)
    if char in _SEPARATING or category[0] in "ZC" or category == "Pd":
        return " "
    return "" if category[0] in "PS" else char


def listed(answer: str) -> list[str]:
    """The entries of a list answer, in order, each normalised form once; refusals and empty entries are left out.

    Several lines: one entry a line, without bullets, numbers, citations such as [2], quotes; a first line that ends
    with a colon is an introduction. One line: parted at its numbers ("1. … 2. …"), else at semicolons, else at commas
    outside quotes, brackets and dates ("July 8, 1997"). So a comma inside an answer survives on a line of its own, in
    a list parted by semicolons, and in quotes, but not in a bare comma list, where nobody can tell.
    """
    entries: dict[str, str] = {}
    parts = _parts(_final(answer))
    for part in parts:
        clean = _clean(part, len(parts))
        form = normalised(clean)
        if form and not _refused(clean, form):
            entries.setdefault(form, clean)
    return list(entries.values())


def list_scores(answer: str, wanted: Wanted) -> dict[str, float]:
    """Precision, recall and F1 of a list answer, as QAMPARI counts them for one question.

    A prediction p (an entry of `listed`) is right if normalised(p) is the normalised form of a wanted answer.
    precision = right predictions / predictions, 0 without predictions;
    recall = wanted answers that some prediction hits / wanted answers, so two aliases of one answer count once;
    f1 = 2 · precision · recall / (precision + recall), 0 if both are 0.
    """
    forms = _forms(wanted)
    predictions = {normalised(entry) for entry in listed(answer)}
    right = len(predictions & set().union(*forms))
    hit = sum(not predictions.isdisjoint(one) for one in forms)
    precision, recall = right / len(predictions) if predictions else 0.0, hit / len(forms)
    f1 = 2 * precision * recall / (precision + recall) if right else 0.0
    return {"precision": precision, "recall": recall, "f1": f1}


def paragraph_scores(answer: str, wanted: Wanted) -> dict[str, float]:
    """Recall of a paragraph: the share of the wanted answers of which a form occurs in it.

    Both sides are normalised, and a form occurs only as whole words: "art" is not in "party". A genitive counts for
    the name it is of: "Paul Simon's" holds "Paul Simon".
    """
    forms = _forms(wanted)
    text = searchable(_final(answer))
    return {"recall": sum(any(holds(text, form) for form in one) for one in forms) / len(forms)}


def searchable(text: str) -> str:
    """A text as `holds` looks into it: normalised, and once more without its genitives."""
    return f" {normalised(text)} \n {normalised(_GENITIVE.sub('', text))} "  # no form spans a new line


def holds(text: str, form: str) -> bool:
    """Whether a `searchable` text has a normalised form, as whole words."""
    return bool(form) and f" {form} " in text


def _forms(wanted: Wanted) -> list[set[str]]:
    if isinstance(wanted, str) or not wanted or any(isinstance(one, str) for one in wanted):
        raise InputError(f"wanted must be a non-empty list of lists of strings, got {wanted!r}")
    return [{normalised(form) for form in one} - {""} for one in wanted]


def _final(answer: str) -> str:
    """The answer without what a reasoning model thought before it (all of it, if it never came to an end)."""
    return _THOUGHT.sub("", answer).strip()


def _parts(answer: str) -> list[str]:
    """Raw entries: the lines, or the pieces of a single line."""
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
    return _split(line, ";") if ";" in line else _split(line, ",")


def _split(line: str, mark: str) -> list[str]:
    """A line parted at a mark outside quotes, brackets and dates; an "and" before the last piece goes."""
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
    return [_LAST.sub("", one.strip()) for one in pieces] if len(pieces) > 1 else [line]


def _refused(entry: str, form: str) -> bool:
    """Whether an entry says that there is no answer; of "n/a" the normalised form has lost the article."""
    return bool(entry.casefold() == "n/a" or _REFUSALS.fullmatch(form) or _REFUSAL.search(form))


def _clean(entry: str, count: int) -> str:
    """One of `count` entries without bullet, citation, quotes and emphasis."""
    bullet = _BULLET.match(entry)
    # A list of `count` entries is not numbered beyond them: "(500) Days of Summer" begins with its title.
    if bullet and int(bullet[1] or 0) <= count:
        entry = entry[bullet.end() :]
    while (shorter := _CITATION.sub("", entry)) != entry:
        entry = shorter
    return entry.strip(_WRAPPING).removesuffix(".").strip(_WRAPPING)
