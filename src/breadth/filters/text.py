"""The form of a filter that people type in a shell. It becomes the same data as any filter, and nothing else.

    source = 'nih' and (year >= 2020 or tags contains 'asthma') and not exists draft

field = value      also != < <= > >=
field in ('a', 'b')          field not in (1, 2)
field contains 'x'           the field is a list that holds 'x'
exists field                 the field is there
and, or, not, ( )            not binds most strongly, then and, then or

Texts stand in single or double quotes; a quote inside is written twice. Numbers, true, false and null stand bare. The
name of a field may stand in double quotes or backticks: "my field" = 1.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from breadth.errors import InputError
from breadth.filters.values import MAX_DEPTH, Scalar

MAX_TEXT = 100_000
"""The longest filter that is read."""

_TOKENS = re.compile(
    r"""(?P<space>\s+)
    | (?P<number>[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?(?![\w.]))
    | (?P<quoted>'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`)
    | (?P<sign>==|!=|<>|<=|>=|[=<>(),])
    | (?P<word>[^\W\d][\w.:-]*)""",
    re.VERBOSE,
)
_SIGNS = {"=": "$eq", "==": "$eq", "!=": "$ne", "<>": "$ne", "<": "$lt", "<=": "$lte", ">": "$gt", ">=": "$gte"}
_CONSTANTS: dict[str, Scalar] = {"true": True, "false": False, "null": None}
_KEYWORDS = {"and", "or", "not", "in", "contains", "exists", *_CONSTANTS}


def parse_filter(text: str) -> dict[str, Any]:
    """Turn `source = 'nih' and year >= 2020` into `{"$and": [{"source": "nih"}, {"year": {"$gte": 2020}}]}`."""
    if not isinstance(text, str):
        raise InputError(f"a filter must be text, got {type(text).__name__}")
    if len(text) > MAX_TEXT:
        raise InputError(f"a filter may have {MAX_TEXT:,} characters, got {len(text):,}")
    return _Parser(text, _split(text)).parse_all()


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    place: int

    @property
    def keyword(self) -> str:
        """The keyword or sign that this is, else an empty text."""
        if self.kind == "word" and self.text.lower() in _KEYWORDS:
            return self.text.lower()
        return self.text if self.kind == "sign" else ""


def _split(text: str) -> list[_Token]:
    tokens, place = [], 0
    while place < len(text):
        found = _TOKENS.match(text, place)
        if found is None:
            raise _complain(text, place, "an opening quote has no end" if text[place] in "'\"`" else "this is not read")
        if found.lastgroup != "space":
            tokens.append(_Token(str(found.lastgroup), found.group(), place))
        place = found.end()
    tokens.append(_Token("end", "", len(text)))
    return tokens


def _complain(text: str, place: int, what: str) -> InputError:
    rest = text[place : place + 30]
    where = f"at {rest!r} (character {place + 1})" if rest else "at its end"
    return InputError(f"the filter cannot be read {where}: {what}; an example: source = 'nih' and year >= 2020")


class _Parser:
    """Reads tokens from left to right, one function for each level of binding."""

    def __init__(self, text: str, tokens: list[_Token]) -> None:
        self._text, self._tokens, self._next, self._depth = text, tokens, 0, 0

    def parse_all(self) -> dict[str, Any]:
        data = self._parse_or()
        if self._peek().kind != "end":
            raise self._complain("expected and, or, or the end")
        return data

    def _parse_or(self) -> dict[str, Any]:
        parts = [self._parse_and()]
        while self._take("or"):
            parts.append(self._parse_and())
        return parts[0] if len(parts) == 1 else {"$or": parts}

    def _parse_and(self) -> dict[str, Any]:
        parts = [self._parse_one()]
        while self._take("and"):
            parts.append(self._parse_one())
        return parts[0] if len(parts) == 1 else {"$and": parts}

    def _parse_one(self) -> dict[str, Any]:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise self._complain(f"it is nested more than {MAX_DEPTH} deep")
        if self._take("not"):
            data: dict[str, Any] = {"$not": self._parse_one()}
        elif self._take("("):
            data = self._parse_or()
            self._expect(")")
        elif self._take("exists"):
            data = {self._parse_field(): {"$exists": True}}
        else:
            data = self._parse_comparison()
        self._depth -= 1
        return data

    def _parse_comparison(self) -> dict[str, Any]:
        field = self._parse_field()
        sign = self._peek().keyword
        if sign in _SIGNS:
            self._next += 1
            operator, value = _SIGNS[sign], self._parse_value()
            return {field: value} if operator == "$eq" else {field: {operator: value}}
        opposite = self._take("not")
        if self._take("in"):
            return {field: {"$nin" if opposite else "$in": self._parse_values()}}
        if self._take("contains"):
            held = {field: {"$contains": self._parse_value()}}
            return {"$not": held} if opposite else held
        raise self._complain(f"expected one of {' '.join(_SIGNS)} in contains after the field {field!r}")

    def _parse_values(self) -> list[Scalar]:
        self._expect("(")
        values = [self._parse_value()]
        while self._take(","):
            values.append(self._parse_value())
        self._expect(")")
        return values

    def _parse_field(self) -> str:
        token = self._peek()
        if token.kind not in ("word", "quoted") or token.keyword or token.text[0] == "'":
            raise self._complain("expected the name of a field, in double quotes if it is not a plain word")
        field = _unquote(token) if token.kind == "quoted" else token.text
        if field.startswith("$"):
            raise self._complain("the name of a field cannot begin with $")
        self._next += 1
        return field

    def _parse_value(self) -> Scalar:
        token = self._peek()
        if token.kind == "quoted" and token.text[0] != "`":
            value: Scalar = _unquote(token)
        elif token.kind == "number":
            value = _read_number(token.text)
        elif token.keyword in _CONSTANTS:
            value = _CONSTANTS[token.keyword]
        else:
            quoted = f"; a text stands in quotes: '{token.text}'" if token.kind == "word" else ""
            raise self._complain(f"expected a value{quoted}")
        self._next += 1
        return value

    def _peek(self) -> _Token:
        return self._tokens[self._next]

    def _take(self, keyword: str) -> bool:
        """Step over a keyword or sign if it comes next."""
        if self._peek().keyword != keyword:
            return False
        self._next += 1
        return True

    def _expect(self, sign: str) -> None:
        if not self._take(sign):
            raise self._complain(f"expected {sign}")

    def _complain(self, what: str) -> InputError:
        return _complain(self._text, self._peek().place, what)


def _unquote(token: _Token) -> str:
    quote = token.text[0]
    return token.text[1:-1].replace(quote * 2, quote)


def _read_number(text: str) -> int | float:
    digits = text.lstrip("+-")
    if not digits.isdigit():
        return float(text)
    if len(digits) > 300:
        raise InputError(f"the filter holds a number of {len(digits)} digits; at most 300 are read")
    return int(text)
