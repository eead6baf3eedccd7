"""When a text holds an answer: both are normalised, and one of the answer's forms must occur in it as whole words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from breadth.errors import InputError

Answers = Sequence[Sequence[str]]
"""One entry for each answer, itself the list of the forms (aliases) that it may take."""

_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_POINT_OUTSIDE_NUMBERS = re.compile(r"(?<!\d)\.|\.(?!\d)")
_GENITIVE = re.compile(r"(?<=\w)['’]s\b", re.IGNORECASE)
_SEPARATORS = frozenset(",;:/\\|&+_·…")
_ARTICLES = frozenset({"a", "an", "the"})


class _Replacements(dict[int, str]):
    """What `str.translate` puts in place of each character; a character is looked up once."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        category = unicodedata.category(char)
        if char == ".":  # the points that are left at this stage belong to numbers
            replacement = char
        elif char in _SEPARATORS or category[0] in "ZC" or category == "Pd":
            replacement = " "
        else:
            replacement = "" if category[0] in "PS" else char
        self[code] = replacement
        return replacement


_REPLACEMENTS = _Replacements()


def normalise(text: str) -> str:
    """The form in which answers are compared.

    The steps, in this order:

    1. Unicode NFKC and lower case (casefold). Accents stay: "Jōban" is not "Joban".
    2. A comma that groups thousands disappears ("11,437" → "11437"); a point between digits stays ("69.5").
    3. Dashes and marks that separate words (, ; : / and the like) become spaces. All other punctuation and symbols
       disappear ("E.T." → "et", "Women's" → "womens").
    4. The words a, an and the disappear, unless nothing would be left.
    5. Runs of white space become one space.
    """
    text = _THOUSANDS.sub("", unicodedata.normalize("NFKC", text).casefold())
    words = _POINT_OUTSIDE_NUMBERS.sub("", text).translate(_REPLACEMENTS).split()
    return " ".join([word for word in words if word not in _ARTICLES] or words)


def answer_forms(answers: Answers, name: str = "answers") -> list[frozenset[str]]:
    """The normalised forms of each answer. `name` is what error messages call the argument.

    A form that is empty after normalisation is dropped. An answer without any form left stays in the list: it counts
    as wanted, and no text holds it.
    """
    if isinstance(answers, str) or not answers:
        raise InputError(f"{name} must be a non-empty list of lists of strings, got {answers!r}")
    return [_forms(forms, name) for forms in answers]


def _forms(forms: Sequence[str], name: str) -> frozenset[str]:
    if isinstance(forms, str) or not forms or not all(isinstance(form, str) for form in forms):
        raise InputError(
            f"{name} must be a non-empty list of lists of strings: every answer is the list of its forms, got {forms!r}"
        )
    return frozenset(normalise(form) for form in forms) - {""}


@dataclass(frozen=True)
class SearchableText:
    """A text prepared for looking answers up in it. Build it once if you look for many answers.

    `words` is the normalised text, and once more without its genitives, so that "Paul Simon's" holds "Paul Simon".
    """

    words: str

    @classmethod
    def of(cls, text: str) -> SearchableText:
        """Prepare a text."""
        return cls(f" {normalise(text)} \n {normalise(_GENITIVE.sub('', text))} ")  # no form spans the new line

    def holds(self, forms: Iterable[str]) -> bool:
        """Whether at least one of these normalised forms occurs as whole words: "art" does not occur in "party"."""
        return any(form and f" {form} " in self.words for form in forms)
