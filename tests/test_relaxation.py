"""The relaxation, which is computed from a few inner products, against its dense form."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from breadth.relaxation import Relaxation
from tests import dense
from tests.strategies import instances

penalties = st.floats(0, 5)


@given(instances(), penalties)
def test_value_and_gradient_match_the_dense_form(case, penalty):
    x = case.rng.dirichlet(np.ones(len(case.E))) * case.k
    v = case.E.T @ x
    relaxation = Relaxation(case.problem(), penalty)
    expected = dense.relaxed(case.E, case.c, x, case.k, case.theta, penalty)
    assert relaxation.value(v, float(x @ x)) == pytest.approx(expected)
    gradient = relaxation.gradient(case.E @ relaxation.problem.direction(v), x)
    np.testing.assert_allclose(gradient, dense.gradient(case.E, case.c, x, case.k, case.theta, penalty), atol=1e-9)


@given(instances(), penalties, st.floats(0, 1))
def test_gap_and_curvature_are_the_expansion_along_a_direction(case, penalty, gamma):
    n, k = len(case.E), case.k
    x = case.rng.dirichlet(np.ones(n)) * k
    s = np.zeros(n)
    s[case.rng.choice(n, k, replace=False)] = 1
    d = s - x
    relaxation = Relaxation(case.problem(), penalty)
    slope = dense.gradient(case.E, case.c, x, k, case.theta, penalty)
    gap = relaxation.gap(float(slope @ s), case.E.T @ x, float(x @ x))
    curvature = relaxation.curvature(float(d @ d), case.E.T @ d)
    assert gap == pytest.approx(float(slope @ d), abs=1e-9)
    after = dense.relaxed(case.E, case.c, x + gamma * d, k, case.theta, penalty)
    before = dense.relaxed(case.E, case.c, x, k, case.theta, penalty)
    assert after == pytest.approx(before + gamma * gap + gamma**2 * curvature / 2, abs=1e-8)


@given(instances(), penalties)
def test_on_sets_it_exceeds_the_objective_by_the_offset(case, penalty):
    relaxation = Relaxation(case.problem(), penalty)
    rows = case.E[: case.k]
    value = relaxation.value(rows.sum(axis=0), float(case.k))
    assert value == pytest.approx(case.problem().value(rows) + relaxation.offset(), abs=1e-9)


def test_the_default_penalty_is_the_papers(rng):
    assert Relaxation(None).penalty == 2.0
