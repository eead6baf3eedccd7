"""The formulas of the objective against the definition with all pairs written out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from breadth import Problem, metrics
from breadth.problem import exchange_gain, floor, marginal
from tests import dense
from tests.strategies import instances

below_one = st.floats(0, 0.99)


@given(instances())
def test_value_is_the_objective_with_its_pairs_written_out(case):
    for S in list(dense.all_sets(len(case.E), case.k))[:20]:
        assert case.problem().value(case.E[list(S)]) == pytest.approx(dense.objective(case.E, case.c, S, case.theta))


@given(instances())
def test_reported_scale_is_relevance_and_ilad(case):
    problem, rows = case.problem(), case.E[: case.k]
    expected = case.theta * metrics.mean_relevance(rows, case.q) + (1 - case.theta) * (metrics.ilad(rows) - 1)
    assert problem.objective(rows) == pytest.approx(expected)
    assert problem.report(problem.value(rows)) == pytest.approx(expected)


@given(instances())
def test_a_single_row_is_valued_by_relevance(case):
    problem = Problem(case.q, 1, case.theta)
    for row, relevance in zip(case.E, case.c, strict=True):
        assert problem.objective(row[None]) == pytest.approx(case.theta * relevance + (1 - case.theta) * (0 - 1))


@given(instances(), st.floats(0.9, 1.1))
def test_an_exchange_gains_what_the_formula_says(case, length):
    """For rows of any length, and all of them at once or one by one."""
    E, problem = case.E.copy(), case.problem()
    E[0] *= length
    members, outside = np.arange(case.k), np.arange(case.k, len(E))
    before = problem.value(E[members])
    similarity = E @ E.T
    merits = marginal(problem.linear(E @ case.q), similarity[:, members].sum(axis=1), problem.coupling)
    floors = floor(merits[members], similarity.diagonal()[members], problem.coupling)
    gains = exchange_gain(merits[outside, None], similarity[np.ix_(outside, members)], floors[None], problem.coupling)
    for row, i in enumerate(outside):
        for j in members:
            after = problem.value(E[np.where(members == j, i, members)])
            assert gains[row, j] == pytest.approx(after - before, abs=1e-9)
            one = exchange_gain(float(merits[i]), float(similarity[i, j]), float(floors[j]), problem.coupling)
            assert one == gains[row, j]


@given(instances())
def test_the_marginal_value_is_what_adding_the_row_gains(case):
    problem = case.problem()
    rows = case.E[: case.k]
    similarity = float(rows[:-1].sum(axis=0) @ rows[-1])
    gain = marginal(float(problem.linear(rows[-1] @ case.q)), similarity, problem.coupling)
    assert gain == pytest.approx(problem.value(rows) - problem.value(rows[:-1]), abs=1e-9)


@given(instances(), st.sampled_from([1.0, 0.5, 0.0]))
def test_the_direction_searches_for_marginal_values(case, share):
    problem = case.problem()
    v = case.E[: case.k].sum(axis=0)
    expected = marginal(share * problem.linear(case.c), case.E @ v, problem.coupling)
    np.testing.assert_allclose(case.E @ problem.direction(v, share), expected, atol=1e-9)
    np.testing.assert_array_equal(problem.query, case.q)  # it is not changed on the way


@given(instances())
def test_a_replacement_direction_leaves_its_member_out(case):
    problem = case.problem()
    members = case.E[: case.k]
    directions = problem.replacement_directions(members)
    for j, direction in enumerate(directions):
        expected = problem.direction(np.delete(members, j, axis=0).sum(axis=0))
        np.testing.assert_allclose(direction, expected, atol=1e-9)


@given(instances(thetas=below_one), st.floats(0.9, 1.1))
def test_no_row_below_the_lowest_marginal_gains(case, length):
    E, problem = length * case.E, case.problem()
    members = E[: case.k]
    own = problem.own_similarities(members)
    w = problem.direction(members.sum(axis=0))
    floors = floor(members @ w, own, problem.coupling)
    lowest = problem.lowest_marginal(floors, own, length**2)
    before = problem.value(members)
    for i in np.flatnonzero(E[case.k :] @ w < lowest - 1e-9) + case.k:
        for j in range(case.k):
            assert problem.value(np.vstack((np.delete(members, j, axis=0), E[i]))) <= before + 1e-9


@given(instances(max_n=8), st.floats(0, 3), st.booleans())
def test_dual_bound_is_above_every_set(case, size, near_unit):
    E = case.E
    if near_unit:  # float16 or quantised rows: the constant must follow the lengths
        E = E * (1 + 1e-3 * case.rng.uniform(-1, 1, size=(len(E), 1)))
    longest = float(np.square(E).sum(axis=1).max())
    u = size * case.k * case.rng.standard_normal(E.shape[1])
    problem = case.problem()
    bound = problem.dual_bound(u, problem.allowed.best_sum(E @ problem.direction(u)), longest)
    for S in dense.all_sets(len(E), case.k):
        assert bound >= problem.value(E[list(S)]) - 1e-9


@given(instances(thetas=below_one))
def test_dual_bound_touches_a_set_that_the_search_finds_again(case):
    """D(v_S) = F(S) where S itself has the largest sum of scores for w(v_S)."""
    problem, rows = case.problem(), case.E[: case.k]
    v = rows.sum(axis=0)
    own_sum = float((rows @ problem.direction(v)).sum())
    assert problem.dual_bound(v, own_sum) == pytest.approx(problem.value(rows), abs=1e-9)


@given(instances())
def test_scores_from_outside_are_the_same_problem_one_dimension_up(case):
    rows = np.column_stack((case.E, case.c))
    outside = Problem.from_scores(case.E.shape[1], case.k, case.theta)
    inside = case.problem()
    assert outside.value(rows[: case.k]) == pytest.approx(inside.value(case.E[: case.k]))
    assert outside.squared_length(rows[0]) == pytest.approx(1.0)
    v = rows[: case.k].sum(axis=0)
    np.testing.assert_allclose(rows @ outside.direction(v), case.E @ inside.direction(v[:-1]), atol=1e-9)
    np.testing.assert_allclose(rows @ outside.similarity_direction(rows[0]), case.E @ case.E[0], atol=1e-9)
    np.testing.assert_allclose(
        rows @ outside.replacement_directions(rows[: case.k]).T,
        case.E @ inside.replacement_directions(case.E[: case.k]).T,
        atol=1e-9,
    )
