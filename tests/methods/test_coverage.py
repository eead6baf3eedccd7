"""The method `coverage`: what is special to it."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import breadth
from breadth import InputError
from tests.synthetic import clustered, duplicated, isotropic, query_near, unit


def test_the_method_reports_the_coverage_that_the_metric_measures(rng):
    E = clustered(rng, 2000, 24)
    q = query_near(rng, E)
    for options, power, count in (({}, 8, 400), ({"sharpness": 2, "targets": 100}, 2, 100)):
        found = breadth.select(E, q, k=6, method="coverage", **options)
        top = breadth.select(E, q, k=6, method="topk")
        shares = [
            breadth.metrics.coverage(E, E.astype(np.float64) @ q, ids, sharpness=power, targets=count)
            for ids in (found.ids, top.ids)
        ]
        assert found.stats["targets"] == count
        assert found.stats["coverage"] == pytest.approx(shares[0], abs=1e-6)
        assert shares[0] > shares[1]
        assert found.stats["coverage"] <= found.stats["coverage_bound"] <= found.stats["coverage"] * 1.001
        assert found.certificate is None
        assert found.stats["scans"] == 1


def test_the_method_finds_the_optimum_of_a_small_collection(rng):
    E = isotropic(rng, 12, 5).astype(np.float64)
    q = query_near(rng, E)
    for k in (1, 3):
        found = breadth.select(E, q, k=k, method="coverage")
        best = max(combinations(range(12), k), key=lambda some: breadth.metrics.coverage(E, E @ q, some))
        assert sorted(found.ids.tolist()) == list(best)
        assert found.stats["coverage"] == pytest.approx(breadth.metrics.coverage(E, E @ q, best), abs=1e-6)
        assert found.stats["coverage_bound"] >= breadth.metrics.coverage(E, E @ q, best) - 1e-6


def test_the_method_takes_no_copies(rng):
    E = duplicated(rng, 80, 16)
    q = query_near(rng, E)
    different = len(np.unique(E, axis=0))
    found = breadth.select(E, q, k=different, method="coverage")
    assert len(np.unique(E[found.ids], axis=0)) == different
    assert found.stats["coverage"] == pytest.approx(1)


def test_of_copies_the_method_takes_the_most_relevant(rng):
    """With scores from outside, copies may differ in relevance."""
    E = np.repeat(unit(rng.standard_normal((8, 6))), 3, axis=0)
    scores = np.tile([0.1, 0.3, 0.2], 8) + np.repeat(rng.random(8), 3)
    found = breadth.select(E, scores=scores, k=8, method="coverage")
    assert sorted(found.ids.tolist()) == list(range(1, 24, 3))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sharpness": 3}, "sharpness must be 1 or an even number"),
        ({"targets": 4}, r"targets must be between k \(5\) and the number of rows \(30\), got 4"),
        ({"targets": 31}, "targets must be between"),
        ({"targets": 0}, "targets must be at least 1"),
    ],
)
def test_wrong_options(rng, options, message):
    E = isotropic(rng, 30, 6)
    with pytest.raises(InputError, match=message):
        breadth.select(E, E[0], k=5, method="coverage", **options)
