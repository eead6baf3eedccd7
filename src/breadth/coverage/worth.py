"""What each passage is worth to each relevant passage, and the coverage of a set.

The matrix `worth` has one row for each candidate i, one column for each target t, and holds ω_t s_it. The other modules
of this package work on it alone.
"""

from __future__ import annotations

import numpy as np

from breadth.arrays import Array, Positions, Vector
from breadth.problem import sharpen
from breadth.products import multiply
from breadth.ranking import best

SHARPNESS = 8
"""p in s(w) = w^p unless the caller says otherwise: a cosine of 0.9 counts 0.43, one of 0.5 counts 0.004."""

TARGETS = 400
"""How many of the most relevant passages are targets. By their weights they count as some 100 equal ones (ASQA)."""


def match(cosines: Array, sharpness: int) -> Vector:
    """Return s(w) = w^p for every cosine w, where p is the sharpness: a number in [0, 1].

    For p = 1 a negative cosine counts as 0: a passage cannot stand for less than nothing of another one. For even p the
    power is never negative. It treats w and -w alike, which matters little, because passages of one topic hardly ever
    have a strongly negative cosine. Rounding beyond [-1, 1] is cut off.
    """
    cosines = np.asarray(cosines, dtype=np.float64)
    if sharpness == 1:
        return np.clip(cosines, 0.0, 1.0)
    return sharpen(np.clip(cosines, -1.0, 1.0), sharpness)


def weigh_targets(relevance: Vector, temperature: float = 1.0) -> Vector:
    """Return ω, a probability over the targets: the softmax of their standardised relevance.

        ω_t ∝ exp(z_t / temperature),   z_t = (c_t - mean) / standard deviation

    Encoders differ in the scale of their cosines, and rerankers in that of their scores. Standardising takes the scale
    out: ω stays the same when all relevance is shifted or stretched. At temperature 1 a target weighs e = 2.7 times as
    much as one that is a standard deviation less relevant. A higher temperature moves ω towards equal weights, so that
    passages at the end of the list count like the best ones; a lower one towards the best hit alone. If all targets are
    equally relevant, they weigh the same.
    """
    spread = float(relevance.std())
    if spread <= 1e-12 * max(1.0, float(np.abs(relevance).max())):  # rounding, not a difference
        return np.full(len(relevance), 1.0 / len(relevance))
    scaled = (relevance - relevance.max()) / (spread * temperature)
    weights = np.exp(scaled)
    return np.asarray(weights / weights.sum())


def find_targets(relevance: Vector, count: int) -> Positions:
    """Return the positions of the `count` most relevant rows (all, if there are fewer), the most relevant first."""
    return best(relevance, min(count, len(relevance)))


def state_worth(candidates: Array, targets: Array, weights: Vector, sharpness: int) -> Vector:
    """Return the matrix ω_t s_it of candidates (n, d) and targets (m, d): (n, m).

    Rows need not have exactly unit length; they are divided by their lengths, so that a row stands for itself by 1.
    Cosines have the precision of the rows.
    """
    similarity = match(multiply(_make_unit(candidates), _make_unit(targets)), sharpness)
    similarity *= weights
    return similarity


def measure(worth: Vector, chosen: Positions) -> float:
    """Return C of the chosen candidates. For no candidates it is 0."""
    return float(worth[chosen].max(axis=0, initial=0.0).sum())


def measure_prefixes(worth: Vector, order: Positions) -> Vector:
    """Return C of the first candidate in `order`, of the first two, of the first three, and so on."""
    return np.asarray(np.maximum.accumulate(worth[order], axis=0).sum(axis=1))


def _make_unit(rows: Array) -> Array:
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
    lengths[lengths == 0.0] = 1.0  # a row without a direction stands for nothing
    return np.asarray(rows / lengths[:, None].astype(rows.dtype))
