"""Whatever the collection can do, no other method finds a better set than `certified`."""

from __future__ import annotations

import numpy as np
import pytest

import breadth
from breadth import ArrayOracle, CompactOracle
from tests.oracles.test_wrappers import SearchOnly
from tests.solve.promises import assert_beaten_by_none, best_swap
from tests.synthetic import SHAPES, query_near

GRID = [
    (shape, n, k, theta)
    for shape, cases in {
        "clustered": [(600, 2, 0.4), (5000, 3, 0.1), (20_000, 2, 0.4), (20_000, 10, 0.6), (5000, 25, 0.3)],
        "isotropic": [(600, 6, 0.2), (1500, 60, 0.2), (5000, 5, 0.5), (20_000, 4, 0.7), (5000, 20, 0.9)],
        "duplicated": [(600, 3, 0.5), (1500, 12, 0.3), (5000, 6, 0.7), (20_000, 5, 0.6), (5000, 30, 0.5)],
        "narrow_cone": [(600, 2, 0.1), (1500, 25, 0.4), (5000, 10, 0.2), (20_000, 6, 0.5), (5000, 60, 0.8)],
    }.items()
    for n, k, theta in cases
]


@pytest.mark.parametrize(("shape", "n", "k", "theta"), GRID)
def test_no_path_loses_to_any_method(shape, n, k, theta):
    rng = np.random.default_rng(n + k)
    E = SHAPES[shape](rng, n, 24)
    q = query_near(rng, E)
    array = ArrayOracle(E)
    paths = [
        breadth.select(oracle, q, k=k, theta=theta, sharpness=1)
        for oracle in (array, CompactOracle.build(E), SearchOnly(E))
    ]
    for found in paths:
        assert found.certificate.swap_optimal
        assert best_swap(E, q, found.ids, theta) <= 1e-6
    assert_beaten_by_none(array, q, *paths)
