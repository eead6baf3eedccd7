"""Rounds that are one call of the kernels each: against brute force, and against the steps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import breadth
from breadth import ArrayOracle, CompactOracle
from breadth.certified import at_once, solver
from breadth.certified.effort import EFFORT
from tests.certified.promises import LITTLE
from tests.oracles.test_wrappers import SearchOnly
from tests.synthetic import SHAPES, clustered, query_near

pytest.importorskip("numba", reason="numba is not installed, so every step is taken by itself")

TINY = replace(EFFORT, held_when_near=4, held=4, held_for_each=1, whole=1, few=1)
ORACLES = {"array": ArrayOracle, "compact": CompactOracle.build, "search": SearchOnly}


def select_by_steps(*arguments, **wishes):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(at_once, "is_possible", lambda *_: False)
        return breadth.select(*arguments, **wishes)


@settings(max_examples=80, deadline=None)
@given(
    st.sampled_from(sorted(ORACLES)),
    st.sampled_from(sorted(SHAPES)),
    st.integers(8, 14),
    st.floats(0.7, 0.99),
    st.integers(0, 2**32 - 1),
    st.data(),
)
def test_bounds_hold_for_the_whole_collection(kind, shape, n, theta, seed, data):
    rng = np.random.default_rng(seed)
    rows = SHAPES[shape](rng, n, 6).astype(np.float32)
    query = query_near(rng, rows).astype(np.float32)
    k = data.draw(st.integers(2, 5))
    found = breadth.select(ORACLES[kind](rows), query, k=k, theta=theta, sharpness=1, effort=TINY)
    best = breadth.select(rows, query, k=k, theta=theta, sharpness=1, method="exact")
    assert found.objective <= best.objective + 1e-9
    assert found.certificate.bound >= best.objective - 2e-6
    assert found.certificate.swap_optimal
    if found.certificate.optimal:
        assert found.objective >= best.objective - 2e-6


@pytest.mark.parametrize("kind", sorted(ORACLES))
@pytest.mark.parametrize("theta", [0.7, 0.8, 0.9])
@pytest.mark.parametrize("k", [8, 30])
def test_sets_are_as_good_as_those_of_the_steps(rng, monkeypatch, kind, theta, k):
    calls = []
    choose = at_once.choose_at_once
    monkeypatch.setattr(solver.at_once, "choose_at_once", lambda *a: (calls.append(a), choose(*a))[1])
    oracle = ORACLES[kind](clustered(rng, 4000, 24).astype(np.float32))
    query = query_near(rng, oracle.rows(np.arange(4000))).astype(np.float32)
    wishes = {"k": k, "theta": theta, "sharpness": 1, "effort": LITTLE}
    found = breadth.select(oracle, query, **wishes)
    assert len(calls) == 1
    steps = select_by_steps(oracle, query, **wishes)
    assert len(calls) == 1
    assert set(found.stats) == set(steps.stats)
    assert found.objective >= steps.objective - 1e-6
    assert found.certificate.bound <= steps.certificate.bound + 1e-4
    assert found.certificate.bound >= steps.objective - 1e-6
    assert found.certificate.swap_optimal


def test_many_queries_get_what_each_gets_alone(rng):
    rows = clustered(rng, 3000, 24).astype(np.float32)
    oracle = CompactOracle.build(rows)
    queries = np.array([query_near(rng, rows) for _ in range(8)], dtype=np.float32)
    together = breadth.select_many(oracle, queries, k=9, theta=0.85, sharpness=1, effort=LITTLE)
    for query, found in zip(queries, together, strict=True):
        alone = breadth.select(oracle, query, k=9, theta=0.85, sharpness=1, effort=LITTLE)
        np.testing.assert_array_equal(found.ids, alone.ids)
        assert found.certificate.bound == pytest.approx(alone.certificate.bound, abs=1e-6)


def test_one_scan_of_a_large_collection_can_prove_that_a_set_is_optimal(rng):
    rows = clustered(rng, 20_000, 64).astype(np.float32)
    query = query_near(rng, rows).astype(np.float32)
    found = breadth.select(CompactOracle.build(rows), query, k=10, theta=0.95, sharpness=1)
    proved = breadth.select(CompactOracle.build(rows), query, k=10, theta=0.95, sharpness=1, prove=5.0)
    assert found.stats["held"] < 20_000
    assert found.certificate.optimal
    assert proved.certificate.optimal
    assert found.objective == pytest.approx(proved.objective, abs=1e-7)


def test_a_time_limit_and_a_proof_take_the_steps(rng, monkeypatch):
    monkeypatch.setattr(solver.at_once, "choose_at_once", lambda *_: pytest.fail("one call cannot be stopped"))
    oracle = CompactOracle.build(clustered(rng, 2000, 24).astype(np.float32))
    query = query_near(rng, oracle.rows(np.arange(2000))).astype(np.float32)
    for wish in ({"time_limit": 5.0}, {"prove": 0.01}, {"tolerance": 1e-3}, {"theta": 0.6}):
        assert (
            len(breadth.select(oracle, query, **{"k": 8, "theta": 0.8, "sharpness": 1, "effort": LITTLE, **wish})) == 8
        )
