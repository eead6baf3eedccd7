"""An index of made-up documents, for the attacks that need a large one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from breadth.index import Document, Index

DIM = 256
WORDS = ("asthma", "cough", "fever", "heart", "kidney", "liver", "bone", "skin", "lung", "blood")

Rows = npt.NDArray[np.float32]


def make_rows(rng: np.random.Generator, count: int) -> Rows:
    """Unit rows in clusters."""
    centres = rng.standard_normal((max(20, count // 500), DIM), dtype=np.float32)
    rows = centres[rng.integers(len(centres), size=count)]
    rows += 0.8 * rng.standard_normal((count, DIM), dtype=np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows


def make_documents(count: int, start: int = 0) -> Iterator[Document]:
    """Documents of 40 words with a tenant, a year and tags."""
    for number in range(start, start + count):
        text = " ".join(WORDS[(number * step + step) % len(WORDS)] for step in range(1, 40))
        tags = [f"tag{number % 7}", f"tag{number % 11 + 7}"]
        metadata = {"tenant": f"t{number % 10}", "year": 2000 + number % 25, "tags": tags}
        yield Document(f"d{number}", f"{text} number {number}", metadata)


def build(path: Path, rows: Rows) -> None:
    """Make an index of so many documents, in one file."""
    with Index.create(path, dim=DIM) as index:
        index.add(make_documents(len(rows)), vectors=rows)
        index.optimize()
