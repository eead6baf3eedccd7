"""How certain a mean over questions is: intervals from resampled questions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["LEVEL", "RESAMPLES", "Estimate", "Values", "estimate", "resamples"]

Values = npt.NDArray[np.float64]
RESAMPLES = 2000
LEVEL = 0.95


@dataclass(frozen=True)
class Estimate:
    """A mean over questions with its bootstrap interval, a 95 % one unless another level was asked for."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:.3f} ({self.low:.3f}–{self.high:.3f})"


def resamples(questions: int, seed: int = 0, count: int = RESAMPLES) -> Values:
    """Weights (count, questions) of bootstrap samples: how often a sample drew each question, as a share."""
    rng = np.random.default_rng(seed)
    drawn = rng.multinomial(questions, np.full(questions, 1.0 / questions), size=count)
    return drawn / questions


def estimate(values: Values, weights: Values, level: float = LEVEL) -> Estimate:
    """The mean of the values with its percentile interval: `level` of the means of the resamples lie inside.

    For a paired comparison, pass the differences of two methods on the same questions.
    """
    outside = 50.0 * (1.0 - level)
    low, high = np.percentile(weights @ values, [outside, 100.0 - outside])
    return Estimate(float(values.mean()), float(low), float(high))
