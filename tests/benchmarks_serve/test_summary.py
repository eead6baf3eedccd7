"""Means over halves, shares of the best, and differences with intervals."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.serve import expected
from benchmarks.serve.measures import MEASURES
from benchmarks.serve.sets import KS
from benchmarks.serve.settings import SETTINGS
from benchmarks.serve.summary import Measured, compare, shares_of_best, summarise

HALVES = np.array(["choosing"] * 40 + ["reporting"] * 60)


def measured(dataset, **recalls):
    """Settings with these recalls (questions,) at both of two sizes; all other measures are 0."""
    values = {}
    for name, recall in recalls.items():
        values[name] = np.zeros((len(HALVES), 2, len(MEASURES)))
        values[name][:, :, 0] = recall[:, None]
    return Measured(dataset, HALVES, values)


@pytest.fixture
def two():
    rng = np.random.default_rng(0)
    a, b = rng.uniform(0, 0.5, 100), rng.uniform(0, 0.5, 100)
    return {
        "x": measured("d", low=a, high=a + 0.4 + 0.1 * rng.random(100)),
        "y": measured("e", low=b, high=b + 0.2 * rng.standard_normal(100)),
    }


def test_means_are_of_the_questions_of_a_half(two):
    found = summarise(two["x"])
    assert found["questions"] == {"choosing": 40, "reporting": 60}
    recall = two["x"].values["low"][:, 0, 0]
    assert found["choosing"]["low"]["recall"] == pytest.approx([recall[:40].mean()] * 2, abs=1e-4)
    assert found["reporting"]["low"]["recall"] == pytest.approx([recall[40:].mean()] * 2, abs=1e-4)


def test_differences_have_intervals_around_their_means(two):
    found = compare(two, "low", "reporting")["high"]
    for collection in ("x", "y"):
        gap = two[collection].recall("high", "reporting") - two[collection].recall("low", "reporting")
        for mean, low, high in found[collection]:
            assert mean == pytest.approx(gap[:, 0].mean(), abs=1e-4)
            assert low < mean < high
            assert high - low == pytest.approx(2 * 1.96 * gap[:, 0].std() / np.sqrt(60), rel=0.15)
    assert found["x"][0][1] > 0.4
    mean, low, high = found["mean"][0]
    assert mean == pytest.approx((found["x"][0][0] + found["y"][0][0]) / 2, abs=1e-4)
    assert high - low < found["y"][0][2] - found["y"][0][1]  # a mean of two is more certain than the less certain one


def test_shares_are_of_the_best_method_on_each_collection():
    def one(**recalls):
        return {"reporting": {name: {"recall": recall} for name, recall in recalls.items()}}

    shares = shares_of_best({"x": one(a=[0.2, 0.5], b=[0.4, 0.5]), "y": one(a=[1.0, 0.0], b=[0.1, 0.0])}, "reporting")
    assert shares["a"].tolist() == [[0.5, 1.0], [1.0, 0.0]]
    assert shares["b"].tolist() == [[1.0, 1.0], [0.1, 0.0]]


def test_the_shipped_collection_gives_the_expected_scores():
    checked = expected.check()
    assert len(checked) == len(SETTINGS) * len(expected.TOLERANCES) * len(KS)
    assert not [str(one) for one in checked if not one.good]
