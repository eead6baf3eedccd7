"""The bound against brute force and against the linear program."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from breadth.coverage.dual import StepRule, evaluate_bound, prove, solve
from breadth.coverage.worth import find_targets, measure, state_worth, weigh_targets
from tests.coverage.cases import CLOSE, cases, coverage_by_definition, optimum
from tests.synthetic import SHAPES, clustered, isotropic, query_near, unit


@given(cases(max_n=10), st.sampled_from(["zero", "small", "large", "negative"]))
def test_every_multiplier_gives_a_bound(case, kind):
    low, high = {"zero": (0, 0), "small": (0, 0.1), "large": (0, 2), "negative": (-0.3, 0.3)}[kind]
    multipliers = case.rng.uniform(low, high, len(case.weights))
    assert evaluate_bound(case.worth, multipliers, case.k) >= optimum(case, case.k) - CLOSE


@given(cases(max_n=12))
def test_the_bound_is_above_the_optimum_and_the_set_below_it(case):
    found = solve(case.worth, case.k)
    best = optimum(case, case.k)
    assert len(set(found.chosen.tolist())) == case.k
    assert found.coverage == pytest.approx(coverage_by_definition(case, found.chosen))
    assert found.coverage <= best + CLOSE
    assert found.bound >= best - CLOSE
    assert found.gap >= 0
    assert not found.stopped


@given(cases(max_n=12), st.integers(0, 8), st.sampled_from([0.0, 0.5, 0.95]), st.integers(1, 3))
def test_the_bound_holds_from_any_set_after_any_number_of_steps(case, passes, momentum, patience):
    """Also where the start is a bad set, so that better ones are met on the way."""
    start = case.rng.permutation(len(case.S))[: case.k]
    found = prove(case.worth, start, rule=StepRule(passes, momentum, patience, shrink=1.0))
    best = optimum(case, case.k)
    assert measure(case.worth, start) - CLOSE <= found.coverage <= best + CLOSE
    assert found.coverage == pytest.approx(measure(case.worth, found.chosen))
    assert found.bound >= best - CLOSE


def linear_program(worth, k):
    """The relaxation of the k-median problem: x_it ≤ y_i, Σ_i x_it ≤ 1, Σ_i y_i ≤ k."""
    optimize, sparse = pytest.importorskip("scipy.optimize"), pytest.importorskip("scipy.sparse")
    n, m = worth.shape
    once = sparse.hstack([sparse.kron(np.ones((1, n)), sparse.eye(m)), sparse.csr_matrix((m, n))])
    opened = sparse.hstack([sparse.eye(n * m), -sparse.kron(sparse.eye(n), np.ones((m, 1)))])
    count = sparse.hstack([sparse.csr_matrix((1, n * m)), np.ones((1, n))])
    limits = np.concatenate([np.ones(m), np.zeros(n * m), [k]])
    scale = 1000.0  # HiGHS looks at absolute differences of 1e-7
    costs = np.concatenate([-scale * worth.ravel(), np.zeros(n)])
    rows = sparse.vstack([once, opened, count]).tocsr()
    return -optimize.linprog(costs, A_ub=rows, b_ub=limits, bounds=(0, 1), method="highs").fun / scale


@pytest.mark.parametrize("shape", sorted(SHAPES))
@pytest.mark.parametrize("sharpness", [1, 2, 8])
@pytest.mark.parametrize("k", [3, 8])
def test_the_bound_comes_close_to_the_linear_program(rng, shape, sharpness, k):
    """It cannot be lower unless the set is optimal, where the bound is the set's coverage."""
    E = SHAPES[shape](rng, 40, 8).astype(np.float64)
    worth = state_worth(E, E, weigh_targets(E @ query_near(rng, E)), sharpness)
    found, relaxed = solve(worth, k), linear_program(worth, k)
    assert found.coverage <= relaxed + 1e-7
    assert found.bound <= relaxed + 2e-3
    assert found.bound >= relaxed - 1e-7 or found.gap <= 1e-6


@pytest.mark.parametrize("k", [1, 3, 10, 25])
def test_on_a_collection_with_topics_the_bound_is_within_a_thousandth_of_the_linear_program(rng, k):
    E = clustered(rng, 4000, 32).astype(np.float64)
    proved = 0
    for q in (query_near(rng, E) for _ in range(5)):
        pool = find_targets(E @ q, 100)
        worth = state_worth(E[pool], E[pool], weigh_targets(E[pool] @ q), 8)
        found = solve(worth, k)
        proved += found.gap <= 1e-6
        assert found.gap <= 1e-6 or found.bound <= 1.001 * linear_program(worth, k)
    assert proved >= 4


def test_copies_do_not_loosen_the_bound(rng):
    """Copies that are alike but for rounding: without merging them the gap stays a few thousandths."""
    E = clustered(rng, 60, 32).astype(np.float64)
    relevance = E @ query_near(rng, E)
    for noise in (0.0, 1e-9):
        many = np.repeat(E, 5, axis=0)
        many = unit(many + noise * rng.standard_normal(many.shape))
        found = solve(state_worth(many, many, weigh_targets(np.repeat(relevance, 5)), 8), 8)
        plain = solve(state_worth(E, E, weigh_targets(relevance), 8), 8)
        assert found.coverage == pytest.approx(plain.coverage, abs=1e-6)
        assert found.gap <= 1e-6
        assert len(np.unique(found.chosen // 5)) == 8


@given(cases(max_n=6), st.sampled_from([1e-10, 1e-9, 1e-8, 1e-6]))
def test_merging_what_is_nearly_the_same_keeps_the_bound_valid(case, noise):
    """Rows that are a little better than the row that is kept in their place."""
    k = min(case.k, 3)
    worth = np.concatenate([case.worth, case.worth + noise * case.rng.random(case.S.shape)])
    start = max(case.subsets(k), key=lambda some: measure(worth, np.array(some)))
    best = max(measure(worth, np.array(some)) for some in combinations(range(len(worth)), k))
    assert prove(worth, np.array(start)).bound >= best - 1e-14


def test_a_set_of_copies_keeps_its_size():
    """There are fewer different rows than places: merging would leave too few."""
    worth = np.repeat(np.diag([0.5, 0.3]), 3, axis=0)
    found = prove(worth, np.array([0, 1, 2]))
    assert len(set(found.chosen.tolist())) == 3
    assert found.bound >= 0.8 - CLOSE


@pytest.mark.parametrize(("seed", "dim", "sharpness"), [(0, 12, 2), (0, 12, 1), (2, 4, 1)])
def test_the_bound_comes_close_to_a_linear_program_that_is_not_tight(seed, dim, sharpness):
    """The box around the set holds no optimal multipliers here; inside it the bound stays 0.1 % to 1.3 % off."""
    E = isotropic(np.random.default_rng(seed), 60, dim).astype(np.float64)
    worth = state_worth(E, E, weigh_targets(E @ E[0]), sharpness)
    found, relaxed = solve(worth, 8), linear_program(worth, 8)
    assert found.gap > 1e-4
    assert relaxed - 1e-7 <= found.bound <= 1.0002 * relaxed
