"""The baselines against independent implementations written from their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import breadth
from breadth import InputError, TooLargeError, metrics
from tests import dense
from tests.strategies import instances
from tests.synthetic import clustered, isotropic, query_near, unit

thetas = st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0])


def pick(case, method, **options):
    return breadth.select(case.E, case.q, k=case.k, theta=case.theta, method=method, **options)


@pytest.mark.parametrize("method", ["greedy", "msd", "mmr"])
@pytest.mark.parametrize("theta", [0.0, 0.2, 0.5, 0.8, 1.0])
def test_sequential_methods_pick_what_their_definition_says(rng, method, theta):
    E = isotropic(rng, 40, 12).astype(np.float64)
    q = query_near(rng, E)
    found = breadth.select(E, q, k=9, theta=theta, method=method)
    assert list(found.ids) == getattr(dense, method)(E, E @ q, 9, theta)


@pytest.mark.parametrize("theta", [0.0, 0.2, 0.5, 0.8, 1.0])
def test_dpp_is_greedy_on_the_determinant(rng, theta):
    E = isotropic(rng, 30, 12).astype(np.float64)
    q = query_near(rng, E)
    found = breadth.select(E, q, k=8, theta=theta, method="dpp")
    expected = dense.dpp(E, E @ q, 8, theta)
    if theta == 0:  # the volume of one row is the same for all: the most relevant is first
        expected = [int(np.argmax(E @ q))]
        while len(expected) < 8:
            rest = [i for i in range(30) if i not in expected]
            expected.append(max(rest, key=lambda i: dense._log_det(E, [*expected, i])))
    assert list(found.ids) == expected


def test_vrsd_aims_its_sum_at_the_query(rng):
    E = isotropic(rng, 40, 12).astype(np.float64)
    q = query_near(rng, E)
    found = breadth.select(E, q, k=9, theta=0.5, method="vrsd")
    assert list(found.ids) == dense.vrsd(E, q, 9)


def test_vrsd_needs_a_query(rng):
    E = isotropic(rng, 10, 4)
    with pytest.raises(InputError, match="pass query, not scores"):
        breadth.select(E, scores=np.arange(10), k=3, method="vrsd")


@given(instances(max_n=9, thetas=thetas), st.sampled_from(breadth.methods()))
def test_every_method_returns_k_different_rows_worth_what_it_says(case, method):
    found = pick(case, method)
    assert len(set(found.ids.tolist())) == case.k == found.k
    assert found.method == method
    assert found.theta == case.theta
    rows = case.E[found.ids]
    np.testing.assert_allclose(found.scores, rows @ case.q, atol=1e-9)
    assert found.relevance == pytest.approx(metrics.mean_relevance(rows, case.q))
    assert found.diversity == pytest.approx(metrics.ilad(rows))
    assert found.objective == pytest.approx(dense.reported(case.E, case.c, found.ids, case.theta))
    if method in ("certified", "frank_wolfe", "topk", "exact"):  # sets: most relevant first
        assert list(found.scores) == sorted(found.scores, reverse=True)


@given(instances(max_n=9, thetas=thetas), st.sampled_from(breadth.methods()))
def test_no_method_beats_exact_and_no_certificate_is_below_it(case, method):
    best = pick(case, "exact")
    found = pick(case, method)
    assert found.objective <= best.objective + 1e-9
    assert best.objective == pytest.approx(
        dense.optimum(case.E, case.c, case.k, case.theta) / (case.k * (case.k - 1)), abs=1e-9
    )
    assert best.certificate is not None
    assert best.certificate.gap == pytest.approx(0, abs=1e-12)
    if found.certificate is not None:
        assert found.certificate.bound >= best.objective - 1e-9
        assert found.certificate.gap == pytest.approx(found.certificate.bound - found.objective)


@given(instances(max_n=9), st.sampled_from(breadth.methods()))
def test_theta_one_is_plain_top_k_for_methods_with_a_trade_off(case, method):
    if method in ("vrsd",):
        return
    found = breadth.select(case.E, case.q, k=case.k, theta=1.0, method=method)
    assert found.relevance == pytest.approx(np.sort(case.c)[::-1][: case.k].mean(), abs=1e-6)


@pytest.mark.parametrize("method", [m for m in breadth.methods() if m != "vrsd"])
def test_scores_and_query_give_the_same_set(rng, method):
    E = isotropic(rng, 16, 8).astype(np.float64)
    q = query_near(rng, E)
    by_query = breadth.select(E, q, k=4, theta=0.6, method=method)
    by_scores = breadth.select(E, scores=E @ q, k=4, theta=0.6, method=method)
    assert list(by_query.ids) == list(by_scores.ids)
    assert by_scores.objective == pytest.approx(by_query.objective)
    assert by_scores.diversity == pytest.approx(by_query.diversity)


@pytest.mark.parametrize("method", breadth.methods())
@pytest.mark.parametrize("k", [1, 6])
def test_one_row_and_all_rows(rng, method, k):
    E = isotropic(rng, 6, 4)
    q = query_near(rng, E)
    found = breadth.select(E, q, k=k, theta=0.5, method=method)
    if k == 1:
        assert found.ids[0] == np.argmax(E @ q)
        assert found.diversity == 0.0
    else:
        assert sorted(found.ids) == list(range(6))


def test_dpp_beyond_the_rank_goes_on_by_relevance(rng):
    E = isotropic(rng, 20, 3).astype(np.float64)
    q = query_near(rng, E)
    found = breadth.select(E, q, k=8, theta=0.5, method="dpp")
    assert found.stats["beyond_rank"] == 5
    assert list(found.scores[3:]) == sorted(found.scores[3:], reverse=True)
    assert "beyond_rank" not in breadth.select(E, q, k=3, theta=0.5, method="dpp").stats


def test_dpp_leaves_copies_for_last():
    E = np.eye(4)[[0, 0, 0, 1, 2]]
    found = breadth.select(E, unit(np.array([1.0, 0.2, 0.1, 0])), k=3, theta=0.3, method="dpp")
    assert set(found.ids) == {0, 3, 4}


def test_dpp_leaves_copies_that_are_slightly_short_for_last():
    short = np.eye(3)[[0, 0, 1, 2]]
    short[:2] *= 0.9995
    assert list(breadth.select(short, [1.0, 0.0, 0.0], k=3, theta=0.9, method="dpp").ids) == [0, 2, 3]


@pytest.mark.parametrize("theta", [0.0, 0.1, 0.5, 1.0])
@pytest.mark.parametrize("method", breadth.methods())
def test_a_single_row_is_the_most_relevant_one(rng, method, theta):
    E = isotropic(rng, 29, 8).astype(np.float64)
    q = unit(rng.standard_normal(8))
    assert breadth.select(E, q, k=1, theta=theta, method=method).ids[0] == np.argmax(E @ q)


def test_exact_refuses_what_it_cannot_do(rng):
    with pytest.raises(TooLargeError, match="takes at most 4096 rows, got 5000"):
        breadth.select(isotropic(rng, 5000, 8), isotropic(rng, 1, 8)[0], k=1, method="exact")
    with pytest.raises(TooLargeError, match=r"C\(200, 10\) = 2.25e\+16 sets, more than 2,000,000"):
        breadth.select(isotropic(rng, 200, 8), isotropic(rng, 1, 8)[0], k=10, method="exact")


def test_muss_is_between_top_k_and_the_whole(rng):
    E = clustered(rng, 3000, 32)
    q = query_near(rng, E)
    found = breadth.select(E, q, k=10, theta=0.6, method="muss")
    assert found.objective > breadth.select(E, q, k=10, theta=0.6, method="topk").objective
    assert found.stats["chosen_clusters"] == 11
    again = breadth.select(E, q, k=10, theta=0.6, method="muss")
    assert list(found.ids) == list(again.ids)
    everything = breadth.select(E, q, k=10, theta=0.6, method="muss", clusters=1)
    assert list(everything.ids) == list(breadth.select(E, q, k=10, theta=0.6, method="greedy").ids)
    for options, message in (
        ({"clusters": 0}, "clusters must be at least 1, got 0"),
        ({"clusters": 3001}, "clusters must be at most the number of rows"),
        ({"clusters": 5, "chosen_clusters": 6}, "chosen_clusters must be at most the number of clusters"),
        ({"seed": -1}, "seed must be a whole number"),
    ):
        with pytest.raises(InputError, match=message):
            breadth.select(E, q, k=10, method="muss", **options)


@pytest.mark.parametrize("method", ["mmr", "dpp", "greedy", "frank_wolfe", "vrsd", "muss"])
def test_a_pool_is_the_same_as_a_smaller_array(rng, method):
    E = isotropic(rng, 60, 8)
    q = query_near(rng, E)
    best = np.sort(np.argsort(-(E @ q), kind="stable")[:20])
    found = breadth.select(E, q, k=5, theta=0.5, method=method, pool=20)
    smaller = breadth.select(E[best], q, k=5, theta=0.5, method=method)
    assert list(found.ids) == list(best[smaller.ids])
    assert found.stats["pool"] == 20
    assert found.certificate is None
    scored = breadth.select(E, scores=E @ q, k=5, theta=0.5, method="mmr", pool=20)
    assert list(scored.ids) == list(breadth.select(E, q, k=5, theta=0.5, method="mmr", pool=20).ids)


@pytest.mark.parametrize("pool", [4, 61, 0, 2.5])
def test_a_pool_must_fit(rng, pool):
    E = isotropic(rng, 60, 8)
    with pytest.raises(InputError, match="pool must be"):
        breadth.select(E, E[0], k=5, method="mmr", pool=pool)
