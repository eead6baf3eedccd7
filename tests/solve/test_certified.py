"""Never worse than any other method, swap-optimal over the whole collection, with a bound that holds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import breadth
from breadth import ArrayOracle, InputError
from breadth.solve.effort import Effort
from tests import cores, dense
from tests.oracles.test_wrappers import SearchOnly
from tests.solve.promises import LITTLE, assert_beaten_by_none, best_swap
from tests.strategies import instances
from tests.synthetic import SHAPES, clustered, isotropic, query_near, unit

THETAS = [i / 10 for i in range(11)] if cores.IS_COMPILED else [0.1, 0.4, 0.8]
"""NumPy takes longer than the compiled core, so it sees fewer θ."""


@pytest.mark.parametrize("shape", sorted(SHAPES))
@pytest.mark.parametrize("k", [2, 3, 5, 10, 25, 100, 200])
def test_it_never_loses_and_no_swap_gains(rng, shape, k):
    E = SHAPES[shape](rng, 700, 24)
    never_loses(E, query_near(rng, E), k)


@pytest.mark.parametrize("k", [2, 5, 10, 25, 100])
@pytest.mark.parametrize("question", [0, 7])
def test_it_never_loses_on_real_passages(k, question):
    folder = Path(__file__).parents[2] / "examples" / "data" / "wikipedia"
    E, Q = (unit(np.load(folder / f"{name}.f16.npy").astype(np.float32)) for name in ("passages", "questions"))
    never_loses(E, Q[question], k)


def never_loses(E, q, k):
    oracle = ArrayOracle(E)
    for theta in THETAS:
        found = breadth.select(oracle, q, k=k, theta=theta, sharpness=1)
        assert found.stats["stopped"] == "swap_optimal"
        assert best_swap(E, q, found.ids, theta) <= 1e-6
        assert_beaten_by_none(oracle, q, found)


@pytest.mark.parametrize("theta", [0.1, 0.5, 0.8])
@pytest.mark.parametrize("k", [3, 20])
def test_collections_larger_than_memory_is_asked_to_hold(rng, theta, k):
    """With a small reserve the collection has to be priced by scans and screening: the same guarantees."""
    E = clustered(rng, 6000, 32)
    q = query_near(rng, E)
    for oracle in (ArrayOracle(E), SearchOnly(E)):
        found = breadth.select(oracle, q, k=k, theta=theta, effort=LITTLE, sharpness=1)
        assert found.stats["stopped"] == "swap_optimal"
        assert best_swap(E, q, found.ids, theta) <= 1e-6
        assert found.certificate.exact is oracle.exact
        for method in ("frank_wolfe", "greedy", "topk"):
            other = breadth.select(ArrayOracle(E), q, k=k, theta=theta, method=method, sharpness=1)
            assert found.objective >= other.objective - 1e-7, method


@pytest.mark.parametrize("theta", [0.7, 0.8, 0.9])
def test_screening_gives_the_same_answers_as_scanning(rng, theta):
    E = clustered(rng, 20_000, 32)
    for _ in range(3):
        q = query_near(rng, E)
        screened = breadth.select(ArrayOracle(E), q, k=10, theta=theta, effort=LITTLE, sharpness=1)
        searched = breadth.select(SearchOnly(E), q, k=10, theta=theta, effort=LITTLE, sharpness=1)
        assert set(screened.ids.tolist()) == set(searched.ids.tolist())
        assert screened.certificate.bound == pytest.approx(searched.certificate.bound, abs=2e-3)


@settings(max_examples=20)
@given(instances(max_n=10))
def test_theta_one_is_top_k_with_no_gap(case):
    found = breadth.select(case.E, case.q, k=case.k, theta=1.0, sharpness=1)
    assert found.relevance == pytest.approx(np.sort(case.c)[-case.k :].mean())
    assert found.certificate.gap == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"prove": -1}, "prove must be at least 0"),
        ({"time_limit": "soon"}, "time_limit must be a number"),
        ({"effort": 3}, "effort must be an Effort, got 3"),
    ],
)
def test_wrong_options(rng, options, message):
    E = isotropic(rng, 10, 4)
    with pytest.raises(InputError, match=message):
        breadth.select(E, E[0], k=3, **options, sharpness=1)


def test_scores_from_outside(rng):
    E = clustered(rng, 5000, 24)
    q = query_near(rng, E)
    by_query = breadth.select(E, q, k=8, theta=0.6, sharpness=1)
    by_scores = breadth.select(E, scores=E.astype(np.float64) @ q, k=8, theta=0.6, sharpness=1)
    assert by_scores.objective == pytest.approx(by_query.objective, abs=1e-6)
    assert by_scores.certificate.gap < 0.2


@cores.needs_compiled
@given(instances(max_n=11, thetas=st.floats(0, 0.98)))
def test_proving_ends_at_the_optimum(case):
    best = dense.optimum(case.E, case.c, case.k, case.theta) / (case.k * (case.k - 1))
    found = breadth.select(case.E, case.q, k=case.k, theta=case.theta, prove=10.0, sharpness=1)
    assert found.objective == pytest.approx(best, abs=2e-7)
    assert found.certificate.optimal
    assert found.certificate.bound >= best - 1e-7
    assert found.stats["stopped"] == "optimal"


@cores.needs_compiled
def test_proving_on_a_larger_collection(rng):
    """Survivors outside memory have to be fetched: the same optimum on every kind of oracle."""
    effort = Effort(held=200, whole=100)
    E = clustered(rng, 5000, 32)
    q = query_near(rng, E)
    plain = breadth.select(E, q, k=6, theta=0.85, sharpness=1)
    proved = [
        breadth.select(oracle, q, k=6, theta=0.85, prove=20.0, effort=effort, sharpness=1)
        for oracle in (ArrayOracle(E), SearchOnly(E))
    ]
    for found in proved:
        assert found.certificate.gap <= 1e-7
        assert found.objective >= plain.objective - 1e-9
        assert found.certificate.bound <= plain.certificate.bound + 1e-6
    assert proved[0].certificate.optimal
    assert proved[0].stats["stopped"] == "optimal"
    assert not proved[1].certificate.optimal  # its engine does not call itself exact
    assert set(proved[0].ids.tolist()) == set(proved[1].ids.tolist())


def test_copies_in_float16_do_not_run_in_circles(rng):
    """Rows a little longer than 1: swapping copies must not look like a gain."""
    E = np.repeat(isotropic(rng, 150, 64), 2, axis=0).astype(np.float16)
    found = breadth.select(E, query_near(rng, E.astype(np.float64)), k=8, theta=0.7, sharpness=1)
    assert found.stats["swaps"] < 1000


@pytest.mark.parametrize("reserve", [20, 4096])
def test_rows_of_slightly_different_length(rng, reserve):
    effort = Effort(held=reserve, whole=reserve)
    for _ in range(10):
        E = isotropic(rng, 60, 4).astype(np.float64) * rng.uniform(0.9991, 1.0, size=(60, 1))
        q = unit(rng.standard_normal(4))
        found = breadth.select(E, q, k=3, theta=0.4, effort=effort, sharpness=1)
        assert min(reason.loss for reason in found.explain()) >= -1e-6
        best = breadth.select(E, q, k=3, theta=0.4, method="exact")
        assert found.certificate.bound >= best.objective - 1e-6


def test_one_row_repeated_thousands_of_times(rng):
    E = np.repeat(isotropic(rng, 1, 16), 4200, axis=0)
    found = breadth.select(E, query_near(rng, E), k=5, theta=0.7, sharpness=1)
    assert found.certificate.gap <= 1e-4
    mixed = np.concatenate((np.repeat(isotropic(rng, 1, 16), 5000, axis=0), clustered(rng, 3000, 16)))
    found = breadth.select(mixed, query_near(rng, mixed[:1]), k=10, theta=0.7, sharpness=1)
    assert found.stats["stopped"] == "swap_optimal"
    assert found.certificate.gap <= 0.3 / 9 + 1e-6


def test_one_dimension(rng):
    E = np.where(rng.uniform(size=(4200, 1)) < 0.5, 1.0, -1.0)
    found = breadth.select(E, [1.0], k=5, theta=0.3, sharpness=1)
    assert found.stats["stopped"] == "swap_optimal"
    assert found.stats["rounds"] < 10
