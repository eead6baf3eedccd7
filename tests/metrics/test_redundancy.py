"""Redundancy and near-copies against a loop over all pairs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from breadth import InputError, metrics
from tests.strategies import instances
from tests.synthetic import duplicated, unit


def loop_redundancy(E):
    pairs = [float(np.dot(E[i], E[j])) for i in range(len(E)) for j in range(len(E)) if i != j]
    return sum(pairs) / len(pairs)


def loop_near_copies(E, threshold):
    marked = []
    for j in range(len(E)):
        marked.append(False)
        for i in range(j):
            if float(np.dot(E[i], E[j])) >= threshold:
                marked[j] = True
    return marked


@given(instances())
def test_redundancy_is_the_mean_cosine_of_all_pairs(case):
    found = metrics.redundancy(case.E)
    assert found == pytest.approx(loop_redundancy(case.E), abs=1e-12)
    assert found == pytest.approx(1 - metrics.ilad(case.E), abs=1e-12)


@given(instances(), st.floats(-0.99, 0.99))
def test_near_copies_are_those_of_a_double_loop(case, threshold):
    cosines = case.E @ case.E.T
    if np.abs(cosines - threshold).min() < 1e-9:  # rounding may decide differently here
        threshold += 1e-6
    found = metrics.near_copies(case.E, threshold)
    assert found.dtype == np.bool_
    assert found.tolist() == loop_near_copies(case.E, threshold)


def test_the_first_of_several_copies_is_not_marked(rng):
    E = duplicated(rng, 40, 16)
    _, first = np.unique(E, axis=0, return_index=True)
    marked = metrics.near_copies(E, 0.999)
    assert sorted(np.flatnonzero(~marked).tolist()) == sorted(first.tolist())


def test_the_threshold_itself_counts():
    E = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])
    assert metrics.near_copies(E, 0.8).tolist() == [False, False, True]
    assert metrics.near_copies(E, np.nextafter(0.8, 1)).tolist() == [False, False, False]
    assert metrics.near_copies(E, -1.0).tolist() == [False, True, True]


def test_a_single_row_repeats_nothing():
    one = np.array([[0.6, 0.8]])
    assert metrics.redundancy(one) == 0
    assert metrics.near_copies(one, 0.5).tolist() == [False]


def test_copies_have_redundancy_one():
    assert metrics.redundancy(np.tile(unit(np.array([1.0, 2.0, 3.0])), (5, 1))) == pytest.approx(1)
    assert metrics.redundancy(np.array([[1.0, 0.0], [-1.0, 0.0]])) == pytest.approx(-1)


@pytest.mark.parametrize("measure", [metrics.redundancy, lambda rows: metrics.near_copies(rows, 0.9)])
@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (np.array([[2.0, 0.0]]), "vectors: row 0 has length 2"),
        (np.array([[1.0, 0.0], [0.0, 0.0]]), "vectors: row 1 is all zeros"),
        (np.array([[1.0, np.nan]]), "vectors: row 0 holds NaN"),
        (np.array([1.0, 0.0]), "vectors must be a 2-D array"),
        (np.empty((0, 3)), "vectors must have at least one row"),
        (np.array([[1, 0]]), "vectors must be float32, float64 or float16"),
    ],
)
def test_wrong_rows(measure, rows, message):
    with pytest.raises(InputError, match=message):
        measure(rows)


@pytest.mark.parametrize("threshold", [1.5, -2, float("nan"), "high", True])
def test_wrong_thresholds(threshold):
    with pytest.raises(InputError, match=r"threshold must be .*in \[-1, 1\]"):
        metrics.near_copies(np.array([[1.0, 0.0]]), threshold)
