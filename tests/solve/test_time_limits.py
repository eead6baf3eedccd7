"""Time limits hold wherever they can be set: generously by the clock on the wall, and exactly by one made for tests."""

from __future__ import annotations

import time

import numpy as np
import pytest

import breadth
from breadth import ArrayOracle, CompactOracle
from breadth.native import fallback
from tests import cores
from tests.oracles.test_wrappers import SearchOnly
from tests.synthetic import clustered, isotropic, query_near
from tests.walls import Wall

LIMIT = 0.05
K, THETA = 150, 0.2
PATHS = {"array": ArrayOracle, "compact": CompactOracle.build, "search only": SearchOnly}

CALLS = {
    "certified": lambda o, Q, limit, k: breadth.select(o, Q[0], k=k, theta=THETA, time_limit=limit, sharpness=1),
    "prove": lambda o, Q, limit, k: breadth.select(o, Q[0], k=k, theta=THETA, prove=1e6, time_limit=limit, sharpness=1),
    "frontier": lambda o, Q, limit, k: breadth.frontier(o, Q[0], k=k, time_limit=limit, sharpness=1),
    "keep": lambda o, Q, limit, k: breadth.select(o, Q[0], k=k, keep=0.9, time_limit=limit, sharpness=1),
    "auto": lambda o, Q, limit, k: breadth.select(o, Q[0], k=k, theta="auto", time_limit=limit, sharpness=1),
    "select_many": lambda o, Q, limit, k: breadth.select_many(o, Q, k=k, theta=THETA, time_limit=limit, sharpness=1),
}
every_call = pytest.mark.parametrize("call", sorted(CALLS))


def selections(outcome):
    return [outcome] if isinstance(outcome, breadth.Selection) else list(outcome)


@pytest.fixture(scope="module")
def asked():
    """So much work that it took ten seconds when limits were not kept."""
    rng = np.random.default_rng(3)
    E = isotropic(rng, 8000, 64)
    return E, np.array([query_near(rng, E) for _ in range(3)])


@every_call
@pytest.mark.parametrize("path", sorted(PATHS))
def test_a_limit_holds(asked, core, call, path):
    E, Q = asked
    oracle = PATHS[path](E)
    started = time.perf_counter()
    outcome = CALLS[call](oracle, Q, LIMIT, K)
    assert time.perf_counter() - started <= 2.0
    for found in selections(outcome):
        assert len(set(found.ids.tolist())) == K
        assert found.certificate.gap >= 0.0


class SlowOracle(ArrayOracle):
    """Every search takes a tenth of a second on the wall."""

    def __init__(self, E, wall):
        super().__init__(E)
        self._wall = wall

    def top(self, directions, m):
        self._wall.now += 0.1
        return super().top(directions, m)

    def scores(self, directions):
        self._wall.now += 0.1
        return super().scores(directions)


ENOUGH_TO_FINISH = 0.51
"""Seconds on that wall for each query to end with a set and a bound."""


@every_call
@pytest.mark.parametrize("limit", [0.0, 0.2, 0.6])
def test_little_is_done_after_the_limit(monkeypatch, call, limit):
    """By a wall that is moved by searches and calls of the core alone."""
    rng = np.random.default_rng(2)
    E = clustered(rng, 1200, 24)
    Q = np.array([query_near(rng, E) for _ in range(3)])
    wall = Wall(monkeypatch)
    cores.use("numpy", monkeypatch)  # the compiled core has a clock of its own
    solve = fallback.Block.solve
    monkeypatch.setattr(fallback.Block, "solve", lambda *a: (wall.pass_time(0.2), solve(*a))[1])
    oracle = SlowOracle(E, wall)

    def take(limit):
        started = wall.now
        outcome = CALLS[call](oracle, Q, limit, 40)
        assert all(len(set(found.ids.tolist())) == 40 for found in selections(outcome))
        return wall.now - started

    most = (limit + ENOUGH_TO_FINISH) * (len(Q) if call == "select_many" else 1)
    if call in ("frontier", "auto"):  # each of nine θ takes one call
        most += 9 * 0.2
    assert take(limit) <= most
    if limit == 0.0:
        assert take(None) > take(limit)


@pytest.mark.parametrize("limits", [{"prove": 0.2}, {"prove": 1e6, "time_limit": 0.2}], ids=str)
def test_a_proof_ends_in_time(core, limits):
    rng = np.random.default_rng(0)
    E = isotropic(rng, 400, 32)
    q = query_near(rng, E)

    def take(**options):
        started = time.perf_counter()
        found = breadth.select(E, q, k=12, theta=0.3, **options, sharpness=1)
        return time.perf_counter() - started, found

    before, plain = take()
    seconds, found = take(**limits)
    assert seconds <= before + 0.2 + 0.5
    assert plain.objective - 1e-9 <= found.objective <= found.certificate.bound
    assert found.certificate.bound <= plain.certificate.bound + 1e-9
    assert not found.certificate.optimal
    if core == "compiled":
        assert seconds > 0.15  # the proof took what it was given


@pytest.mark.parametrize("size", [500, 30_000])
def test_without_any_time_the_gap_is_still_true(rng, size):
    E = clustered(rng, size, 32)
    q = query_near(rng, E)
    found = breadth.select(E, q, k=10, theta=0.3, time_limit=0.0, sharpness=1)
    assert found.stats["stopped"] == "time_limit"
    assert len(set(found.ids.tolist())) == 10
    assert found.certificate.bound >= breadth.select(E, q, k=10, theta=0.3, sharpness=1).objective - 1e-6


def test_keep_without_time_keeps_its_promise(rng):
    """The only set that surely keeps enough is plain top-k."""
    E = clustered(rng, 3000, 24)
    q = query_near(rng, E)
    found = breadth.select(E, q, k=10, keep=0.95, time_limit=0.0, sharpness=1)
    assert found.relevance >= 0.95 * breadth.select(E, q, k=10, method="topk").relevance - 1e-9


def test_a_frontier_without_time_is_monotone_with_true_bounds(rng):
    E = clustered(rng, 3000, 24)
    q = query_near(rng, E)
    curve = breadth.frontier(E, q, k=10, time_limit=0.0, sharpness=1)
    assert len(curve) == 9
    for low, high in zip(curve.selections, curve.selections[1:], strict=False):
        assert high.relevance >= low.relevance - 1e-12
        assert high.diversity <= low.diversity + 1e-12
    for found in curve:
        assert found.certificate.bound >= breadth.select(E, q, k=10, theta=found.theta, sharpness=1).objective - 1e-6
