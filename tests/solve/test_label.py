"""A set says that it is swap-optimal only if it is: `certificate.swap_optimal` and `stats["stopped"]`."""

from __future__ import annotations

import numpy as np
import pytest

import breadth
from breadth import ArrayOracle, CompactOracle
from tests.oracles.test_wrappers import SearchOnly
from tests.solve.promises import LITTLE, best_swap
from tests.synthetic import SHAPES, clustered, isotropic, query_near

PATHS = {"array": ArrayOracle, "compact": CompactOracle.build, "search only": SearchOnly}
every_path = pytest.mark.parametrize("path", sorted(PATHS))


def assert_label_is_true(E, q, found):
    if found.certificate.swap_optimal:
        assert best_swap(E, q, found.ids, found.theta) <= 1e-6
    if "stopped" in found.stats:
        assert found.certificate.swap_optimal is (found.stats["stopped"] in ("swap_optimal", "optimal"))


@every_path
@pytest.mark.parametrize("shape", sorted(SHAPES))
@pytest.mark.parametrize("options", [{}, {"effort": LITTLE}, {"prove": 0.05}], ids=str)
def test_the_label_of_a_selection(rng, path, shape, options):
    E = SHAPES[shape](rng, 800, 16)
    q = query_near(rng, E)
    labels = []
    for k, theta in ((2, 0.1), (5, 0.5), (12, 0.3), (12, 0.8), (50, 0.6)):
        found = breadth.select(PATHS[path](E), q, k=k, theta=theta, **options, sharpness=1)
        assert_label_is_true(E, q, found)
        labels.append(found.certificate.swap_optimal)
    assert any(labels)


@every_path
def test_stopping_early_claims_nothing(rng, path):
    E = clustered(rng, 3000, 16)
    q = query_near(rng, E)
    hasty = breadth.select(PATHS[path](E), q, k=20, theta=0.3, time_limit=0.0, sharpness=1)
    assert hasty.stats["stopped"] == "time_limit"
    assert not hasty.certificate.swap_optimal


@every_path
@pytest.mark.parametrize("shape", sorted(SHAPES))
@pytest.mark.parametrize("k", [3, 20])
def test_the_labels_of_a_frontier(rng, path, shape, k):
    E = SHAPES[shape](rng, 1200, 16)
    q = query_near(rng, E)
    curve = breadth.frontier(PATHS[path](E), q, k=k, thetas=(0.1, 0.3, 0.5, 0.7, 0.9, 1.0), sharpness=1)
    for found in curve:
        assert_label_is_true(E, q, found)
    assert curve[-1].certificate.swap_optimal  # θ = 1: plain top-k
    assert sum(found.certificate.swap_optimal for found in curve) >= 2


def test_a_frontier_without_time_claims_nothing_but_top_k(rng):
    E = clustered(rng, 3000, 16)
    curve = breadth.frontier(E, query_near(rng, E), k=20, thetas=(0.2, 0.6, 1.0), time_limit=0.0, sharpness=1)
    assert [found.certificate.swap_optimal for found in curve] == [False, False, True]


@pytest.mark.parametrize("how", [{"keep": 0.9}, {"theta": "auto"}], ids=str)
def test_the_label_where_theta_was_searched(rng, how):
    E = isotropic(rng, 2000, 24)
    for _ in range(3):
        q = query_near(rng, E)
        found = breadth.select(E, q, k=12, **how, sharpness=1)
        assert_label_is_true(E, q, found)
        assert found.certificate.swap_optimal


def test_best_swap_sees_what_it_should(rng):
    """The check itself: a set with a member that is clearly worse has a swap that gains, by just so much."""
    E = isotropic(rng, 50, 8).astype(np.float64)
    q = query_near(rng, E)
    best = breadth.select(E, q, k=4, theta=0.6, sharpness=1)
    assert best_swap(E, q, best.ids, 0.6) <= 1e-9
    worst = int(np.setdiff1d(np.argsort(E @ q)[:5], best.ids)[0])
    worse = np.array([*best.ids[:3], worst])
    lost = best.objective - breadth.Problem(q, 4, 0.6).objective(E[worse])
    assert best_swap(E, q, worse, 0.6) >= lost - 1e-9
    assert lost > 0
