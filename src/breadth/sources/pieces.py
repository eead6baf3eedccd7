"""Cutting long texts into pieces."""

from __future__ import annotations

import re
from collections.abc import Iterator

from breadth.errors import InputError


def cut_into_pieces(text: str, words: int, overlap: int = 0) -> Iterator[str]:
    """Cut a text into pieces of so many words that overlap by so many; white space inside a piece stays as it is."""
    spans: list[tuple[int, int]] = []
    cut = False
    for word in re.finditer(r"\S+", text):
        spans.append(word.span())
        if len(spans) == words:
            yield text[spans[0][0] : spans[-1][1]]
            cut = True
            del spans[: words - overlap]
    if spans and (not cut or len(spans) > overlap):
        yield text[spans[0][0] : spans[-1][1]]


def parse_chunk(description: str) -> tuple[int, int]:
    """Read '100w' (pieces of 100 words) or '100w/20' (that overlap by 20 words)."""
    match = re.fullmatch(r"([0-9]{1,9})w(?:/([0-9]{1,9}))?", description)
    if match is None or int(match[1]) == 0 or int(match[2] or 0) >= int(match[1]):
        raise InputError(f"chunk must be like 100w, or 100w/20 for an overlap of 20 words, got {description!r}")
    return int(match[1]), int(match[2] or 0)
