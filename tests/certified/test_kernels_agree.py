"""The same call gives the same set with every implementation of the kernels."""

from __future__ import annotations

import numpy as np
import pytest

import breadth
from breadth import CompactOracle, kernels
from tests.certified.promises import LITTLE
from tests.synthetic import SHAPES, clustered, query_near

pytest.importorskip("numba", reason="numba is not installed, so there is one implementation alone")


def select_with_each(monkeypatch, *arguments, **options):
    found = []
    for name in kernels.NAMES:
        monkeypatch.setattr(kernels, "choose", lambda name=name: name)
        found.append(breadth.select(*arguments, **options, sharpness=1))
        assert found[-1].stats["kernels"] == name
    return found


def chosen_rows(E, found):
    """The rows of a set, sorted: between exact copies any choice is the same."""
    return np.sort(np.unique(E, axis=0, return_inverse=True)[1].ravel()[found.ids])


@pytest.mark.parametrize("shape", sorted(SHAPES))
@pytest.mark.parametrize("k", [3, 10, 25, 60])
@pytest.mark.parametrize("theta", [0.2, 0.45, 0.65, 0.9])
def test_sets_and_bounds_are_the_same(monkeypatch, shape, k, theta):
    rng = np.random.default_rng(int(1000 * theta) + k)
    E = SHAPES[shape](rng, int(rng.integers(300, 1500)), 24)
    first, *others = select_with_each(monkeypatch, E, query_near(rng, E), k=k, theta=theta)
    for other in others:
        np.testing.assert_array_equal(chosen_rows(E, other), chosen_rows(E, first))
        assert other.objective == pytest.approx(first.objective, abs=1e-9)
        if not first.certificate.optimal:  # numba may have gone through all sets that can be better
            assert other.certificate.bound == pytest.approx(first.certificate.bound, abs=1e-4)
        assert other.certificate.bound >= first.objective - 1e-7
        assert other.certificate.swap_optimal == first.certificate.swap_optimal


@pytest.mark.parametrize("theta", [0.3, 0.7])
@pytest.mark.parametrize("build", [breadth.ArrayOracle, CompactOracle.build])
def test_also_where_the_collection_is_priced(rng, monkeypatch, theta, build):
    E = clustered(rng, 5000, 24)
    q = query_near(rng, E)
    first, *others = select_with_each(monkeypatch, build(E), q, k=8, theta=theta, effort=LITTLE)
    for other in others:
        assert set(other.ids.tolist()) == set(first.ids.tolist())


def test_frontiers_are_the_same(rng, monkeypatch):
    E = clustered(rng, 1500, 24)
    q = query_near(rng, E)
    curves = []
    for name in kernels.NAMES:
        monkeypatch.setattr(kernels, "choose", lambda name=name: name)
        curves.append(breadth.frontier(E, q, k=12, sharpness=1))
    for points in zip(*curves, strict=True):
        assert len({frozenset(found.ids.tolist()) for found in points}) == 1
        assert len({found.certificate.swap_optimal for found in points}) == 1
