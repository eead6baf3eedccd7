"""Small instances of coverage, and its definition and optimum by loops."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from hypothesis import strategies as st

from breadth.coverage.worth import match, weigh_targets
from tests.synthetic import SHAPES

CLOSE = 1e-9


@dataclass
class Case:
    S: np.ndarray
    weights: np.ndarray
    k: int
    rng: np.random.Generator

    @property
    def worth(self) -> np.ndarray:
        return self.S * self.weights

    def subsets(self, k):
        return [list(some) for some in combinations(range(len(self.S)), k)]


@st.composite
def cases(draw, max_n=9):
    """Real directions of every shape, or any numbers in [0, 1] with many ties; targets need not be the candidates."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, m = draw(st.integers(2, max_n)), draw(st.integers(1, 12))
    shape = draw(st.sampled_from([*sorted(SHAPES), "any", "steps"]))
    if shape == "any":
        S = rng.random((n, m))
    elif shape == "steps":
        S = rng.integers(0, 3, (n, m)) / 2.0
    else:
        rows = SHAPES[shape](rng, n + m, draw(st.integers(2, 6))).astype(np.float64)
        S = match(rows[:n] @ rows[n:].T, draw(st.sampled_from([1, 2, 8])))
    weights = weigh_targets(rng.standard_normal(m))
    return Case(S, weights, draw(st.integers(1, n)), rng)


def coverage_by_definition(case, chosen):
    """A loop over targets and members."""
    return sum(w * max((case.S[i, t] for i in chosen), default=0.0) for t, w in enumerate(case.weights))


def optimum(case, k):
    return max(coverage_by_definition(case, some) for some in case.subsets(k))
