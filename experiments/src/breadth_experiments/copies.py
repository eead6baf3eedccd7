"""Make near-copies of passages by the edits that real collections show: cut ends, reordered sentences, boilerplate."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

import numpy as np

from breadth_experiments.run import Passage

_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_HEADS = (
    "From the archive:",
    "This page was last updated recently.",
    "Print this page | Share this article",
    "You are reading an excerpt.",
)
_TAILS = (
    "Read more on our site.",
    "All rights reserved. Terms of use apply.",
    "Was this page helpful? Yes / No",
    "Sign up for our newsletter to receive updates.",
)
_LEAST_KEPT = 0.7


def add_copies(passages: Iterable[Passage], copies: int, seed: int = 0) -> Iterator[Passage]:
    """Each passage, followed by `copies` near-copies of it (ids `id~1`, `id~2`, …), each with one to three edits.

    A copy depends on `seed`, the passage's place and the copy's number only. So the first copies stay the same if you
    ask for more.
    """
    for place, passage in enumerate(passages):
        yield passage
        for number, identity in enumerate(copy_ids(passage.id, copies)[1:], start=1):
            rng = np.random.default_rng((seed, place, number))
            text = passage.text
            for edit in rng.choice(len(EDITS), size=int(rng.integers(1, len(EDITS) + 1)), replace=False):
                text = EDITS[int(edit)](text, rng)
            if text == passage.text:  # a single sentence in another order
                text = add_boilerplate(text, rng)
            yield Passage(identity, passage.title, text)


def copy_ids(identity: str, copies: int) -> list[str]:
    """The ids of a passage and its copies."""
    return [identity, *(f"{identity}~{number}" for number in range(1, copies + 1))]


def truncate(text: str, rng: np.random.Generator) -> str:
    """Cut off words at the end or at the beginning, at most three in ten."""
    words = text.split()
    kept = max(1, round(len(words) * float(rng.uniform(_LEAST_KEPT, 0.95))))
    return " ".join(words[:kept] if rng.random() < 0.5 else words[-kept:])


def shuffle_sentences(text: str, rng: np.random.Generator) -> str:
    """Put the sentences into another order."""
    sentences = _SENTENCE.split(text)
    return " ".join(sentences[i] for i in rng.permutation(len(sentences)))


def add_boilerplate(text: str, rng: np.random.Generator) -> str:
    """Put a sentence of boilerplate before or after the text."""
    if rng.random() < 0.5:
        return f"{_HEADS[int(rng.integers(len(_HEADS)))]} {text}"
    return f"{text} {_TAILS[int(rng.integers(len(_TAILS)))]}"


EDITS: tuple[Callable[[str, np.random.Generator], str], ...] = (truncate, shuffle_sentences, add_boilerplate)
