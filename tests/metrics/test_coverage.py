"""The coverage of a set against loops over the relevant passages."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from breadth import InputError, metrics
from tests.strategies import instances
from tests.synthetic import duplicated, isotropic, query_near


def loop_coverage(E, scores, chosen, sharpness, targets):
    relevant = sorted(range(len(E)), key=lambda t: -scores[t])[:targets]
    mean = sum(scores[t] for t in relevant) / len(relevant)
    spread = math.sqrt(sum((scores[t] - mean) ** 2 for t in relevant) / len(relevant))
    masses = [math.exp((scores[t] - mean) / spread) if spread > 1e-12 else 1.0 for t in relevant]
    total = 0.0
    for t, mass in zip(relevant, masses, strict=True):
        cosines = [float(np.dot(E[t], E[i])) for i in chosen]
        total += mass * max(w**sharpness if sharpness > 1 else max(w, 0.0) for w in cosines)
    return total / sum(masses)


@given(instances(), st.sampled_from([1, 2, 8]), st.integers(2, 12))
def test_coverage_is_that_of_a_loop(case, sharpness, targets):
    scores = case.c + 1e-3 * np.arange(len(case.E))  # copies are then not equally relevant
    chosen = case.rng.permutation(len(case.E))[: case.k]
    found = metrics.coverage(case.E, scores, chosen, sharpness=sharpness, targets=targets)
    assert found == pytest.approx(loop_coverage(case.E, scores, chosen, sharpness, targets), abs=1e-9)
    assert 0 <= found <= 1


@given(instances())
def test_more_passages_never_stand_for_less(case):
    order = case.rng.permutation(len(case.E))
    shares = [metrics.coverage(case.E, case.c, order[: size + 1]) for size in range(len(order))]
    assert (np.diff(shares) >= -1e-12).all()
    assert shares[-1] == pytest.approx(1)


def test_copies_stand_for_each_other(rng):
    E = duplicated(rng, 40, 16)
    q = query_near(rng, E)
    _, first = np.unique(E, axis=0, return_index=True)
    assert metrics.coverage(E, E @ q, first) == pytest.approx(1, abs=1e-6)
    assert metrics.coverage(E, E @ q, first[:-1]) < 1


def test_the_order_and_the_type_of_the_rows_do_not_matter(rng):
    E = isotropic(rng, 50, 12)
    scores = E @ query_near(rng, E)
    share = metrics.coverage(E, scores, [3, 7, 20])
    assert metrics.coverage(E, scores, np.array([20, 3, 7], dtype=np.uint8)) == pytest.approx(share, abs=1e-12)
    assert metrics.coverage(E.astype(np.float16), scores, (7, 20, 3)) == pytest.approx(share, abs=1e-3)
    assert metrics.coverage(E, 10 * scores - 3, [3, 7, 20]) == pytest.approx(share, rel=1e-5)


def test_sharper_means_less(rng):
    E = isotropic(rng, 50, 12)
    scores = E @ query_near(rng, E)
    shares = [metrics.coverage(E, scores, [3, 7, 20], sharpness=p) for p in (2, 4, 8, 16)]
    assert (np.diff(shares) < 0).all()


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ([], "chosen must be a list of row numbers"),
        ([0.5], "chosen must be a list of row numbers"),
        ([[0, 1]], "chosen must be a list of row numbers"),
        (3, "chosen must be a list of row numbers"),
        ([True, False], "chosen must be a list of row numbers"),
        ([0, 3], "chosen holds 3, but vectors has rows 0 to 2"),
        ([-1], "chosen holds -1, but vectors has rows 0 to 2"),
    ],
)
def test_wrong_rows(chosen, message):
    with pytest.raises(InputError, match=message):
        metrics.coverage(np.eye(3), [0.1, 0.2, 0.3], chosen)


@pytest.mark.parametrize(
    ("scores", "options", "message"),
    [
        ([0.1, 0.2], {}, r"scores must have shape \(3,\)"),
        ([0.1, 0.2, np.nan], {}, "scores: entry 2 is nan"),
        ([0.1, 0.2, 0.3], {"sharpness": 5}, "sharpness must be 1 or an even number"),
        ([0.1, 0.2, 0.3], {"targets": 0}, "targets must be at least 1"),
    ],
)
def test_wrong_arguments(scores, options, message):
    with pytest.raises(InputError, match=message):
        metrics.coverage(np.eye(3), scores, [0], **options)
