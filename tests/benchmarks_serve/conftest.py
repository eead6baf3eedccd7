"""A small collection with known aspects."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.serve.collection import Collection
from benchmarks.serve.judged import HALVES, Judged
from breadth_experiments.run import Passage, Question
from tests.synthetic import clustered, query_near

COUNT = 450


@pytest.fixture(scope="session")
def collection() -> Collection:
    """150 passages, each three times; passage i has i % 7 + 1 words; two questions with three aspects each."""
    rng = np.random.default_rng(5)
    rows = np.repeat(clustered(rng, COUNT // 3, 16, clusters=6, spread=0.5).astype(np.float32), 3, axis=0)
    passages = tuple(Passage(str(i), "", " ".join(["word"] * (i % 7 + 1))) for i in range(COUNT))
    relevant = (("0", "3"), ("40",), ("80", "81", "82"))
    questions = (Question("a", "?", relevant=relevant), Question("b", "?", relevant=relevant[::-1]))
    queries = np.stack([query_near(rng, rows).astype(np.float32) for _ in questions])
    return Collection("small", Judged(passages, questions, HALVES), rows, queries)
