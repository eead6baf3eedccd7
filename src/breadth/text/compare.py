"""Does one text say all that another one says? And what differs?

A vector cannot tell a copy from a contradiction: "founded in 1856" and "founded in 1900" have a cosine of 0.996. Here
the texts themselves are compared, word by word.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import ceil

from breadth.checks import check_number
from breadth.errors import InputError
from breadth.text.align import Change, align, list_changes
from breadth.text.tokens import CONTENT, FACT, FUNCTION, MOST_TOKENS, NAME, NEAR, Tokens, read_tokens, stem
from breadth.text.words import LIMITS, NEGATIONS

SAME, CONTAINED, PARAPHRASE = "same", "contained", "says the same"
DIFFERS = "differs"

_STRETCH = 0.9
"""The share of a text that must stand in another one in one piece for that other one to contain it."""
_PLACES = 16
"""Places where a stretch is looked at: text that repeats itself endlessly has more."""
_FEW_WORDS = 20
"""A stretch of fewer words must be whole sentences: the words around it could change what it says."""
_SHORTER, _SUBJECT = 0.5, 0.6
"""What says the same in other words has at least this share of the length, and of the content words, of the other. On
pairs of Perspectrum and TREC that share fewer content words, a third to two thirds hold something else."""


@dataclass(frozen=True)
class Difference:
    """A place where two texts differ: what the one says, and what the other one says there. Either may be empty.

    left, right              the words
    left_span, right_span    where they stand, as (start, end) in the characters of each text
    """

    left: str
    right: str
    left_span: tuple[int, int]
    right_span: tuple[int, int]

    def to_dict(self) -> dict[str, str]:
        return {"here": self.left, "there": self.right}

    def __str__(self) -> str:
        return f"{self.left or '(nothing)'} → {self.right or '(nothing)'}"


@dataclass(frozen=True, eq=False)
class Comparison:
    """What two texts have to do with each other.

    relation       "same": equal but for case, space, punctuation and markup. "contained": one stands in the other.
                   "says the same": other words, but the same numbers, identifiers, names and negations. "differs".
    left_says_all  whether the left text says all of the right one
    right_says_all the same the other way round
    """

    relation: str
    left_says_all: bool
    right_says_all: bool
    left: Tokens
    right: Tokens

    def __repr__(self) -> str:
        return f"Comparison({self.relation!r}, differences=[{', '.join(map(str, self.differences))}])"

    @cached_property
    def _changes(self) -> list[Change]:
        if self.relation == SAME or max(len(self.left), len(self.right)) > MOST_TOKENS:
            return []
        return list_changes(align(self.left.keys, self.right.keys), len(self.left), len(self.right))

    @cached_property
    def changes(self) -> tuple[Difference, ...]:
        """Every place where the words differ, in the order of the left text. Not for texts of thousands of words."""
        return tuple(_describe(change, self.left, self.right) for change in self._changes)

    @cached_property
    def differences(self) -> tuple[Difference, ...]:
        """The changes that bring or take a number, an identifier, a name or a word such as "not".

        Where there are none, but the texts differ, those that bring or take any word that means something.
        """
        if max(len(self.left), len(self.right)) > MOST_TOKENS:
            return _list_own(self.left, self.right)
        for least in (NAME, CONTENT):
            found = [change for change in self._changes if self._holds(change, least)]
            if found or self.relation != DIFFERS:
                break
        return tuple(_describe(change, self.left, self.right) for change in found)

    def _holds(self, change: Change, least: int) -> bool:
        """Whether a change has a word, of this kind at least, that the other text does not have anywhere."""
        sides = ((self.left, change.left, self.right), (self.right, change.right, self.left))
        return any(
            own.kinds[place] >= least and own.keys[place] not in other.vocabulary
            for own, places, other in sides
            for place in range(*places)
        )


def compare(left: str, right: str, cosine: float | None = None, paraphrase: float = 0.85) -> Comparison:
    """Compare two texts.

    cosine       of their vectors. Without it, texts in other words count as different.
    paraphrase   the cosine above which texts in other words may say the same. It depends on the encoder.
    """
    for name, text in (("left", left), ("right", right)):
        if not isinstance(text, str):
            raise InputError(f"{name} must be a text, got {type(text).__name__}")
    if cosine is not None:
        check_number(cosine, "cosine", -1.001, 1.001)  # rounding of float32
    check_number(paraphrase, "paraphrase", -1.0, 1.0)
    return compare_tokens(read_tokens(left), read_tokens(right), cosine is not None and cosine > paraphrase)


def compare_tokens(left: Tokens, right: Tokens, close: bool) -> Comparison:
    """`compare` for texts that are split already; `close`: whether their vectors allow a paraphrase."""
    if left.keys == right.keys:
        same = bool(left.keys)
        return Comparison(SAME if same else DIFFERS, same, same, left, right)
    common: list[int] = []
    forward, backward = _says_all(left, right, close, common), _says_all(right, left, close, common)
    relation = PARAPHRASE if PARAPHRASE in (forward, backward) else forward or backward or DIFFERS
    return Comparison(relation, bool(forward), bool(backward), left, right)


def find_relation(whole: Tokens, part: Tokens, close: bool) -> str | None:
    """How `whole` says all of `part`: "same", "contained" or "says the same"; None if it does not."""
    return SAME if whole.keys == part.keys and whole.keys else _says_all(whole, part, close, [])


def list_missing(part: Tokens, whole: Tokens) -> list[str]:
    """The numbers, identifiers, names and negations of a text that another one does not have, as they stand there."""
    found = (
        part.text[slice(*span)]
        for key, kind, span in zip(part.keys, part.kinds, part.spans, strict=True)
        if kind >= NAME and key not in whole.vocabulary
    )
    return list(dict.fromkeys(found))


def _says_all(whole: Tokens, part: Tokens, close: bool, common: list[int]) -> str | None:
    """How `whole` says all of `part`; None if it does not. `common`: the number of common tokens, once it is known."""
    if not part.keys or not part.facts <= whole.vocabulary:
        return None
    if _is_stretch(whole, part) or _is_extended(whole, part):
        return CONTAINED
    if not close or len(whole) < _SHORTER * len(part) or len(part.stems & whole.stems) < _SUBJECT * len(part.stems):
        return None
    if _contradicts(whole, part) or _has_own_sentence(part, whole) or _are_worded_alike(whole, part, common):
        return None
    return PARAPHRASE


def _has_own_sentence(part: Tokens, whole: Tokens) -> bool:
    """Whether a text has a sentence most of whose content words the other text does not have."""
    return any(len(words) > 2 * sum(word in whole.stems for word in words) for words in part.sentences)


def _contradicts(whole: Tokens, part: Tokens) -> bool:
    """Whether only the one text has a word such as "not" or "may", or names stand in another order, or the same thing
    is counted with other numbers."""
    if not whole.polarity <= part.polarity:
        return True
    labels = {*part.labels, *whole.labels}
    orders = ([key for key in dict.fromkeys(one.keys) if key in labels] for one in (whole, part))
    known = whole.vocabulary & part.vocabulary
    left, right = ([key for key in order if key in known] for order in orders)
    if left != right:
        return True
    return any(not numbers & part.counted.get(word, numbers) for word, numbers in whole.counted.items())


def _are_worded_alike(one: Tokens, other: Tokens, common: list[int]) -> bool:
    """Whether the longest common subsequence is a large share of the shorter text."""
    shorter = min(len(one), len(other))
    if not one.resembles(other):
        return False
    if max(len(one), len(other)) > MOST_TOKENS:
        return True
    if not common:
        common.append(len(align(one.keys, other.keys)))
    return common[0] >= NEAR * shorter


def _is_stretch(whole: Tokens, part: Tokens) -> bool:
    """Whether `part` stands in `whole` in one piece, but for cut borders without a content word of their own."""
    length = ceil(_STRETCH * len(part))
    if length > len(whole):
        return False
    middle = part.keys[len(part) - length : length] or part.keys
    sought = "\x00" + "\x00".join(middle) + "\x00"
    at = whole.joined.find(sought)
    for _ in range(_PLACES):
        if at < 0:
            break
        place = whole.joined.count("\x00", 0, at)
        first0 = len(part) - length if middle is not part.keys else 0
        first, last = _extend(whole, part, place, first0, len(middle))
        start = place - first0 + first
        if last - first >= length and _stands_alone(whole, start, part, first, last):
            return True
        at = whole.joined.find(sought, at + 1)
    return False


def _stands_alone(whole: Tokens, start: int, part: Tokens, first: int, last: int) -> bool:
    """Whether part[first:last], which stands at `start` of `whole`, says there what `part` says.

    Something may be cut off `part` only where `whole` begins or ends: otherwise other words stand in its place. Where
    `whole` goes on in the same sentence, nothing there may turn what is said: "It works" stands in "It works only on
    Linux".
    """
    end = start + last - first
    if first and not (start == 0 or (whole.is_border(start) and _says_nothing(part, range(first)))):
        return False
    if last < len(part) and not (
        end == len(whole) or (whole.is_border(end) and _says_nothing(part, range(last, len(part))))
    ):
        return False
    if not whole.is_border(start) and _turns(whole, range(start - 1, -1, -1)):
        return False
    if not whole.is_border(end) and (part.ends_sentence or _turns(whole, range(end, len(whole)))):
        return False
    return _is_whole(whole, start, end, len(part)) and not _has_own(part, first, last, whole)


def _says_nothing(part: Tokens, rest: range) -> bool:
    """Whether the rest of a text is the beginning or the end of a sentence that was cut off, without a word that means
    something."""
    return not part.ends_sentence and all(part.kinds[place] == FUNCTION for place in rest)


def _turns(whole: Tokens, places: range) -> bool:
    """Whether a word such as "not" or "only" stands in the rest of a sentence, from one place on."""
    for place in places:
        if whole.keys[place] in NEGATIONS or whole.keys[place] in LIMITS:
            return True
        if whole.is_border(place if places.step < 0 else place + 1):
            return False
    return False


def _is_extended(whole: Tokens, part: Tokens) -> bool:
    """Whether `whole` is `part` with further sentences in between."""
    if len(whole) <= len(part) or len(whole) > MOST_TOKENS or not part.counts <= whole.counts:
        return False
    pairs = align(whole.keys, part.keys)
    if len(pairs) < len(part):
        return False
    return all(_is_whole(whole, *change.left, 0) for change in list_changes(pairs, len(whole), len(part)))


def _extend(whole: Tokens, part: Tokens, place: int, first: int, count: int) -> tuple[int, int]:
    """The stretch of `part` around part[first : first + count], which stands at `place` of `whole`."""
    last, end = first + count, place + count
    while first > 0 and place > 0 and part.keys[first - 1] == whole.keys[place - 1]:
        first, place = first - 1, place - 1
    while last < len(part) and end < len(whole) and part.keys[last] == whole.keys[end]:
        last, end = last + 1, end + 1
    return first, last


def _is_whole(whole: Tokens, first: int, last: int, length: int) -> bool:
    """Whether a stretch of a text can be read by itself: a few words must be whole sentences or lines.

    "CC BY" stands in "CC BY-NC-ND", and says something else.
    """
    if length >= _FEW_WORDS:
        return True
    return whole.is_border(first) and whole.is_border(last)


def _has_own(part: Tokens, first: int, last: int, whole: Tokens) -> bool:
    """Whether a text has a fact outside of part[first:last], or a word that the other one does not have."""
    rest = (*range(first), *range(last, len(part)))
    return any(
        part.kinds[place] == FACT
        or (
            part.kinds[place] >= CONTENT
            and part.keys[place] not in whole.vocabulary
            and stem(part.keys[place]) not in whole.stems
        )
        for place in rest
    )


def _describe(change: Change, left: Tokens, right: Tokens) -> Difference:
    spans = [_span(tokens, *places) for tokens, places in ((left, change.left), (right, change.right))]
    return Difference(left.text[slice(*spans[0])], right.text[slice(*spans[1])], *spans)


def _span(tokens: Tokens, first: int, last: int) -> tuple[int, int]:
    if first < last:
        return tokens.spans[first][0], tokens.spans[last - 1][1]
    at = tokens.spans[first][0] if first < len(tokens) else len(tokens.text)
    return at, at


def _list_own(left: Tokens, right: Tokens) -> tuple[Difference, ...]:
    """The facts that only one of two long texts has."""
    found = []
    for own, other, is_left in ((left, right, True), (right, left, False)):
        for key, kind, span in zip(own.keys, own.kinds, own.spans, strict=True):
            if kind >= NAME and key not in other.vocabulary:
                word = own.text[slice(*span)]
                found.append(Difference(word, "", span, (0, 0)) if is_left else Difference("", word, (0, 0), span))
    return tuple(found)
