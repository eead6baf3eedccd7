"""The index that is served, and the queries that are asked."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks.collections import clustered_chunks
from breadth.index import Document, Index
from tests.synthetic import unit

ROWS, DIM = 100_000, 384
QUERIES = 512
_WORDS = 60
"""Words of a passage."""
_SPREAD = 0.5
"""How far queries are from rows of the collection."""


def prepare(folder: Path) -> tuple[Path, Path]:
    """Return the paths of an index and of the queries for it, as `.npy`; make them if they do not exist."""
    folder.mkdir(parents=True, exist_ok=True)
    path, queries = folder / f"load-{ROWS}x{DIM}.index", folder / f"load-{ROWS}x{DIM}.npy"
    if not (path.exists() and queries.exists()):
        rng = np.random.default_rng(16)
        rows = np.concatenate(list(clustered_chunks(rng, ROWS, DIM)))
        _build(path, rows)
        near = rows[rng.integers(ROWS, size=QUERIES)]
        noise = rng.standard_normal(near.shape, dtype=np.float32) * np.float32(_SPREAD / np.sqrt(DIM))
        np.save(queries, unit(near + noise))
    return path, queries


def _build(path: Path, rows: npt.NDArray[np.float32]) -> None:
    text = " ".join(["word"] * _WORDS)
    documents = (Document(f"d{n}", f"Passage {n}: {text}", {"year": 2000 + n % 25}) for n in range(len(rows)))
    with Index.create(path, dim=DIM) as index:
        index.add(documents, vectors=rows)
        index.optimize()
