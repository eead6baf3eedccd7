"""Small random instances for property tests."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from breadth import Problem
from tests.synthetic import SHAPES, unit


@dataclass
class Instance:
    E: np.ndarray
    q: np.ndarray
    k: int
    theta: float
    rng: np.random.Generator

    @property
    def c(self) -> np.ndarray:
        return self.E @ self.q

    def problem(self) -> Problem:
        return Problem(self.q, self.k, self.theta)


_ALL_THETAS = st.floats(0, 1)


@st.composite
def instances(draw, max_n: int = 10, thetas=_ALL_THETAS):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(3, max_n))
    d = draw(st.integers(2, 8))
    k = draw(st.integers(2, n - 1))
    shape = draw(st.sampled_from(sorted(SHAPES)))
    E = unit(SHAPES[shape](rng, n, d).astype(np.float64))
    q = unit(rng.standard_normal(d))
    return Instance(E, q, k, draw(thetas), rng)
