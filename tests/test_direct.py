"""The direct way of `select` for arrays finds what the general way finds, and leaves to it what it does not serve."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import breadth
from breadth import api, direct, kernels
from breadth.certified import at_once
from breadth.problem import Problem
from tests.synthetic import SHAPES, clustered, isotropic, query_near

pytestmark = pytest.mark.skipif(
    kernels.current().choose is None, reason="NumPy's kernels have no such call: there is the general way alone"
)

WISHES = (
    {},
    {"theta": 0.3},
    {"theta": 0.2, "on_topic": 0.0},
    {"sharpness": 4, "theta": 0.5, "keep_best": True},
    {"sharpness": 2, "distinct": 0.8},
    {"distinct": 1.0},
    {"floor": 0.2, "keep_best": False},
)


def select_generally(*args, **wishes):
    """The same call without the direct way."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(api, "is_possible", lambda: False)
        patch.setattr(at_once, "is_possible", lambda *_: False)
        return breadth.select(*args, **wishes)


def try_to(select, *args, **wishes):
    """What a call returns, or the words of its error."""
    try:
        return select(*args, **wishes), ""
    except breadth.InputError as error:
        return None, str(error)


def make(rng, shape, n, d):
    rows = SHAPES[shape](rng, n, d).astype(np.float32)
    rows[n // 2 :: 3] = rows[0]  # copies
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows


@settings(max_examples=120, deadline=None)
@given(
    st.sampled_from(sorted(SHAPES)),
    st.integers(2, 400),
    st.sampled_from([3, 17, 64]),
    st.integers(0, 2**32 - 1),
    st.sampled_from(WISHES),
    st.booleans(),
    st.data(),
)
def test_the_direct_way_finds_what_the_general_way_finds(shape, n, d, seed, wishes, outside, data):
    rng = np.random.default_rng(seed)
    rows = make(rng, shape, n, d)
    k = data.draw(st.integers(1, min(n, 25)))
    query = query_near(rng, rows).astype(np.float32)
    asked = (rows, None) if outside else (rows, query)
    more = {"scores": rng.permutation(rows.astype(np.float64) @ query), **wishes} if outside else wishes
    general, refused = try_to(select_generally, *asked, k=k, **more)
    if general is None:
        assert try_to(breadth.select, *asked, k=k, **more) == (None, refused)
        return
    found = breadth.select(*asked, k=k, **more)
    # Scores are summed in another order, so rows that tie may be ranked in another order.
    assert found.objective == pytest.approx(general.objective, abs=2e-6)
    assert found.certificate.bound == pytest.approx(
        general.certificate.bound, abs=1e-4 * (1.0 + general.certificate.gap)
    )
    assert sorted(map(len, found.copies)) == sorted(map(len, general.copies))
    assert found.redundancy == pytest.approx(general.redundancy, abs=2e-6)
    assert set(found.stats) == set(general.stats)
    assert found.certificate.swap_optimal == general.certificate.swap_optimal


@settings(max_examples=80, deadline=None)
@given(
    st.sampled_from(sorted(SHAPES)),
    st.integers(3, 300),
    st.sampled_from([3, 17, 64]),
    st.sampled_from([0.7, 0.8, 0.9, 0.99]),
    st.integers(0, 2**32 - 1),
    st.data(),
)
def test_the_papers_objective_gets_a_set_that_no_exchange_improves(shape, n, d, theta, seed, data):
    rng = np.random.default_rng(seed)
    rows = make(rng, shape, n, d)
    k = data.draw(st.integers(2, min(n - 1, 25)))
    query = query_near(rng, rows).astype(np.float32)
    found = breadth.select(rows, query, k=k, theta=theta, sharpness=1)
    general = select_generally(rows, query, k=k, theta=theta, sharpness=1)
    problem = Problem(query.astype(np.float64), k, theta)
    assert found.objective == pytest.approx(problem.objective(rows[found.ids].astype(np.float64)), abs=1e-12)
    assert set(found.stats) == set(general.stats)
    assert found.certificate.bound >= general.objective - 1e-7
    assert general.certificate.bound >= found.objective - 1e-7
    assert found.certificate.swap_optimal
    assert largest_gain(problem, rows.astype(np.float64), found.ids) <= 2e-6


@pytest.mark.parametrize("k", [5, 10])
def test_thousands_of_copies_hide_nothing(rng, k):
    """Of many rows with one score, some enter the block; the better ones behind them must enter as well."""
    copied = isotropic(rng, 1, 16)
    rows = np.concatenate((np.repeat(copied, 3000, axis=0), clustered(rng, 2000, 16)))
    query = query_near(rng, copied).astype(np.float32)
    for order in (rows, rows[::-1].copy()):
        found = breadth.select(order, query, k=k, theta=0.7, sharpness=1)
        general = select_generally(order, query, k=k, theta=0.7, sharpness=1)
        assert found.objective == pytest.approx(general.objective, abs=1e-6)
        assert found.certificate.bound == pytest.approx(general.certificate.bound, abs=1e-4)


def largest_gain(problem, rows, ids):
    """What the best exchange of one member for one row outside gains, on the reported scale."""
    w = problem.direction(rows[ids].sum(axis=0))
    marginals = rows @ w
    floors = marginals[ids] + problem.coupling * problem.own_similarities(rows[ids])
    outside = np.setdiff1d(np.arange(len(rows)), ids)
    gains = marginals[outside, None] + problem.coupling * (rows[outside] @ rows[ids].T) - floors
    return gains.max() / problem.scale


@settings(max_examples=60, deadline=None)
@given(st.integers(3, 11), st.sampled_from([0.7, 0.8, 0.95]), st.integers(0, 2**32 - 1), st.data())
def test_bounds_hold_for_every_set(n, theta, seed, data):
    rng = np.random.default_rng(seed)
    rows = make(rng, "isotropic" if seed % 2 else "clustered", n, 5)
    k = data.draw(st.integers(2, n - 1))
    query = query_near(rng, rows).astype(np.float32)
    for wishes in ({"sharpness": 1}, {"sharpness": 4, "keep_best": True}, {"sharpness": 2, "distinct": 0.9}):
        found = breadth.select(rows, query, k=k, theta=theta, **wishes)
        if len(found) == k:
            best = breadth.select(rows, query, k=k, theta=theta, method="exact", **wishes)
            assert found.objective <= best.objective + 1e-9
            assert found.certificate.bound >= best.objective - 1e-7


@settings(max_examples=60, deadline=None)
@given(st.integers(3, 11), st.floats(0.01, 0.99), st.integers(0, 2**32 - 1), st.data())
def test_small_arrays_get_the_best_set_and_its_proof(n, theta, seed, data):
    """They have so few sets that all are gone through, at any θ."""
    rng = np.random.default_rng(seed)
    rows = make(rng, "isotropic" if seed % 2 else "clustered", n, 5)
    k = data.draw(st.integers(2, n - 1))
    query = query_near(rng, rows).astype(np.float32)
    found = breadth.select(rows, query, k=k, theta=theta, sharpness=1)
    best = breadth.select(rows, query, k=k, theta=theta, sharpness=1, method="exact")
    assert found.objective == pytest.approx(best.objective, abs=1e-7)
    assert found.certificate.optimal
    assert found.certificate.gap <= 1e-7


def test_an_ordinary_call_goes_the_direct_way(rng, monkeypatch):
    rows = clustered(rng, 200, 24)
    query = query_near(rng, rows).astype(np.float32)
    monkeypatch.setattr(api.drivers, "run", lambda *_: pytest.fail("the general way was taken"))
    for vectors in (rows, breadth.ArrayOracle(rows)):
        assert len(breadth.select(vectors, query, k=5)) == 5
        assert len(breadth.select(vectors, scores=rows @ query, k=5)) == 5
        assert len(breadth.select(vectors, query, k=8, sharpness=1)) == 8


def test_what_is_reported_is_that_of_the_rows(rng):
    rows = make(rng, "clustered", 300, 32)
    query = query_near(rng, rows).astype(np.float32)
    found = breadth.select(rows, query, k=7)
    chosen = rows[found.ids].astype(np.float64)
    cosines = chosen @ chosen.T
    others = ~np.eye(7, dtype=bool)
    assert found.scores == pytest.approx(chosen @ query.astype(np.float64), abs=1e-12)
    assert found.redundancy == pytest.approx((cosines**12)[others].mean(), abs=1e-12)
    assert found.diversity == pytest.approx(1.0 - cosines[others].mean(), abs=1e-12)
    assert list(found.scores) == sorted(found.scores, reverse=True)
    assert found.explain()  # it knows its collection


def test_explaining_uses_the_query_as_it_was(rng):
    rows = clustered(rng, 100, 16)
    query = query_near(rng, rows).astype(np.float32)
    found = breadth.select(rows, query, k=4)
    reasons = [reason.id for reason in found.explain()]
    query[:] = 0.0
    assert [reason.id for reason in found.explain()] == reasons


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda rows, query: rows.__setitem__((3, 2), np.nan), "row 3 holds NaN"),
        (lambda rows, query: rows.__setitem__(5, 0.0), "row 5 is all zeros"),
        (lambda rows, query: rows.__setitem__(7, 2.0 * rows[7]), "row 7"),
        (lambda rows, query: query.__setitem__(0, np.inf), "query holds NaN or infinity"),
        (lambda rows, query: query.__imul__(1.5), "query has length 1.5"),
    ],
)
def test_bad_rows_and_queries_are_named(rng, spoil, words):
    rows = clustered(rng, 50, 16)
    query = query_near(rng, rows).astype(np.float32)
    spoil(rows, query)
    with pytest.raises(breadth.InputError, match=words):
        breadth.select(rows, query, k=5)


@pytest.mark.parametrize(
    "wrong",
    [{"k": 51}, {"k": 0}, {"k": True}, {"k": 5, "theta": 2.0}, {"k": 5, "distinct": "x"}, {"k": 5, "floor": []}],
)
def test_bad_arguments_are_named_as_the_general_way_names_them(rng, wrong):
    rows = clustered(rng, 50, 16)
    query = query_near(rng, rows).astype(np.float32)
    with pytest.raises(breadth.InputError) as direct_error:
        breadth.select(rows, query, **wrong)
    with pytest.raises(breadth.InputError) as general_error:
        select_generally(rows, query, **wrong)
    assert str(direct_error.value) == str(general_error.value)


def test_other_arrays_go_the_general_way(rng):
    rows = clustered(rng, 50, 16)
    assert direct._is_plain(rows)
    for other in (
        rows.astype(np.float64),
        rows.astype(np.float16),
        rows[:, ::-1],
        rows.tolist(),
        np.asfortranarray(rows),
    ):
        assert not direct._is_plain(other)
