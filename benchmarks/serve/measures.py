"""What a set is worth to a reader, and how much of it fits into a budget of words."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from benchmarks.serve.collection import Collection
from breadth import metrics

MEASURES = ("recall", "off_topic", "best_dropped", "copies", "lost", "hidden", "words", "size")
COPY = 0.95
"""Two rows with a larger cosine are near-copies."""
LADDER = (*range(1, 11), 12, 14, 16, 18, 20, 25, 30, 35, 40, 50, 60, 80, 100)
"""The sizes that a set for a budget of words may have."""


def measure_set(collection: Collection, number: int, relevance: np.ndarray, rows: Sequence[int], k: int) -> list[float]:
    """The `MEASURES` of a set of rows that was chosen as the k rows for a question.

    recall        the share of the question's aspects that the set holds
    off_topic     1 if a row has less than half the relevance of the last of the k most relevant rows, else 0
    best_dropped  1 if neither the most relevant row nor an equally relevant one is in the set, else 0
    copies        pairs of rows with a cosine above `COPY`
    lost          passages of top-k of which no single passage of the set has all facts (`breadth.metrics.lost`)
    hidden        those of them that are nearly a copy of a passage of the set, which says something else
    words, size   the words of all rows together, and the number of rows
    """
    if not rows:
        return [0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    last = float(np.partition(relevance, len(relevance) - k)[len(relevance) - k])
    chosen = relevance[list(rows)]
    vectors = collection.rows[list(rows)]
    pairs = np.triu(vectors @ vectors.T, k=1)
    return [
        collection.evidence.recall(collection.judged.questions[number].id, rows),
        float(bool((chosen < last / 2).any())),
        float(chosen.max() < relevance.max() - 1e-6),
        float((pairs > COPY).sum()),
        *_count_lost(collection, relevance, rows, k),
        float(collection.words[list(rows)].sum()),
        float(len(rows)),
    ]


def _count_lost(collection: Collection, relevance: np.ndarray, rows: Sequence[int], k: int) -> tuple[float, float]:
    """How many passages of top-k are lost, and how many of these are hidden behind a passage that resembles them."""
    top = np.setdiff1d(np.argsort(-relevance, kind="stable")[:k], rows)
    texts, vectors = collection.texts, collection.rows
    lost = [top[one.place] for one in metrics.lost([texts[row] for row in top], [texts[row] for row in rows])]
    chosen = list(rows)
    hidden = [row for row in lost if float((vectors[chosen] @ vectors[row]).max()) > COPY]
    return float(len(lost)), float(len(hidden))


def find_fit(words_of: Callable[[int], int], budget: int) -> int:
    """The largest k of `LADDER` whose set has at most `budget` words, or 0 if a single row has more.

    The words are taken to grow with k, so the search looks at a few sizes only.
    """
    low, high = 0, len(LADDER)
    while low < high:
        middle = (low + high) // 2
        if words_of(LADDER[middle]) <= budget:
            low = middle + 1
        else:
            high = middle
    return LADDER[low - 1] if low else 0
