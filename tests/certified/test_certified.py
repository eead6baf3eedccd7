"""Never worse than any other method, swap-optimal over the whole collection, with a bound that holds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import breadth
from breadth import ArrayOracle, CountingOracle, InputError, Problem, kernels
from breadth.certified import concave
from breadth.certified.block import Block
from breadth.certified.branch import BranchAndBound
from breadth.certified.effort import Effort
from breadth.certified.pricing.screen import Screen
from breadth.clock import Clock
from tests import dense
from tests.certified.promises import LITTLE, assert_beaten_by_none, best_swap
from tests.oracles.test_wrappers import SearchOnly
from tests.strategies import instances
from tests.synthetic import SHAPES, clustered, isotropic, query_near, unit

THETAS = [i / 10 for i in range(11)] if kernels.choose() == "numba" else [0.1, 0.4, 0.8]
"""Sets are the same with all kernels (`test_kernels_agree.py`), so NumPy's, which take longer, see fewer θ."""


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


@given(st.integers(0, 2**32 - 1), st.booleans(), st.integers(0, 3))
def test_screening_excludes_no_row_that_reaches_the_threshold(seed, outside, learnt):
    rng = np.random.default_rng(seed)
    E = isotropic(rng, 200, 12)
    relevance = rng.uniform(size=200)
    problem = Problem.from_scores(12, 5, 0.4) if outside else Problem(unit(rng.standard_normal(12)), 5, 0.4)
    rows = np.column_stack((E, relevance)) if outside else E.astype(np.float64)
    screen = Screen(problem, rows @ problem.query, 1.0 + 1e-6)
    for _ in range(learnt):
        w = problem.direction(rng.standard_normal(len(problem.query)) * 3)
        screen.learn(w, rows @ w)
    w = problem.direction(rng.standard_normal(len(problem.query)) * 3)
    threshold = float(np.quantile(rows @ w, rng.uniform()))
    assert set(np.flatnonzero(rows @ w > threshold)) <= set(screen.above(w, threshold).tolist())


def test_a_direction_that_was_scanned_is_known_exactly(rng):
    E = isotropic(rng, 500, 12).astype(np.float64)
    problem = Problem(unit(rng.standard_normal(12)), 5, 0.4)
    screen = Screen(problem, E @ problem.query, 1.0)
    w = problem.direction(rng.standard_normal(12))
    screen.learn(w, E @ w)
    threshold = float(np.median(E @ w))
    assert len(screen.above(w, threshold)) == pytest.approx(250, abs=3)


@given(instances(max_n=10, thetas=st.floats(0, 0.95)))
def test_the_concave_relaxation_is_maximised(case):
    block = Block(case.problem())
    block.add(case.E)
    start = np.zeros(len(case.E))
    start[: case.k] = 1.0
    wanted = 1e-5 * case.problem().scale
    x = concave.maximise(block.linear, block.gram, case.k, block.problem.coupling, start, wanted, max_rounds=400)
    assert x.sum() == pytest.approx(case.k)
    assert x.min() >= 0
    assert x.max() <= 1
    gradient = block.linear - block.problem.coupling * (block.gram @ x)
    gap = np.sort(gradient)[-case.k :].sum() - gradient @ x
    assert gap <= 1e-4 * case.problem().scale


@given(st.integers(2, 40), st.data(), st.integers(0, 2**32 - 1))
def test_projection_is_onto_the_capped_simplex(n, data, seed):
    k = data.draw(st.integers(1, n - 1))
    y = np.random.default_rng(seed).standard_normal(n) * data.draw(st.sampled_from([0.01, 1.0, 30.0]))
    x = concave.project(y, k)
    assert x.sum() == pytest.approx(k)
    assert x.min() >= 0
    assert x.max() <= 1
    between = (x > 1e-9) & (x < 1 - 1e-9)
    if between.any():  # one shift for all entries between the limits
        shift = (y - x)[between]
        assert np.ptp(shift) <= 1e-8 * max(1.0, np.abs(y).max())
        assert (y[x >= 1 - 1e-9] - 1 >= shift.mean() - 1e-7).all()
        assert (y[x <= 1e-9] <= shift.mean() + 1e-7).all()


@settings(max_examples=20)
@given(instances(max_n=10))
def test_theta_one_is_top_k_with_no_gap(case):
    found = breadth.select(case.E, case.q, k=case.k, theta=1.0, sharpness=1)
    assert found.relevance == pytest.approx(np.sort(case.c)[-case.k :].mean())
    assert found.certificate.gap == 0


def test_a_tolerance_stops_early_and_keeps_its_word(rng):
    E = clustered(rng, 30_000, 32)
    q = query_near(rng, E)
    careful = CountingOracle(ArrayOracle(E))
    exact = breadth.select(careful, q, k=10, theta=0.6, sharpness=1)
    hasty = CountingOracle(ArrayOracle(E))
    found = breadth.select(hasty, q, k=10, theta=0.6, tolerance=0.2, sharpness=1)
    assert found.stats["stopped"] == "tolerance"
    assert found.certificate.gap <= 0.2
    assert hasty.searches <= careful.searches
    assert found.certificate.bound >= exact.objective - 1e-6


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tolerance": -1}, "tolerance must be at least 0"),
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


@given(instances(max_n=11, thetas=st.floats(0, 0.98)))
def test_proving_ends_at_the_optimum(case):
    best = dense.optimum(case.E, case.c, case.k, case.theta) / (case.k * (case.k - 1))
    found = breadth.select(case.E, case.q, k=case.k, theta=case.theta, prove=10.0, sharpness=1)
    assert found.objective == pytest.approx(best, abs=2e-7)
    assert found.certificate.optimal
    assert found.certificate.bound >= best - 1e-7
    assert found.stats["stopped"] == "optimal"


@given(instances(max_n=11, thetas=st.floats(0, 0.98)))
def test_branch_and_bound_finds_the_optimum_from_any_set(case):
    chosen = case.rng.permutation(len(case.E))[: case.k]
    linear = case.theta * (case.k - 1) * case.c
    search = BranchAndBound(linear, case.E, case.k, 2 * (1 - case.theta), chosen)
    closed = search.run(np.inf, Clock(30.0), 1e-9)
    best = dense.optimum(case.E, case.c, case.k, case.theta)
    assert closed.value == pytest.approx(best, abs=1e-8)
    assert closed.bound == pytest.approx(best, abs=1e-8)
    assert len(set(closed.chosen.tolist())) == case.k


@given(instances(max_n=10, thetas=st.floats(0, 0.98)))
def test_branch_and_bound_that_runs_out_of_time_still_bounds(case):
    chosen = np.arange(case.k)
    linear = case.theta * (case.k - 1) * case.c
    closed = BranchAndBound(linear, case.E, case.k, 2 * (1 - case.theta), chosen).run(1e9, Clock(0.0), 1e-9)
    assert closed.bound == 1e9
    assert closed.nodes == 0


def test_proving_on_a_larger_collection(rng):
    """Survivors outside memory have to be fetched: the same optimum on every kind of oracle."""
    effort = Effort(held=200, held_when_near=50, whole=100, whole_when_low=100)
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
    effort = Effort(held=reserve, held_when_near=reserve, whole=reserve, whole_when_low=reserve)
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


@pytest.mark.parametrize("scale", [1e-3, 3e-4, 3e-5])
def test_screening_survives_directions_that_are_nearly_known(rng, scale):
    E = isotropic(rng, 4000, 24)
    problem = Problem(unit(rng.standard_normal(24)), 5, 0.4)
    screen = Screen(problem, E @ problem.query.astype(np.float32), 1.0 + 1e-6)
    w, other = 20 * unit(rng.standard_normal(24)), rng.standard_normal(24)
    for direction in (w, w + scale * other):
        screen.learn(direction, E @ direction.astype(np.float32))
    probe = w + 3 * other
    assert (screen.bounds(probe) >= E.astype(np.float64) @ probe).all()


def test_screening_of_near_copies_of_a_known_direction(rng):
    q = unit(rng.standard_normal(24))
    E = unit(q + 1e-4 * rng.standard_normal((2000, 24))).astype(np.float32)
    screen = Screen(Problem(q, 5, 0.4), E @ q.astype(np.float32), 1.0 + 1e-6)
    probe = q + 5 * rng.standard_normal(24)
    assert (screen.bounds(probe) >= E.astype(np.float64) @ probe).all()
