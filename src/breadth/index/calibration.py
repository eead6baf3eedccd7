"""What cosines an encoder gives to copies and to contradictions, on the texts of an index.

The pairs are made from texts of the index, so that it is known what they are. Copies: a text beside its beginning, and
beside a piece with shifted borders. Contradictions: a text beside itself with one number changed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from breadth.arrays import Vector
from breadth.checks import check_count
from breadth.constraints.texts import COMPARED
from breadth.errors import InputError
from breadth.index.index import Index
from breadth.settings import DEFAULT

_SAMPLE = 100
_WORDS = 20
"""A text of fewer words is not cut."""
_ENOUGH = 0.9
"""The share of copies that must be compared for repeats to be found."""
_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True, eq=False)
class Calibration:
    """The cosines of pairs that were made from texts of an index.

    encoder          the name of the encoder
    copies           the cosines of texts with parts of themselves
    contradictions   those of texts with themselves but for one number
    """

    encoder: str
    copies: Vector
    contradictions: Vector

    @property
    def compared(self) -> float:
        """The share of the copies that are compared, because their cosine is high enough."""
        return float(np.mean(self.copies > COMPARED)) if len(self.copies) else 1.0

    @property
    def is_enough(self) -> bool:
        """Whether repeats are found with this encoder."""
        return self.compared >= _ENOUGH

    def describe(self) -> list[str]:
        """Say what was measured, in sentences."""
        if not len(self.copies):
            return [f"No text has {_WORDS} words or more: there is nothing to cut into copies."]
        caught, count = int((self.copies > COMPARED).sum()), len(self.copies)
        told = [
            f"{count} copies (a text and a part of it): {_describe_range(self.copies)}.",
            f"Texts are compared above a cosine of {COMPARED:g}: that reaches {caught} of {count} copies.",
        ]
        if not self.is_enough:
            told.append("Warning: with this encoder many repeats stay in the sets. Index with another encoder.")
        if len(self.contradictions):
            low = 0.95
            hidden = int((self.contradictions > low).sum())
            told += [
                f"{len(self.contradictions)} contradictions (a text, and itself with another number): "
                f"{_describe_range(self.contradictions)}.",
                f"A cosine of {low:g} alone would take {hidden} of them for copies. Their texts tell them apart.",
            ]
        return told

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, fit for JSON."""
        return {
            "encoder": self.encoder,
            "compared_above": COMPARED,
            "copies": _summarise(self.copies),
            "copies_compared": self.compared,
            "contradictions": _summarise(self.contradictions),
            "contradictions_above_distinct": float(np.mean(self.contradictions > (DEFAULT.distinct or 1.0)))
            if len(self.contradictions)
            else None,
            "enough": self.is_enough,
        }


def calibrate(index: Index, *, sample: int = _SAMPLE, seed: int = 0) -> Calibration:
    """Measure the cosines of copies and of contradictions with the encoder of an index.

    sample   how many texts are taken, drawn with `seed`. Each is encoded up to four times.
    """
    count = check_count(sample, "sample")
    if not index.encoder_name and index.encoder is None:
        raise InputError("calibrate needs the encoder that made the vectors; open the index with it")
    oracle = index.oracle()
    rng = np.random.default_rng(seed)
    picked = np.sort(rng.choice(oracle.size, min(count, oracle.size), replace=False))
    texts = [document.text for document in index.documents(oracle.numbers[picked])]
    copies = [(text, part) for text in texts for part in _cut(text)]
    contradictions = [(text, changed) for text in texts if (changed := _change_number(text, rng)) is not None]
    return Calibration(index.encoder_name, _measure(index, copies), _measure(index, contradictions))


def _cut(text: str) -> Iterable[str]:
    """The first four fifths of a text, and its last four fifths."""
    words = text.split()
    if len(words) >= _WORDS:
        fifth = len(words) // 5
        yield " ".join(words[:-fifth])
        yield " ".join(words[fifth:])


def _change_number(text: str, rng: np.random.Generator) -> str | None:
    """The text with one of its numbers one larger; None if it has none."""
    numbers = list(_NUMBER.finditer(text))
    if not numbers:
        return None
    one = numbers[int(rng.integers(len(numbers)))]
    return f"{text[: one.start()]}{int(one[0]) + 1}{text[one.end() :]}"


def _measure(index: Index, pairs: list[tuple[str, str]]) -> Vector:
    if not pairs:
        return np.empty(0)
    left, right = (index.encode([pair[side] for pair in pairs], "document") for side in (0, 1))
    return np.asarray(np.einsum("ij,ij->i", left, right), dtype=np.float64)


def _describe_range(cosines: Vector) -> str:
    low, middle, high = np.quantile(cosines, [0.05, 0.5, 0.95])
    return f"cosine {middle:.3f}, nine in ten from {low:.3f} to {high:.3f}"


def _summarise(cosines: Vector) -> dict[str, Any]:
    if not len(cosines):
        return {"pairs": 0}
    names = ("least", "low", "median", "high", "most")
    return {
        "pairs": len(cosines),
        **dict(zip(names, np.quantile(cosines, [0, 0.05, 0.5, 0.95, 1]).tolist(), strict=True)),
    }
