"""A small encoder and documents for the tests of an index."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from breadth.index import Document

_ROOT = Path(__file__).parents[2]
CHILD = {"PYTHONPATH": os.pathsep.join([str(_ROOT / "src"), str(_ROOT)]), "BREADTH_COMPILED": "0"}
"""What the environment of a process needs that runs code of these tests."""
WORDS = ["asthma", "cough", "fever", "heart", "kidney", "liver", "bone", "skin"]


class Letters:
    """An encoder without a model: counts letters."""

    name, dim = "letters", 26

    def encode(self, texts, kind="document"):
        rows = np.array([[t.lower().count(chr(97 + i)) for i in range(26)] for t in texts], dtype=np.float32)
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


def documents(count, start=0):
    """So many documents, always the same ones: d0, d1, …"""
    return [
        Document(
            f"d{i}", f"{WORDS[i % 8]} {WORDS[i // 8 % 8]} number {i}", {"source": WORDS[i % 3], "year": 2000 + i % 20}
        )
        for i in range(start, start + count)
    ]
