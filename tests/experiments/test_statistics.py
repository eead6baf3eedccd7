"""Intervals cover, tests find what is there and not what is not, areas are areas."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from breadth_experiments import comparison, scores, statistics
from breadth_experiments.comparison import area_under_frontier
from breadth_experiments.scores import Scores


def test_intervals_cover_the_mean_about_as_often_as_they_say():
    rng = np.random.default_rng(0)
    weights = statistics.resamples(60, count=400)
    hits = 0
    for _ in range(200):
        found = statistics.estimate(rng.exponential(size=60), weights)
        hits += found.low <= 1.0 <= found.high
    assert 0.88 <= hits / 200 <= 0.99


def test_the_paired_test_is_right_about_as_often_as_it_says():
    rng = np.random.default_rng(1)
    weights = statistics.resamples(40, count=50)
    found = [statistics.difference(rng.normal(size=40), rng.normal(size=40), weights, flips=400).p for _ in range(200)]
    assert 0.01 <= np.mean(np.array(found) < 0.05) <= 0.10
    base = rng.normal(size=40)
    better = statistics.difference(base + 0.1 + 0.01 * rng.normal(size=40), base, weights)
    assert better.p < 0.001
    assert better.low > 0.09
    same = statistics.difference(base, base, weights)
    assert (same.mean, same.p) == (0.0, 1.0)


def test_exact_enumeration_agrees_with_random_flips():
    gap = np.array([0.5, -0.1, 0.3, 0.2, 0.4, -0.2, 0.1, 0.3])
    signs = np.array(np.meshgrid(*[[-1, 1]] * len(gap))).reshape(len(gap), -1).T
    exact = np.mean(np.abs(signs @ gap) >= abs(gap.sum()) - 1e-12)
    found = statistics.difference(gap, np.zeros(8), statistics.resamples(8), flips=20_000)
    assert found.p == pytest.approx(exact, abs=0.015)


def test_holm():
    assert statistics.holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert statistics.holm([0.5, 0.9]) == pytest.approx([1.0, 1.0])


def test_area_by_hand():
    # Flat at 0.8 from 0 to 0.5, a line to (1.0, 0.4), nothing from there to 2.
    x, y = np.array([0.5, 1.0]), np.array([0.8, 0.4])
    assert area_under_frontier(x, y, 0.0, 2.0) == pytest.approx((0.5 * 0.8 + 0.5 * 0.6) / 2)
    # A point below the line changes nothing, one above it does.
    assert area_under_frontier(np.append(x, 0.75), np.append(y, 0.55), 0.0, 2.0) == pytest.approx(0.35)
    assert area_under_frontier(np.append(x, 0.75), np.append(y, 0.7), 0.0, 2.0) > 0.35


share = st.integers(0, 1000).map(lambda n: n / 1000)
points = st.lists(st.tuples(share, share), min_size=1, max_size=8)


@settings(max_examples=150, deadline=None)
@given(points, st.tuples(share, share))
def test_area_is_that_of_the_hull_on_a_fine_grid_and_grows_with_points(known, more):
    x, y = np.array(known).T
    area = area_under_frontier(x, y, 0.0, 1.0)
    assert area_under_frontier(np.append(x, more[0]), np.append(y, more[1]), 0.0, 1.0) >= area - 1e-9
    # By the definition: the best mixture of two points with an ILAD of at least t.
    grid = np.linspace(0.0005, 0.9995, 1000)
    best = np.zeros_like(grid)
    for i in range(len(x)):
        for j in range(len(x)):
            low, high = min(x[i], x[j]), max(x[i], x[j])
            a, b = (y[i], y[j]) if x[i] <= x[j] else (y[j], y[i])
            share = np.clip((grid - low) / (high - low), 0, 1) if high > low else np.zeros_like(grid)
            mixed = a + share * (b - a)
            best = np.where(grid <= high, np.maximum(best, np.maximum(mixed, b)), best)
    assert area == pytest.approx(best.mean(), abs=3e-3)


def made(seed: int = 0) -> Scores:
    """A method that is better than another at every θ, and top-k."""
    rng = np.random.default_rng(seed)
    cells = {}
    noise = rng.uniform(0, 0.05, size=(3, 80))
    cells["topk", 10, None] = {"recall": 0.5 + noise[0], "ilad": 0.3 + noise[1], "relevance": 0.8 + noise[2]}
    for theta in (0.3, 0.6):
        for method, lift in (("certified", 0.1), ("frank_wolfe", 0.0)):
            ilad = 0.9 - 0.5 * theta + noise[1]
            recall = 0.2 + 0.5 * theta + lift + noise[0] + 0.01 * rng.normal(size=80)
            cells[method, 10, theta] = {"recall": recall, "ilad": ilad, "relevance": theta + lift + noise[2]}
    facts = {"dataset": "made", "passages": 5, "encoder": "none", "dim": 2, "note": "made up"}
    return Scores(facts, tuple(map(str, range(80))), cells, {("topk", 10, None): np.array([0.001, 0.003])})


def test_what_is_better_is_found_to_be_better():
    known = made()
    (duel, *_), record = (
        comparison.duels(known, "certified", "frank_wolfe"),
        comparison.tally_objectives(known, "certified", ["frank_wolfe", "topk"]),
    )
    assert duel.dominates
    assert not any(d.dominates for d in comparison.duels(known, "frank_wolfe", "certified"))
    assert record[0].better == record[0].cells == 160
    found = comparison.areas(known, 10, ["certified"])
    assert found["frank_wolfe"].ahead["certified"].low > 0
    assert found["certified"].ahead == {}
    assert "topk" not in found
    lead = comparison.lead(known, 10, "certified", "frank_wolfe")
    assert lead.low > 0
    assert comparison.lead(known, 10, "frank_wolfe", "certified").mean == pytest.approx(-lead.mean)


def test_many_tests_can_still_be_significant():
    """A p-value of the permutation test can be as small as a correction for all the tests needs."""
    rng = np.random.default_rng(3)
    base = rng.normal(size=60)
    weights = statistics.resamples(60, count=50)
    flips = statistics.flips_for(400)
    p = statistics.difference(base + 1.0, base, weights, flips=flips).p
    assert statistics.holm([p] * 400)[0] < 0.05


def test_scores_come_back_from_their_file(tmp_path):
    known = made()
    scores.save(known, tmp_path / "scores.json.gz")
    again = scores.load(tmp_path / "scores.json.gz")
    assert again.questions == known.questions
    assert again.facts == known.facts
    for cell, values in known.cells.items():
        for name in values:
            assert np.allclose(again.cells[cell][name], values[name], atol=1e-8)
    first = (tmp_path / "scores.json.gz").read_bytes()
    scores.save(again, tmp_path / "again.json.gz")
    assert (tmp_path / "again.json.gz").read_bytes() == first
    (tmp_path / "torn.json.gz").write_bytes(first[:-20])
    with pytest.raises(scores.InputError, match="is the file complete"):
        scores.load(tmp_path / "torn.json.gz")
