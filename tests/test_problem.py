from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from breadth import Problem, metrics
from tests import dense
from tests.strategies import instances
from tests.synthetic import unit


@given(instances())
def test_value_is_the_objective_with_its_pairs_written_out(case):
    for S in list(dense.all_sets(len(case.E), case.k))[:20]:
        assert case.problem().value(case.E[list(S)]) == pytest.approx(dense.objective(case.E, case.c, S, case.theta))


@given(instances())
def test_reported_scale_is_relevance_and_ilad(case):
    rows = case.E[: case.k]
    expected = case.theta * metrics.mean_relevance(rows, case.q) + (1 - case.theta) * (metrics.ilad(rows) - 1)
    assert case.problem().objective(rows) == pytest.approx(expected)


@given(instances(), st.floats(0, 5))
def test_relaxed_value_and_gradient_match_the_dense_form(case, penalty):
    x = case.rng.dirichlet(np.ones(len(case.E))) * case.k
    v = case.E.T @ x
    problem = case.problem(penalty)
    assert problem.relaxed(v, float(x @ x)) == pytest.approx(
        dense.relaxed(case.E, case.c, x, case.k, case.theta, penalty)
    )
    inner = case.E @ problem.direction(v)
    np.testing.assert_allclose(
        problem.gradient(inner, x), dense.gradient(case.E, case.c, x, case.k, case.theta, penalty), atol=1e-9
    )


@given(instances(), st.floats(0, 5), st.floats(0, 1))
def test_gap_and_curvature_are_the_expansion_along_a_direction(case, penalty, gamma):
    n, k = len(case.E), case.k
    x = case.rng.dirichlet(np.ones(n)) * k
    s = np.zeros(n)
    s[case.rng.choice(n, k, replace=False)] = 1
    d = s - x
    problem = case.problem(penalty)
    grad = dense.gradient(case.E, case.c, x, k, case.theta, penalty)
    gap = problem.frank_wolfe_gap(float(grad @ s), case.E.T @ x, float(x @ x))
    curvature = problem.curvature(float(d @ d), case.E.T @ d)
    assert gap == pytest.approx(float(grad @ d), abs=1e-9)
    after = dense.relaxed(case.E, case.c, x + gamma * d, k, case.theta, penalty)
    before = dense.relaxed(case.E, case.c, x, k, case.theta, penalty)
    assert after == pytest.approx(before + gamma * gap + gamma**2 * curvature / 2, abs=1e-8)


@given(instances(max_n=8), st.floats(0, 3), st.booleans())
def test_dual_bound_is_above_every_set(case, size, near_unit):
    E = case.E
    if near_unit:  # float16 or quantised rows: the constant must follow the lengths
        E = E * (1 + 1e-3 * case.rng.uniform(-1, 1, size=(len(E), 1)))
    longest = float(np.square(E).sum(axis=1).max())
    u = size * case.k * case.rng.standard_normal(E.shape[1])
    problem = case.problem()
    scores = np.sort(E @ problem.direction(u))[::-1][: case.k]
    bound = problem.dual_bound(u, scores, longest)
    for S in dense.all_sets(len(E), case.k):
        assert bound >= problem.value(E[list(S)]) - 1e-9


def test_dual_bound_wants_exactly_k_scores(rng):
    problem = Problem(unit(rng.standard_normal(4)), 3, 0.5)
    with pytest.raises(ValueError, match="k = 3"):
        problem.dual_bound(np.zeros(4), np.zeros(2))


@given(instances())
def test_scores_from_outside_are_the_same_problem_one_dimension_up(case):
    rows = np.column_stack((case.E, case.c))
    outside = Problem.from_scores(case.E.shape[1], case.k, case.theta)
    inside = case.problem()
    assert outside.value(rows[: case.k]) == pytest.approx(inside.value(case.E[: case.k]))
    v = rows[: case.k].sum(axis=0)
    np.testing.assert_allclose(rows @ outside.direction(v), case.E @ inside.direction(v[:-1]), atol=1e-9)


@given(instances())
def test_a_single_row_is_valued_by_relevance(case):
    problem = Problem(case.q, 1, case.theta)
    for row, relevance in zip(case.E, case.c, strict=True):
        assert problem.objective(row[None]) == pytest.approx(case.theta * relevance + (1 - case.theta) * (0 - 1))
