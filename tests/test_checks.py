"""The public edge: numbers beyond what is served are refused, and no argument raises anything but our own errors."""

from __future__ import annotations

import inspect
from contextlib import suppress
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import breadth
from breadth import BreadthError, InputError
from breadth.checks import SCORE_LIMIT, SHARPNESS_LIMIT
from tests.synthetic import isotropic, unit

HUGE = 10**400


def make_scores(rng, kind, n):
    if kind == "one large":
        return np.where(np.arange(n) == rng.integers(n), SCORE_LIMIT, rng.random(n))
    if kind == "shifted":
        return SCORE_LIMIT - rng.random(n)
    if kind == "of all sizes":
        return np.sign(rng.standard_normal(n)) * 10.0 ** rng.uniform(-3, 8, n)
    return rng.uniform(-SCORE_LIMIT, SCORE_LIMIT, n)


def reach(cosines, scores, chosen, theta, sharpness):
    """The objective of a set, in extended precision."""
    chosen = list(chosen)
    pairs = [cosines[i, j] ** sharpness for i, j in combinations(chosen, 2)]
    return theta * scores[chosen].mean() - (1 - theta) * np.mean(pairs)


@pytest.mark.parametrize("sharpness", [1, 12])
@pytest.mark.parametrize("kind", ["one large", "shifted", "of all sizes", "uniform"])
def test_up_to_the_limit_proofs_agree_with_brute_force(kind, sharpness, core):
    for seed in range(6):
        rng = np.random.default_rng(seed)
        n, k, theta = 11, 2 + seed % 3, (0.01, 0.5, 0.99)[seed % 3]
        rows = isotropic(rng, n, 5)
        rows[1] = unit(rows[0] + 0.01 * rows[2])
        scores = make_scores(rng, kind, n)
        wide = np.longdouble
        cosines = (rows.astype(np.float64) @ rows.astype(np.float64).T).astype(wide)
        values = [reach(cosines, scores.astype(wide), s, wide(theta), sharpness) for s in combinations(range(n), k)]
        best = float(max(values))
        resolution = 1e-6 * (1 + abs(best))
        for options in ({}, {"prove": 1.0}):
            found = breadth.select(rows, scores=scores, k=k, theta=theta, sharpness=sharpness, **options)
            assert len(set(found)) == k
            assert found.objective == pytest.approx(
                float(reach(cosines, scores.astype(wide), found, wide(theta), sharpness)), abs=resolution
            )
            assert best - resolution <= found.certificate.bound < np.inf
            if found.certificate.optimal:
                assert found.objective >= best - resolution


@pytest.mark.parametrize("value", [1e30, -1e30, 1e308, 1.0001e8, HUGE])
def test_scores_beyond_the_limit_are_refused(value, rng):
    rows = isotropic(rng, 20, 4)
    scores = [0.5] * 19 + [value]
    message = (
        "scores must be numbers"
        if value == HUGE
        else r"scores: entry 19 is .*; scores from -100,000,000 to 100,000,000"
    )
    for method in ("certified", "mmr", "topk"):
        with pytest.raises(InputError, match=message):
            breadth.select(rows, scores=scores, k=3, method=method)
    with pytest.raises(InputError, match=message):
        breadth.ArrayOracle(rows).with_scores(scores)


def test_a_sharpness_beyond_the_limit_is_refused(rng):
    rows = np.repeat(isotropic(rng, 5, 4), 2, axis=0) * np.float32(1.0009)
    assert np.isfinite(breadth.select(rows, unit(rows[0]), k=4, sharpness=SHARPNESS_LIMIT).objective)
    for power in (SHARPNESS_LIMIT + 2, 2**40, HUGE):
        with pytest.raises(InputError, match=r"sharpness (must be at most 1000|is too large)"):
            breadth.select(rows, unit(rows[0]), k=4, sharpness=power)


@pytest.mark.parametrize(
    "name",
    [
        "theta",
        "keep",
        "k",
        "sharpness",
        "distinct",
        "floor",
        "on_topic",
        "budget",
        "cover",
        "pool",
        "time_limit",
        "prove",
    ],
)
def test_a_number_that_no_float_can_hold_is_refused(name, rng):
    rows = isotropic(rng, 20, 4)
    arguments = {"k": 3, name: HUGE}
    if name == "budget":
        arguments["costs"] = [1] * 20
    with pytest.raises(InputError, match=name):
        breadth.select(rows, rows[0], **arguments)


STRANGE = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from([HUGE, -HUGE, np.float32(2), np.int8(-1), 1j, b"x", object(), "", "\ud800", [], {}, (), [[]]]),
    st.floats(),
    st.text(max_size=3),
    st.lists(st.one_of(st.none(), st.integers(-3, 30), st.floats(), st.text(max_size=2)), max_size=4),
)
ARGUMENTS = sorted({*inspect.signature(breadth.select).parameters, "prove"} - {"options"})


@settings(max_examples=300)
@given(st.dictionaries(st.sampled_from(ARGUMENTS), STRANGE, max_size=3))
def test_whatever_is_passed_errors_are_our_own(strange):
    rows = isotropic(np.random.default_rng(0), 12, 3)
    arguments = {"query": rows[0], "k": 3, **strange}
    vectors = arguments.pop("vectors", rows)
    with suppress(BreadthError):
        found = breadth.select(vectors, **arguments)
        assert len(set(found)) == len(found) > 0
