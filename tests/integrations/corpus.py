"""A small collection that floods top-k: real passages of Wikipedia, each page in several near-copies by one source."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from breadth.encoders import BuiltinEncoder

_DATA = Path(__file__).parents[2] / "examples" / "data" / "wikipedia"
QUERY = "Who was the murderer in the first broadchurch?"
FLOOD = "flood"
"""The source whose near-copies fill the top."""


@dataclass(frozen=True)
class Passage:
    id: str
    text: str
    source: str
    year: int


@cache
def encoder() -> BuiltinEncoder:
    return BuiltinEncoder()


@cache
def passages() -> tuple[Passage, ...]:
    """120 passages, and twelve near-copies of the one that is most relevant to `QUERY`."""
    lines = (_DATA / "passages.jsonl").read_text(encoding="utf-8").splitlines()
    texts = [json.loads(line) for line in lines][384:504]
    real = [Passage(f"p{i}", one["text"], one["title"], 2000 + i % 20) for i, one in enumerate(texts)]
    cosines = encoder().encode([one.text for one in real]) @ query()
    best = real[int(cosines.argmax())]
    flood = [Passage(f"copy{i}", f"{best.text}{' .' * i}", FLOOD, 2030) for i in range(12)]
    return tuple(real + flood)


@cache
def vectors() -> np.ndarray:
    return encoder().encode([one.text for one in passages()])


@cache
def query() -> np.ndarray:
    return encoder().encode([QUERY], "query")[0]


def texts() -> list[str]:
    """The texts of all passages."""
    return [passage.text for passage in passages()]


def metadata(passage: Passage) -> dict[str, object]:
    return {"source": passage.source, "year": passage.year}
