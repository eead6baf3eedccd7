"""Ways to choose a set that the table compares with, written from their publications.

All of them, and pyversity, choose from the `POOL` most relevant rows, as their users do. A chooser gets these rows E,
most relevant first, their relevance c, and k. It returns places in the pool, in the order of its picks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from pyversity import Strategy, diversify

POOL = 400


def choose_by_filter(E: np.ndarray, c: np.ndarray, k: int, threshold: float) -> np.ndarray:
    """Walk down the ranking and skip every row whose cosine to a chosen one reaches the threshold."""
    chosen: list[int] = []
    for place, row in enumerate(E):
        if len(chosen) == k:
            break
        if not chosen or float((E[chosen] @ row).max()) < threshold:
            chosen.append(place)
    return np.array(chosen)


def choose_by_pyversity(E: np.ndarray, c: np.ndarray, k: int, strategy: str, diversity: float) -> np.ndarray:
    """A strategy of pyversity."""
    found = diversify(embeddings=E, scores=c, k=k, strategy=Strategy(strategy), diversity=diversity)
    return np.asarray(found.indices)


def choose_by_dartboard(E: np.ndarray, c: np.ndarray, k: int, sigma: float) -> np.ndarray:
    """Dartboard: greedily maximise the relevant information gain (Pickett et al., arXiv 2407.12101).

    The gain of a set S is Σ_t N(D(q, t); σ) · max_{i∈S} N(D(i, t); σ) over the rows t of the pool, with the distance
    D(a, b) = (1 - cos(a, b)) / 2 and the density N of a normal distribution. The most relevant row comes first.
    """
    targets = -(((1 - c) / 2) ** 2) / (2 * sigma**2)
    guesses = -(((1 - E @ E.T) / 2) ** 2) / (2 * sigma**2)
    chosen = [int(targets.argmax())]
    nearest = guesses[chosen[0]].copy()
    while len(chosen) < min(k, len(E)):
        logs = np.maximum(nearest, guesses) + targets
        gains = np.exp(logs - logs.max()).sum(axis=1)
        gains[chosen] = -np.inf
        chosen.append(int(gains.argmax()))
        nearest = np.maximum(nearest, guesses[chosen[-1]])
    return np.array(chosen)


def choose_by_adagres(E: np.ndarray, c: np.ndarray, k: int) -> np.ndarray:
    """AdaGReS: greedily maximise Σ c_i - β Σ_{i<j} w_ij with an adaptive weight (Peng et al., arXiv 2512.25052).

    β = mean relevance / ((k - 1) / 2 · mean similarity of two rows), both means over the pool. The publication
    estimates k from a budget of tokens; here k is given.
    """
    W = E @ E.T
    n = len(E)
    pairs = (W.sum() - np.trace(W)) / (n * (n - 1))
    beta = float(c.mean() / ((k - 1) / 2 * pairs)) if k > 1 else 0.0
    chosen: list[int] = []
    penalty = np.zeros(n)
    while len(chosen) < min(k, n):
        gains = c - beta * penalty
        gains[chosen] = -np.inf
        chosen.append(int(gains.argmax()))
        penalty += W[chosen[-1]]
    return np.array(chosen)


def choose_different_texts(E: np.ndarray, c: np.ndarray, k: int, texts: list[str]) -> np.ndarray:
    """Walk down the ranking and skip every passage whose text is that of a chosen one."""
    first: dict[str, int] = {}
    for place, text in enumerate(texts):
        first.setdefault(text, place)
    return np.array(list(first.values())[:k])


CHOOSERS: dict[str, Callable[..., Any]] = {
    "filter": choose_by_filter,
    "texts": choose_different_texts,
    "pyversity": choose_by_pyversity,
    "dartboard": choose_by_dartboard,
    "adagres": choose_by_adagres,
}
"""The choosers by the name that a setting gives in `by`."""
