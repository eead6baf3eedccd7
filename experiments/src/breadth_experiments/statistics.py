"""How certain a mean over questions is: bootstrap intervals, and a paired test of two methods."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from breadth.bootstrap import Estimate, Values, estimate, resamples

__all__ = ["FLIPS", "Difference", "Estimate", "Values", "difference", "estimate", "flips_for", "holm", "resamples"]

FLIPS = 5000


@dataclass(frozen=True)
class Difference:
    """Mean of a - b over questions, its 95 % bootstrap interval, and the p-value of a paired test."""

    mean: float
    low: float
    high: float
    p: float

    def significant(self, level: float = 0.05) -> bool:
        return self.p < level


def difference(a: Values, b: Values, weights: Values, seed: int = 0, flips: int = FLIPS) -> Difference:
    """Compare two methods on the same questions.

    p is of the two-sided permutation test that flips the sign of each question's difference at random:
    (1 + #{|mean of flipped| ≥ |mean|}) / (1 + flips).
    """
    gap = a - b
    if not gap.any():
        return Difference(0.0, 0.0, 0.0, 1.0)
    found = estimate(gap, weights)
    rng = np.random.default_rng(seed)
    extreme = 0
    for start in range(0, flips, FLIPS):
        signs = rng.integers(0, 2, size=(min(FLIPS, flips - start), len(gap)), dtype=np.int8) * 2.0 - 1.0
        extreme += int(np.count_nonzero(np.abs(signs @ gap) / len(gap) >= abs(found.mean) - 1e-12))
    return Difference(found.mean, found.low, found.high, (1 + extreme) / (1 + flips))


def flips_for(tests: int) -> int:
    """How many flips it takes for a p-value that can stay significant after a correction for this many tests."""
    return max(FLIPS, 100 * tests)


def holm(values: list[float]) -> list[float]:
    """p-values corrected for their number m (Holm): the i-th smallest is multiplied by m - i + 1, never decreasing."""
    order = np.argsort(values)
    corrected = np.empty(len(values))
    running = 0.0
    for place, index in enumerate(order):
        running = max(running, min(1.0, values[index] * (len(values) - place)))
        corrected[index] = running
    return [float(p) for p in corrected]
