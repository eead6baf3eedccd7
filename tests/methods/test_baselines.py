"""The baselines against independent implementations written from their definitions."""

from __future__ import annotations

from itertools import combinations, islice
from math import comb

import numpy as np
import pytest
from hypothesis import given

import breadth
from breadth import InputError, TooLargeError
from breadth.methods import exact
from breadth.methods.muss import cluster
from tests import dense
from tests.strategies import instances
from tests.synthetic import clustered, isotropic, query_near, unit


@pytest.mark.parametrize("method", ["greedy", "msd", "mmr"])
@pytest.mark.parametrize("theta", [0.0, 0.2, 0.5, 0.8, 1.0])
def test_sequential_methods_pick_what_their_definition_says(rng, method, theta):
    E = isotropic(rng, 40, 12).astype(np.float64)
    q = query_near(rng, E)
    found = breadth.select(E, q, k=9, theta=theta, method=method, sharpness=1)
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


@given(instances(max_n=9))
def test_exact_is_the_optimum_and_proves_it(case):
    found = breadth.select(case.E, case.q, k=case.k, theta=case.theta, method="exact")
    best = dense.optimum(case.E, case.c, case.k, case.theta) / (case.k * (case.k - 1))
    assert found.objective == pytest.approx(best, abs=1e-9)
    assert found.certificate.gap == pytest.approx(0, abs=1e-12)
    assert found.certificate.optimal
    assert found.certificate.swap_optimal
    assert found.stats["sets"] == comb(len(case.E), case.k)


def test_exact_that_runs_out_of_time_claims_nothing(rng, monkeypatch):
    """The best of the sets that it looked at."""
    E = isotropic(rng, 30, 8).astype(np.float64)
    q = query_near(rng, E)
    monkeypatch.setattr(exact, "_NUMBERS", 100 * 3**2)
    found = breadth.select(E, q, k=3, theta=0.3, method="exact", time_limit=0.0)
    assert found.stats["stopped"] == "time_limit"
    assert found.certificate is None
    order = np.argsort(-(E @ q), kind="stable")
    seen = [order[list(S)] for S in islice(combinations(range(30), 3), 100)]
    assert found.objective == pytest.approx(max(dense.reported(E, E @ q, S, 0.3) for S in seen))
    monkeypatch.setattr(exact, "_NUMBERS", 4060 * 3**2)  # all sets in one step: then nothing is left to look at
    assert breadth.select(E, q, k=3, theta=0.3, method="exact", time_limit=0.0).certificate.optimal


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


def test_muss_can_reuse_its_clusters(rng):
    oracle = breadth.ArrayOracle(clustered(rng, 900, 16))
    clustering = cluster(oracle, clusters=20, seed=3)
    for _ in range(2):
        q = query_near(rng, oracle.rows(np.arange(900)))
        plain = breadth.select(oracle, q, k=6, theta=0.6, method="muss", clusters=20, seed=3)
        found = breadth.select(oracle, q, k=6, theta=0.6, method="muss", clustering=clustering)
        assert list(found.ids) == list(plain.ids)
        assert found.stats["scans"] < plain.stats["scans"]
    with pytest.raises(InputError, match="clustering is of 900 rows, the collection has 500"):
        breadth.select(isotropic(rng, 500, 16), q, k=6, method="muss", clustering=clustering)
