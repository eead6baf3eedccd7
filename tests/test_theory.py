"""The paper's theorems and DESIGN's lemmas, on random instances and by brute force."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests import dense
from tests.strategies import instances

below_one = st.floats(0, 0.99)


def fractional_point(case):
    """A feasible point of [0,1]^n with sum k, some coordinates at their limits and at least two between."""
    n, k = len(case.E), case.k
    x = np.full(n, k / n)
    for _ in range(3 * n):
        i, j = case.rng.choice(n, 2, replace=False)
        move = min(1 - x[i], x[j]) * case.rng.choice([0.3, 0.7, 1.0])
        x[i], x[j] = x[i] + move, x[j] - move
    return x


def fractional(x):
    return np.flatnonzero((x > 1e-9) & (x < 1 - 1e-9))


def indicator(n, S):
    x = np.zeros(n)
    x[list(S)] = 1
    return x


def strict_local_maximiser(case, S, penalty):
    """Every row outside has a smaller gradient than every row inside."""
    x = indicator(len(case.E), S)
    grad = dense.gradient(case.E, case.c, x, case.k, case.theta, penalty)
    return grad[x == 0].max() < grad[x == 1].min() - 1e-9


@given(instances(), st.floats(2, 6))
def test_theorem_1_pairwise_moves_never_lower_f_and_end_integral(case, penalty):
    x = fractional_point(case)
    moves = 0
    while len(inside := fractional(x)) >= 2:
        grad = dense.gradient(case.E, case.c, x, case.k, case.theta, penalty)
        i, j = inside[np.argmax(grad[inside])], inside[np.argmin(grad[inside])]
        if i == j:
            i, j = inside[:2]
        before = dense.relaxed(case.E, case.c, x, case.k, case.theta, penalty)
        delta = min(1 - x[i], x[j])
        x[i], x[j] = x[i] + delta, x[j] - delta
        assert dense.relaxed(case.E, case.c, x, case.k, case.theta, penalty) >= before - 1e-9
        moves += 1
        assert moves <= len(x)
    assert len(fractional(x)) == 0
    assert x.sum() == pytest.approx(case.k)


@given(instances(max_n=8))
def test_theorem_1_the_relaxation_has_the_value_of_the_best_set(case):
    best = dense.optimum(case.E, case.c, case.k, case.theta)
    constant = (1 - case.theta) * (2 - 1) * case.k  # (1-θ)(λ - 1)k: f and F differ by it on sets
    for _ in range(20):
        x = fractional_point(case)
        assert dense.relaxed(case.E, case.c, x, case.k, case.theta) <= best + constant + 1e-9


@given(instances(thetas=below_one), st.floats(2, 6))
def test_theorem_2_positive_curvature_between_any_two_fractional_rows(case, penalty):
    W = case.E @ case.E.T
    x = fractional_point(case)
    inside = fractional(x)
    assume(len(inside) >= 2)
    for i in inside:
        for j in inside:
            if i != j and W[i, j] > -1 + 1e-6:
                d = np.zeros(len(x))
                d[i], d[j] = 1, -1
                curvature = d @ ((1 - case.theta) * (penalty * np.eye(len(x)) - W)) @ d
                assert curvature == pytest.approx(2 * (1 - case.theta) * (penalty - 1 + W[i, j]))
                assert curvature > 0


@given(st.integers(3, 8), st.data())
def test_theorem_2_a_fractional_stationary_point_is_a_saddle(n, data):
    k = data.draw(st.integers(2, n - 1))
    E, c = np.eye(n), np.full(n, 0.3)  # all rows alike: the uniform point is stationary
    x = np.full(n, k / n)
    grad = dense.gradient(E, c, x, k, 0.5)
    assert np.ptp(grad) < 1e-12
    moved = x.copy()
    moved[0], moved[1] = moved[0] + 0.01, moved[1] - 0.01
    assert dense.relaxed(E, c, moved, k, 0.5) > dense.relaxed(E, c, x, k, 0.5)


@given(instances(thetas=below_one), st.floats(2, 5))
def test_theorem_2_frank_wolfe_ends_at_an_integral_local_maximiser(case, penalty):
    x, steps = dense.algorithm1(case.E, case.c, case.k, case.theta, penalty, T=2000, start=fractional_point(case))
    assume(steps < 2000 and len(fractional(x)) == 0)
    best = dense.relaxed(case.E, case.c, x, case.k, case.theta, penalty)
    for _ in range(30):
        nearby = x + 1e-4 * (fractional_point(case) - x)
        assert dense.relaxed(case.E, case.c, nearby, case.k, case.theta, penalty) <= best + 1e-9


@given(instances(max_n=8, thetas=below_one), st.floats(2, 4), st.floats(0.01, 4))
def test_theorem_3_local_maximisers_persist_as_the_penalty_grows(case, penalty, more):
    for S in dense.all_sets(len(case.E), case.k):
        if strict_local_maximiser(case, S, penalty):
            assert strict_local_maximiser(case, S, penalty + more)


@given(instances(max_n=8, thetas=below_one))
def test_theorem_4_one_step_from_a_neighbourhood(case):
    for S in dense.all_sets(len(case.E), case.k):
        if strict_local_maximiser(case, S, 2.0):
            star = indicator(len(case.E), S)
            start = star + 1e-7 * (fractional_point(case) - star)
            x, _ = dense.algorithm1(case.E, case.c, case.k, case.theta, T=1, start=start)
            np.testing.assert_array_equal(x, star)


@given(instances(max_n=8, thetas=below_one))
def test_swap_optimal_sets_are_stationary_for_algorithm_1(case):
    n, theta = len(case.E), case.theta
    problem = case.problem()
    for S in dense.all_sets(n, case.k):
        inner = case.E @ problem.direction(case.E[list(S)].sum(axis=0))
        outside = [i for i in range(n) if i not in S]
        value = dense.objective(case.E, case.c, S, theta)
        gains = {}
        for i in outside:
            for j in S:
                swapped = [i if m == j else m for m in S]
                gain = inner[i] - inner[j] - 2 * (1 - theta) * (1 - case.E[i] @ case.E[j])
                assert gain == pytest.approx(dense.objective(case.E, case.c, swapped, theta) - value, abs=1e-9)
                gains[i, j] = gain
        if max(gains.values()) <= 0:
            assert max(inner[i] - inner[j] for i, j in gains) <= 4 * (1 - theta) + 1e-9
