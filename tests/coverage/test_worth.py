"""Similarity, weights and the coverage of a set, from their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from breadth import InputError
from breadth.checks import check_sharpness
from breadth.coverage.worth import (
    find_targets,
    match,
    measure,
    measure_prefixes,
    state_worth,
    weigh_targets,
)
from tests.coverage.cases import CLOSE, cases, coverage_by_definition
from tests.synthetic import isotropic


@pytest.mark.parametrize("sharpness", [1, 2, 4, 6, 8, 10, 16, 32])
def test_sharp_similarity_is_the_power_of_the_cosine(sharpness):
    cosines = np.linspace(-1, 1, 41).reshape(1, -1)
    expected = np.where(cosines < 0, 0.0, cosines) if sharpness == 1 else cosines**sharpness
    np.testing.assert_allclose(match(cosines, sharpness), expected, atol=1e-15)
    before = cosines.copy()
    match(cosines, sharpness)
    np.testing.assert_array_equal(cosines, before)


def test_rounding_beyond_one_does_not_make_a_similarity_above_one():
    assert match(np.array([1.0 + 1e-12, -1.0 - 1e-12]), 16).max() == 1.0
    assert match(np.array([1.0 + 1e-12]), 1).max() == 1.0


@pytest.mark.parametrize("sharpness", [1, 2, 8, np.int64(4)])
def test_sharpness_is_one_or_even(sharpness):
    assert check_sharpness(sharpness) == sharpness


@pytest.mark.parametrize("sharpness", [0, -2, 3, 7, 2.0, "8", True, None])
def test_other_sharpness_is_an_error(sharpness):
    with pytest.raises(InputError, match="sharpness must be"):
        check_sharpness(sharpness)


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=30), st.floats(0.01, 100), st.floats(-50, 50))
def test_weights_are_a_probability_that_ignores_shift_and_scale(values, scale, shift):
    relevance = np.array(values)
    weights = weigh_targets(relevance)
    assert weights.sum() == pytest.approx(1)
    assert (weights > 0).all() or relevance.std() > 0
    if relevance.std() > 1e-3:
        np.testing.assert_allclose(weigh_targets(scale * relevance + shift), weights, rtol=1e-4, atol=1e-12)
        assert (np.diff(weights[np.argsort(relevance)]) >= 0).all()
    elif relevance.std() == 0:
        np.testing.assert_allclose(weights, 1 / len(values))


def test_a_standard_deviation_is_worth_a_factor_of_e():
    relevance = np.array([-1.0, 1.0, -1.0, 1.0])
    weights = weigh_targets(relevance)
    assert weights[1] / weights[0] == pytest.approx(np.e**2)
    cold, warm = weigh_targets(relevance, temperature=0.5), weigh_targets(relevance, temperature=4.0)
    assert cold[1] / cold[0] == pytest.approx(np.e**4)
    assert warm[1] / warm[0] == pytest.approx(np.e**0.5)


def test_targets_are_the_most_relevant_rows():
    assert find_targets(np.array([0.1, 0.9, 0.5, 0.9]), 3).tolist() == [1, 3, 2]
    assert find_targets(np.array([0.1, 0.9]), 5).tolist() == [1, 0]


@pytest.mark.parametrize("sharpness", [1, 8])
def test_all_targets_together_cover_everything_even_if_slightly_short(rng, sharpness):
    rows = isotropic(rng, 30, 8) * rng.uniform(0.999, 1.001, 30)[:, None]
    worth = state_worth(rows, rows, weigh_targets(rng.standard_normal(30)), sharpness)
    assert measure(worth, np.arange(30)) == pytest.approx(1, abs=1e-12)
    assert (worth.max(axis=0) == np.diag(worth)).all()


def test_a_row_without_direction_stands_for_nothing():
    worth = state_worth(np.array([[0.0, 0.0], [1.0, 0.0]]), np.eye(2), np.array([0.5, 0.5]), 2)
    np.testing.assert_array_equal(worth, [[0.0, 0.0], [0.5, 0.0]])


# Coverage


@given(cases())
def test_coverage_is_what_its_definition_says(case):
    order = case.rng.permutation(len(case.S))
    for size in range(len(order) + 1):
        assert measure(case.worth, order[:size]) == pytest.approx(coverage_by_definition(case, order[:size]))
    expected = [coverage_by_definition(case, order[: size + 1]) for size in range(len(order))]
    np.testing.assert_allclose(measure_prefixes(case.worth, order), expected, atol=1e-12)


@given(cases(), st.data())
def test_coverage_is_monotone_and_submodular(case, data):
    everyone = range(len(case.S))
    larger = data.draw(st.sets(st.sampled_from(everyone)))
    smaller = data.draw(st.sets(st.sampled_from(sorted(larger)))) if larger else set()
    row = data.draw(st.sampled_from(everyone))

    def value(some):
        return measure(case.worth, np.array(sorted(some), dtype=np.int64))

    assert value(smaller) <= value(larger) + CLOSE <= 1 + 2 * CLOSE
    assert value(smaller | {row}) - value(smaller) >= value(larger | {row}) - value(larger) - CLOSE
