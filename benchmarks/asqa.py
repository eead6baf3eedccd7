"""Vectors of real passages and questions: those that come with the project, or a larger set in a folder."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.report import ROOT
from tests.synthetic import unit

SHIPPED = ROOT / "examples" / "data" / "wikipedia"


def load(folder: Path | None) -> tuple[str, np.ndarray, np.ndarray]:
    """Return a name, the passages and the questions, both as float32 unit rows.

    `folder` holds minilm_passages.f16.npy and minilm_queries948.f16.npy (all-MiniLM-L6-v2 vectors). None stands for the
    passages that come with the project.
    """
    if folder is None:
        name, passages, questions = "shipped Wikipedia passages", "passages.f16.npy", "questions.f16.npy"
        folder = SHIPPED
    else:
        name, passages, questions = "ASQA passages", "minilm_passages.f16.npy", "minilm_queries948.f16.npy"
    rows, queries = (unit(np.load(folder / file).astype(np.float32)) for file in (passages, questions))
    return f"{len(rows):,} {name}", rows, queries
