"""What plain top-k says and a set does not."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from breadth.errors import InputError
from breadth.text.compare import list_missing
from breadth.text.tokens import Tokens, read_tokens


@dataclass(frozen=True)
class Lost:
    """A passage of which no chosen one has all facts.

    place   its position among the passages of top-k
    facts   its numbers, identifiers, names and words such as "not" that the chosen passage which has most of them lacks
    """

    place: int
    facts: tuple[str, ...]


def lost(top: Iterable[str], chosen: Iterable[str]) -> list[Lost]:
    """Return what the passages `top` say and no single one of the passages `chosen` does; both are texts.

    It is about facts: numbers, identifiers, names, negations. A sentence without any can be lost unnoticed.
    """
    every = [read_tokens(text) for text in check_texts(chosen, "chosen")]
    found = []
    for place, text in enumerate(check_texts(top, "top")):
        tokens = read_tokens(text)
        facts = min((list_missing(tokens, one) for one in every), key=len, default=list_missing(tokens, _NOTHING))
        if facts:
            found.append(Lost(place, tuple(facts)))
    return found


_NOTHING: Tokens = read_tokens("")


def check_texts(texts: Any, name: str) -> list[str]:
    """Return texts as a list."""
    every = None if isinstance(texts, str) or not isinstance(texts, Iterable) else list(texts)
    if every is None or not all(isinstance(text, str) for text in every):
        raise InputError(f"{name} must be a list of texts, got {texts!r:.80}")
    return every
