"""A text as tokens: what each one says in a normal form, of what kind it is, and where it stands."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise

from breadth.text.words import (
    AMBIGUOUS_MONTHS,
    DAYS,
    FACTS,
    FUNCTION_WORDS,
    MODALITY,
    MONTHS,
    NUMBERS,
    POLARITY,
    QUANTITIES,
    SCALES,
    UNITS,
)

FUNCTION, CONTENT, NAME, FACT = range(4)
"""The kinds of tokens: function words; other words; names; numbers, identifiers, operators and words such as "not"."""

MOST_TOKENS = 4000
"""Texts with more tokens are not aligned: they are the same, one contains the other, or they differ."""

NEAR = 0.6
"""From this share of common words on two texts are worded nearly the same: what was changed in one of them is a
difference, unless one is a stretch of the other."""

_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
"""Scripts that are written without spaces: every character is a token."""
_TAGS = (
    "p|br|b|i|u|em|strong|div|span|ul|ol|li|dl|dt|dd|table|thead|tbody|tr|td|th|h[1-6]|code|pre|kbd|sup|sub|hr|"
    "blockquote|section|article|main|nav|header|footer|small|center|img|a"
)
_RAISED = str.maketrans({mark: f"^{number}" for number, mark in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")})
_TIMES = frozenset(SCALES.values())
_MONTHS = "|".join(sorted(MONTHS, key=len, reverse=True))
_TOKEN = re.compile(
    rf"""
    \s{{0,3}}(?:
    (?P<plain>  [A-Za-z]{{1,40}}(?=[\s,;!?)]|[:.](?:\s|\Z)|\Z)(?!\.?\s+\d) )
  | (?P<skip>   </?(?:{_TAGS})(?:\s+(?:class|style|id|align|rel|target|title|alt|width|height|lang|dir)\s*=\s*
                  (?:"[^"<>]{{0,200}}"|'[^'<>]{{0,200}}'))*\s*/?> | <![^<>]{{0,200}}>
                | &(?:[a-z]+|\#\d+);(?<!&amp;) | <?-{{1,20}}> | ={{1,20}}> | [=*_~\#]{{4,}}
                | (?<![^\s.,;:!?)”"'\]])\[\s*(?:\d{{1,3}}|edit|update|citation\ needed|note\ \d+)\s*\] )
  | (?P<url>    (?:https?://|www\.)[^\s<>"'`)\]}}]+ )
  | (?P<email>  (?<![\w.+-])[\w.+-]{{1,64}}@\w[\w-]{{0,62}}(?:\.[\w-]{{1,62}}){{1,9}} )
  | (?P<date>   \b(?:\d{{4}}-\d\d-\d\d | \d{{1,2}}(?P<by>[/.])\d{{1,2}}(?P=by)\d{{4}}
                | \d{{1,2}}(?:st|nd|rd|th|\.)?\s+(?:de\s+)?(?:{_MONTHS})\.?,?\s+(?:de\s+)?\d{{4}}
                | (?=[^\W\d_]{{3,10}}\.?\s+\d)(?:{_MONTHS})\.?\s+\d{{1,2}}(?:st|nd|rd|th)?,?\s+\d{{4}})\b )
  | (?P<path>   (?<![\w/.:<])(?:~|\.{{1,2}})?/(?=[\w.])[\w.~/+-]* )
  | (?P<flag>   (?<![\w-])--?[^\W\d_][\w-]* )
  | (?P<number> (?:(?<![\w)\]])[-−+](?=[\d.]))? (?:\d{{1,3}}(?:[ ]\d{{3}})+(?![\d.,])
                  | \d+(?:[.,'\u00a0\u2009\u202f]\d+)* | \.\d+)
                (?:(?=[%°]|\b)|(?=(?:km|cm|mm|m|kg|g|mg|ml|l|ms|s|h|min|kb|mb|gb|tb|ft|lb|mi|in)\b)) )
  | (?P<dotted> [^\W\d_]\w*(?:\.\w+)+ | \w+(?:\.\w+){{0,9}}\.[^\W\d_]\w* )
  | (?P<wide>   [{_UNSPACED}] )
  | (?P<word>   (?:(?![{_UNSPACED}])\w)+ (?:['’](?!s\b)[^\W\d_]+)? )
  | (?P<sign>   [<>=!~]=+ | && | \|\| | &amp; | ~~ | [<>≤≥±^%‰$€£¥&] | °[CF]? | (?<=\s)[=~](?=\s?[\d"'])
                | (?<!\w)!(?=[\w(])
                | (?<=\s)\+(?=\s) | (?<=[\w)\]])[*+](?=[\w(]) | (?<=\w)(?:\+{{1,2}}|--|\#)(?![\w-])
                | (?-i:(?<=[A-Z0-9])[-−])(?![\w-]) | (?<=\d)[-–](?=\d) | (?<=\d\s)–(?=\s\d)
                | (?<=[\w)\]]\s)[-*/](?=\s\d) | (?<=\b\w\s)[-*/](?=\s\w\b)
                | (?<=[\s(,])\*{{1,2}}(?=\w+\s*[,)]) | \*(?=\.\w) | \?(?=[\s"”')]|\Z) | [✅✔☑✓❌✖✗✘] )
    )
    """,
    re.VERBOSE | re.IGNORECASE,
)
_SIGNS = {
    "&amp;": "&", "–": "-", "−": "-", "==": "=", "===": "=", "≤": "<=", "≥": ">=", "~=": "~", "!==": "!=",
    **dict.fromkeys("✅✔☑", "✓"), **dict.fromkeys("❌✖✘", "✗"),
}  # fmt: skip
_QUIET = ("&", "?")
"""Signs that say nothing by themselves, but change what stands beside them."""
_THOUSANDS = re.compile(r"[-+]?\d{1,3}(?:([,' \u00a0\u2009\u202f])\d{3})(?:\1\d{3})*(?:\.\d+)?")
_WHOLE = re.compile(r"([-+]?\d+)\.0+")
_ABBREVIATION = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]")
_BORDER = re.compile(r"[.!?;|•\n。！？]")
_ENDED = re.compile(r"[.!?。！？]\W*\Z")
_NEXT = re.compile(r"\s([^\W\d_]{3,})")
_SYMBOL, _ACRONYM = 3, 5
"""Letters of a symbol of a unit, and of a name in capitals, whose case counts."""
_PREFIXED = ("MW", "Mb", "Gb", "Kb", "Tb", "MS")
"""Symbols of units that mean another one than in small letters, or in capitals."""
_ENDS_SENTENCE = re.compile(r"[.!?:;•|\n\"“”]\W*\Z|\A\W*\Z")


@dataclass(frozen=True, eq=False)
class Tokens:
    """A text as tokens.

    text    the text itself
    keys    what each token says, in a normal form
    kinds   its kind
    spans   where it stands in the text
    """

    text: str
    keys: tuple[str, ...]
    kinds: tuple[int, ...]
    spans: tuple[tuple[int, int], ...]

    def __len__(self) -> int:
        return len(self.keys)

    @cached_property
    def counts(self) -> Counter[str]:
        return Counter(self.keys)

    @cached_property
    def vocabulary(self) -> frozenset[str]:
        return frozenset(self.keys)

    @cached_property
    def facts(self) -> frozenset[str]:
        """The facts and names."""
        return frozenset(key for key, kind in zip(self.keys, self.kinds, strict=True) if kind >= NAME)

    @cached_property
    def stems(self) -> frozenset[str]:
        """The words that are no function words, without their endings."""
        return frozenset(stem(key) for key, kind in zip(self.keys, self.kinds, strict=True) if kind == CONTENT)

    @cached_property
    def polarity(self) -> frozenset[str]:
        """The words that say that something is not so, how far it is so, or of how many."""
        return self.vocabulary & POLARITY

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The names and facts, without numbers and words such as "may", each where it stands first."""
        found = (key for key, kind in zip(self.keys, self.kinds, strict=True) if kind >= NAME and not key[0].isdigit())
        return tuple(key for key in dict.fromkeys(found) if key not in MODALITY and key not in QUANTITIES)

    @cached_property
    def ends_sentence(self) -> bool:
        """Whether the text ends with the end of a sentence."""
        return bool(_ENDED.search(self.text, self.spans[-1][1] - 1))

    @cached_property
    def counted(self) -> dict[str, set[str]]:
        """The numbers that stand before each word: what they count."""
        found: dict[str, set[str]] = {}
        for (number, word), kind in zip(pairwise(self.keys), self.kinds, strict=False):
            if kind == FACT and number[0].isdigit():
                found.setdefault(stem(word), set()).add(number)
        return found

    def is_border(self, place: int) -> bool:
        """Whether a sentence or a line begins with the token at this place, or the text ends before it."""
        if place in (0, len(self)) or self.keys[place - 1] == "?":
            return True
        return bool(_BORDER.search(self.text, self.spans[place - 1][1], self.spans[place][0]))

    @cached_property
    def sentences(self) -> tuple[tuple[str, ...], ...]:
        """The content words of each sentence, without their endings."""
        found: list[list[str]] = [[]]
        for place, (key, kind) in enumerate(zip(self.keys, self.kinds, strict=True)):
            if place and self.is_border(place):
                found.append([])
            if kind == CONTENT:
                found[-1].append(stem(key))
        return tuple(tuple(words) for words in found)

    def varies(self, other: Tokens) -> bool:
        """Whether two texts are worded nearly alike, but one has a fact or a name that the other does not have."""
        return self.resembles(other) and not (self.facts <= other.vocabulary and other.facts <= self.vocabulary)

    def resembles(self, other: Tokens) -> bool:
        """Whether both texts have most words of the shorter one in common, in any order."""
        return (self.counts & other.counts).total() >= NEAR * min(len(self), len(other))

    @cached_property
    def joined(self) -> str:
        """All keys as one text, so that stretches can be searched for."""
        return "\x00" + "\x00".join(self.keys) + "\x00"


@lru_cache(maxsize=4096)
def read_tokens(text: str) -> Tokens:
    """Split a text into tokens. The last some thousand texts are remembered."""
    keys: list[str] = []
    kinds: list[int] = []
    spans: list[tuple[int, int]] = []
    is_title = _has_many_capitals(text)
    for match in _TOKEN.finditer(text):
        group = match.lastgroup or "skip"
        if group == "skip":
            continue
        word, start = match[group], match.start(group)
        key, kind = _READERS[group](word)
        if kind == FACT and key in _TIMES and word[0].isalpha() and (times := _multiply(keys, key)):  # 3.5 million
            keys[-1], spans[-1] = times, (spans[-1][0], match.end(group))
            continue
        if group in ("plain", "word") and (not word.islower() or key in UNITS or key == "one"):
            key, kind = _read_in_context(text, start, word, key, kind, keys, is_title)
        if key == "":
            continue
        keys.append(key)
        kinds.append(kind)
        spans.append(match.span(group))
    return Tokens(text, tuple(keys), tuple(kinds), tuple(spans))


def _multiply(keys: list[str], scale: str) -> str | None:
    """The last key times a scale such as a million, if it is a number."""
    if not keys or not re.fullmatch(r"\d{1,9}(\.\d{1,9})?", keys[-1]):
        return None
    whole, _, rest = keys[-1].partition(".")
    digits, zeros = whole + rest, len(scale) - 1 - len(rest)
    return (digits + "0" * zeros).lstrip("0") or "0" if zeros >= 0 else None


def stem(word: str) -> str:
    """A word without a common English ending; words of other languages lose little by it."""
    for ending in ("ations", "ation", "ings", "ing", "edly", "ies", "ied", "ed", "es", "ly", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def _fold(word: str) -> str:
    if word.isascii():
        return word.lower()
    return unicodedata.normalize("NFKC", word.translate(_RAISED)).casefold().replace("’", "'").replace("−", "-")


def _read_number(word: str) -> tuple[str, int]:
    number = _fold(word)
    number = "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in number).removeprefix("+")
    if _THOUSANDS.fullmatch(number):
        number = re.sub(r"[,'\s\u00a0\u2009\u202f]", "", number)
    if whole := _WHOLE.fullmatch(number):
        number = whole[1]
    return number.lstrip("0") or "0" if number.isdigit() else number, FACT


def _read_date(word: str) -> tuple[str, int]:
    """Dates in one form: year, month, day. What may be either order of day and month stays as it is."""
    names = [MONTHS[_fold(part)] for part in re.findall(r"[^\W\d_]+", word) if _fold(part) in MONTHS]
    numbers = [int(part) for part in re.findall(r"\d+", word)]
    if names:
        year, month, day = max(numbers), names[0], min(numbers)
    elif "-" in word:
        year, month, day = numbers
    else:
        day, month, year = numbers
        if month > 12:
            day, month = month, day
        elif day <= 12 and "/" in word:
            return word, FACT
    return f"{year:04}-{month:02}-{day:02}", FACT


def _read_url(word: str) -> tuple[str, int]:
    address = word.rstrip(".,;:!?").rstrip("/")
    return re.sub(r"\A(?:https?://)?(?:www\.)?", "", address, flags=re.IGNORECASE), FACT


def _read_flag(word: str) -> tuple[str, int]:
    return word, FACT  # -v is not -V


def _read_dotted(word: str) -> tuple[str, int]:
    key = _fold(word)
    if not _ABBREVIATION.fullmatch(word):
        return key, FACT
    return (key.replace(".", ""), CONTENT) if word.islower() else (word.replace(".", ""), NAME)


def _read_sign(word: str) -> tuple[str, int]:
    key = _SIGNS.get(word, _fold(word))
    return key, FUNCTION if key in _QUIET else FACT


def _read_path(word: str) -> tuple[str, int]:
    return word.rstrip("./") or word, FACT


@lru_cache(maxsize=1 << 15)
def _read_word(word: str) -> tuple[str, int]:
    key = _fold(word)
    if key[0] == key[-1] == "_" and "_" not in key[1:-1]:  # _emphasis_
        word, key = word.strip("_"), key.strip("_")
    if key in NUMBERS:
        return NUMBERS[key], FACT
    if key.endswith("n't") or key in FACTS:
        return "not" if key.endswith("n't") or key == "cannot" else key, FACT
    if _has_inner_capital(word):
        return word, FACT  # getUser is not getuser
    if "_" in key or "^" in key or any(c.isdigit() for c in key):
        return key, FACT
    return key, FUNCTION if key in FUNCTION_WORDS else CONTENT


_READERS: dict[str, Callable[[str], tuple[str, int]]] = {
    "plain": _read_word, "url": _read_url, "path": _read_path, "date": _read_date, "email": _read_url,
    "flag": _read_flag, "number": _read_number,
    "dotted": _read_dotted, "wide": _read_word, "word": _read_word, "sign": _read_sign,
}  # fmt: skip


def _has_inner_capital(word: str) -> bool:
    """Whether a word looks like an identifier: camelCase."""
    return not word.isupper() and any(one.islower() and other.isupper() for one, other in pairwise(word))


def _has_many_capitals(text: str) -> bool:
    """Whether capitals say little, because most words begin with one."""
    words = re.findall(r"[^\W\d_]{4,}", text[:2000])
    return text[:2000].isupper() or (len(words) >= 4 and sum(word[0].isupper() for word in words) > 0.6 * len(words))


def _read_in_context(
    text: str, start: int, word: str, key: str, kind: int, before: list[str], is_title: bool
) -> tuple[str, int]:
    """Words that mean something beside others: months, units after a number, names in the middle of a sentence."""
    capital = word[0].isupper()
    if key in MONTHS and capital and (key not in AMBIGUOUS_MONTHS or _is_date(text, start, len(word), before)):
        return str(MONTHS[key]), FACT
    if before and before[-1][-1:].isdigit() and text[max(0, start - 2) : start].rstrip()[-1:].isdigit():
        if len(word) <= _SYMBOL and not word.islower() and not word.isupper() and key not in UNITS:
            return word, FACT  # 5 mW is not 5 MW
        if key in UNITS:
            return (word if word in _PREFIXED else UNITS[key]), FACT
    if key in DAYS and capital:
        return key, FACT
    if kind <= CONTENT and word.isupper() and len(word) > 1 and not is_title:
        return (word, NAME) if len(word) <= _ACRONYM else (key, max(kind, NAME) if kind == CONTENT else kind)
    if key == "one" and _counts(text, start + len(word)):
        return "1", FACT
    if kind == CONTENT and capital and not is_title and not _ENDS_SENTENCE.search(text[max(0, start - 12) : start]):
        return key, NAME
    return key, kind


def _counts(text: str, end: int) -> bool:
    """Whether "one" before this place counts something: "one tablet", not "one should"."""
    found = _NEXT.match(text, end)
    return found is not None and _fold(found[1]) not in FUNCTION_WORDS | FACTS


def _is_date(text: str, start: int, length: int, before: list[str]) -> bool:
    after = text[start + length : start + length + 6]
    return bool(before and before[-1].isdigit()) or bool(re.match(r"\.?\s+\d", after))
