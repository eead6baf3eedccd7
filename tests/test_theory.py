"""The paper's theorems and DESIGN's lemma, on the package's own functions: relaxation, Frank-Wolfe, exchange gains."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from breadth import ArrayOracle, Problem
from breadth.drivers import run
from breadth.methods.frank_wolfe import ZERO_GAP, Iterate, Move, climb, exact_step
from breadth.oracles import describe
from breadth.problem import exchange_gain, floor
from breadth.relaxation import Relaxation
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


def value(relaxation, E, x):
    """f(x)."""
    return relaxation.value(E.T @ x, float(x @ x))


def gradient(relaxation, E, x):
    """∇f(x)."""
    return relaxation.gradient(E @ relaxation.problem.direction(E.T @ x), x)


def curvature(relaxation, E, d):
    """C along d: f(x + γd) = f(x) + γ⟨∇f(x), d⟩ + γ²C/2."""
    return relaxation.curvature(float(d @ d), E.T @ d)


def strict_local_maximiser(relaxation, E, S):
    """Every row outside has a smaller gradient than every row inside."""
    x = indicator(len(E), S)
    slope = gradient(relaxation, E, x)
    return slope[x == 0].max() < slope[x == 1].min() - 1e-9


def iterate(E, x):
    """The iterate of the package at x, with all rows held."""
    return Iterate(0.0, len(E), np.arange(len(E)), E, x.copy(), E.T @ x)


def frank_wolfe(relaxation, E, x, max_iterations):
    """Algorithm 1 from x, on the package's own loop: the last x, and how it went."""
    oracle, at = ArrayOracle(E), iterate(E, x)

    def step_size(move, t):
        return exact_step(move, t, relaxation, float(len(E)))

    went = run(climb(relaxation, describe(oracle), at, step_size, max_iterations), oracle)
    last = np.full(len(E), at.uniform)
    np.add.at(last, at.ids, at.weights)
    return last, went


# Theorem 1: the relaxation is tight for λ ≥ 2.


@given(instances(), st.floats(2, 6))
def test_theorem_1_pairwise_moves_never_lower_f_and_end_integral(case, penalty):
    relaxation = Relaxation(case.problem(), penalty)
    x = fractional_point(case)
    moves = 0
    while len(inside := fractional(x)) >= 2:
        slope = gradient(relaxation, case.E, x)
        i, j = inside[np.argmax(slope[inside])], inside[np.argmin(slope[inside])]
        if i == j:
            i, j = inside[:2]
        before = value(relaxation, case.E, x)
        delta = min(1 - x[i], x[j])
        x[i], x[j] = x[i] + delta, x[j] - delta
        assert value(relaxation, case.E, x) >= before - 1e-9
        moves += 1
        assert moves <= len(x)
    assert len(fractional(x)) == 0
    assert x.sum() == pytest.approx(case.k)


@given(instances(max_n=8), st.floats(2, 4))
def test_theorem_1_the_relaxation_has_the_value_of_the_best_set(case, penalty):
    problem = case.problem()
    relaxation = Relaxation(problem, penalty)
    values = {S: problem.value(case.E[list(S)]) for S in dense.all_sets(len(case.E), case.k)}
    best = max(values, key=values.__getitem__)
    top = value(relaxation, case.E, indicator(len(case.E), best))
    assert top == pytest.approx(values[best] + relaxation.offset(), abs=1e-9)
    for _ in range(20):
        assert value(relaxation, case.E, fractional_point(case)) <= top + 1e-9


@given(instances(thetas=below_one))
def test_theorem_1_needs_its_penalty(case):
    """At λ = 0 the relaxation is concave: it bends the other way along every direction."""
    relaxation = Relaxation(case.problem(), 0.0)
    d = fractional_point(case) - fractional_point(case)
    assert curvature(relaxation, case.E, d) <= 1e-9


# Theorem 2: what is not integral is no local maximiser, and Algorithm 1 ends at one.


@given(instances(thetas=below_one), st.floats(2, 6))
def test_theorem_2_positive_curvature_between_any_two_fractional_rows(case, penalty):
    relaxation = Relaxation(case.problem(), penalty)
    W = case.E @ case.E.T
    inside = fractional(fractional_point(case))
    assume(len(inside) >= 2)
    for i in inside:
        for j in inside:
            if i != j and W[i, j] > -1 + 1e-6:
                d = np.zeros(len(W))
                d[i], d[j] = 1, -1
                bend = curvature(relaxation, case.E, d)
                assert bend == pytest.approx(4 * (1 - case.theta) * (penalty - 1 + W[i, j]))
                assert bend > 0


@given(st.integers(3, 8), st.data())
def test_theorem_2_a_fractional_stationary_point_is_a_saddle(n, data):
    k = data.draw(st.integers(2, n - 1))
    E = np.column_stack((np.eye(n) * np.sqrt(0.91), np.full(n, 0.3)))  # all rows alike for the last axis
    relaxation = Relaxation(Problem(np.eye(n + 1)[n], k, 0.5))
    x = np.full(n, k / n)
    slope = gradient(relaxation, E, x)
    assert np.ptp(slope) < 1e-12
    s = indicator(n, range(k))
    assert relaxation.gap(float(slope @ s), E.T @ x, float(x @ x)) == pytest.approx(0, abs=1e-9)
    moved = x.copy()
    moved[0], moved[1] = moved[0] + 0.01, moved[1] - 0.01
    assert value(relaxation, E, moved) > value(relaxation, E, x)


@given(instances(thetas=below_one), st.floats(2, 5))
def test_theorem_2_frank_wolfe_ends_at_an_integral_local_maximiser(case, penalty):
    relaxation = Relaxation(case.problem(), penalty)
    x, went = frank_wolfe(relaxation, case.E, fractional_point(case), 2000)
    assume(went.converged and len(fractional(x)) == 0)
    slope = gradient(relaxation, case.E, x)
    assert slope[x == 0].max() <= slope[x == 1].min() + ZERO_GAP * relaxation.problem.scale
    best = value(relaxation, case.E, x)
    for _ in range(30):
        nearby = x + 1e-4 * (fractional_point(case) - x)
        assert value(relaxation, case.E, nearby) <= best + 1e-9


@given(instances(), st.floats(0, 5))
def test_every_iteration_of_frank_wolfe_takes_the_best_point_of_its_line(case, penalty):
    """The move that the package computes from a few numbers is the one of the dense form, and f never falls."""
    relaxation, E = Relaxation(case.problem(), penalty), case.E
    x = fractional_point(case)
    slope = gradient(relaxation, E, x)
    vertex = relaxation.problem.allowed.best(slope)
    s = indicator(len(E), vertex)
    at = iterate(E, x)
    move = Move.towards(vertex, at, float(slope[vertex].sum()), relaxation)
    assert move.gap == pytest.approx(float(slope @ (s - x)), abs=1e-9)
    assert move.gap >= -1e-9
    assert move.squared == pytest.approx(float((s - x) @ (s - x)), abs=1e-9)
    assume(move.gap > ZERO_GAP * relaxation.problem.scale)  # else Algorithm 1 ends here
    gamma = exact_step(move, 0, relaxation, float(len(E)))
    reached = value(relaxation, E, x + gamma * (s - x))
    for other in np.linspace(0, 1, 11):
        assert reached >= value(relaxation, E, x + other * (s - x)) - 1e-8
    at.step(vertex, move.image, gamma)
    np.testing.assert_allclose(at.v, E.T @ (x + gamma * (s - x)), atol=1e-9)
    assert relaxation.value(at.v, at.squared) == pytest.approx(reached, abs=1e-8)


# Theorem 3: a larger penalty adds local maximisers, and removes none.


@given(instances(max_n=8, thetas=below_one), st.floats(2, 4), st.floats(0.01, 4))
def test_theorem_3_local_maximisers_persist_as_the_penalty_grows(case, penalty, more):
    small, large = Relaxation(case.problem(), penalty), Relaxation(case.problem(), penalty + more)
    for S in dense.all_sets(len(case.E), case.k):
        if strict_local_maximiser(small, case.E, S):
            assert strict_local_maximiser(large, case.E, S)


# Theorem 4: close to a strict local maximiser one step ends it.


@given(instances(max_n=8, thetas=below_one))
def test_theorem_4_one_step_from_a_neighbourhood(case):
    relaxation, E, n = Relaxation(case.problem()), case.E, len(case.E)
    largest = relaxation.problem.coupling * max(relaxation.penalty, n)  # no eigenvalue of the Hessian is larger
    for S in dense.all_sets(n, case.k):
        star = indicator(n, S)
        slope = gradient(relaxation, E, star)
        margin = slope[star == 1].min() - slope[star == 0].max()
        if margin > 1e-2:
            d = fractional_point(case) - star
            start = star + min(0.1, margin / (4 * largest * max(float(np.linalg.norm(d)), 1e-9))) * d
            left = float(start[star == 0].sum())
            x, went = frank_wolfe(relaxation, E, start, 1)
            if margin * left / 2 > ZERO_GAP * relaxation.problem.scale:  # else the start is as good as the set
                assert (went.iterations, went.converged) == (1, False)
                np.testing.assert_array_equal(x, star)
            x, went = frank_wolfe(relaxation, E, star, 1)
            assert went.converged
            np.testing.assert_array_equal(x, star)


# The lemma: swap-optimal sets are stationary for Algorithm 1, not the other way round.


@given(instances(max_n=8, thetas=below_one))
def test_swap_optimal_sets_are_stationary_for_algorithm_1(case):
    problem, E = case.problem(), case.E
    relaxation = Relaxation(problem)
    for S in map(list, dense.all_sets(len(E), case.k)):
        outside = problem.allowed.may_enter(np.arange(len(E)), np.array(S))
        merits = E @ problem.direction(E[S].sum(axis=0))
        floors = floor(merits[S], problem.own_similarities(E[S]), problem.coupling)
        gains = exchange_gain(merits[outside, None], E[outside] @ E[S].T, floors[None], problem.coupling)
        for row, i in enumerate(np.flatnonzero(outside)):
            for place in range(case.k):
                swapped = [i if m == place else j for m, j in enumerate(S)]
                gained = problem.value(E[swapped]) - problem.value(E[S])
                assert gains[row, place] == pytest.approx(gained, abs=1e-9)
        if gains.max() <= 0:
            slope = gradient(relaxation, E, indicator(len(E), S))
            assert slope[outside].max() <= slope[S].min() + 1e-9
            assert merits[outside].max() <= merits[S].min() + 4 * (1 - case.theta) + 1e-9
            _, went = frank_wolfe(relaxation, E, indicator(len(E), S), 1)
            assert went.converged
