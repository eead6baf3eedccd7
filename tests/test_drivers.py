from __future__ import annotations

import asyncio

import numpy as np
import pytest

from breadth import ArrayOracle, CountingOracle, OracleError, Problem
from breadth.drivers import arun, run, run_many
from breadth.methods.registry import METHODS
from breadth.oracles import describe
from tests.oracles.test_wrappers import SearchOnly
from tests.synthetic import clustered, query_near


class AsyncArray:
    """An engine whose client is asynchronous."""

    exact = True

    def __init__(self, E):
        self._inner = ArrayOracle(E)
        self.size, self.dim = self._inner.size, self._inner.dim
        self.calls = 0

    async def _answer(self, call, *arguments):
        await asyncio.sleep(0)
        self.calls += 1
        return call(*arguments)

    def top(self, directions, m):
        return self._answer(self._inner.top, directions, m)

    def rows(self, ids):
        return self._answer(self._inner.rows, ids)

    def mean(self):
        return self._answer(self._inner.mean)


@pytest.fixture
def E(rng):
    return clustered(rng, 700, 16).astype(np.float64)


def problems(rng, E, count):
    return [Problem(query_near(rng, E), int(rng.integers(2, 12)), float(rng.uniform())) for _ in range(count)]


@pytest.mark.parametrize("method", ["frank_wolfe", "greedy", "mmr", "dpp", "vrsd", "muss", "topk"])
def test_many_in_lockstep_are_the_same_as_one_by_one(rng, E, method):
    oracle = CountingOracle(ArrayOracle(E))
    cases = problems(rng, E, 7)
    solver = METHODS[method].solve
    together = run_many([solver(p, describe(oracle)) for p in cases], oracle)
    shared = oracle.searches
    alone = [run(solver(p, describe(oracle)), oracle) for p in cases]
    for a, b in zip(together, alone, strict=True):
        assert list(a.ids) == list(b.ids)
        assert a.objective == pytest.approx(b.objective)
        assert a.stats["scans"] == b.stats["scans"]
    assert shared == max(a.stats["scans"] for a in together)


def test_different_methods_can_share_a_batch(rng, E):
    oracle = ArrayOracle(E)
    problem = problems(rng, E, 1)[0]
    names = ["frank_wolfe", "mmr", "greedy", "topk"]
    together = run_many([METHODS[name].solve(problem, describe(oracle)) for name in names], oracle)
    for name, found in zip(names, together, strict=True):
        assert list(found.ids) == list(run(METHODS[name].solve(problem, describe(oracle)), oracle).ids)


def test_no_queries_is_no_work(E):
    oracle = CountingOracle(ArrayOracle(E))
    assert run_many([], oracle) == []
    assert oracle.searches == 0


def test_score_batches_are_cut_to_bounded_memory(rng, E, monkeypatch):
    monkeypatch.setattr("breadth.requests._BATCH_SCORES", 2 * len(E))
    oracle = CountingOracle(ArrayOracle(E))
    cases = [Problem(query_near(rng, E), 3, 0.5) for _ in range(5)]
    run_many([METHODS["mmr"].solve(p, describe(oracle)) for p in cases], oracle)
    assert oracle.searches == 3 * 3  # three rounds of scores, five queries in batches of two


def test_an_asynchronous_engine_gives_the_same_set(rng, E):
    problem = problems(rng, E, 1)[0]
    engine = AsyncArray(E)
    found = asyncio.run(arun(METHODS["frank_wolfe"].solve(problem, describe(engine)), engine))
    plain = ArrayOracle(E)
    expected = run(METHODS["frank_wolfe"].solve(problem, describe(plain)), plain)
    assert list(found.ids) == list(expected.ids)
    assert engine.calls > 1
    synchronous = asyncio.run(arun(METHODS["frank_wolfe"].solve(problem, describe(plain)), plain))
    assert list(synchronous.ids) == list(expected.ids)


def test_an_asynchronous_engine_needs_aselect(rng, E):
    with pytest.raises(OracleError, match=r"AsyncArray answers asynchronously; use `await breadth.aselect"):
        run(METHODS["topk"].solve(problems(rng, E, 1)[0], describe(AsyncArray(E))), AsyncArray(E))


def test_a_method_that_needs_all_scores_says_what_to_do(rng, E):
    engine = SearchOnly(E)
    problem = problems(rng, E, 1)[0]
    with pytest.raises(OracleError, match=r"SearchOnly does not give; pass pool="):
        run(METHODS["mmr"].solve(problem, describe(engine)), engine)
    found = run(METHODS["frank_wolfe"].solve(problem, describe(engine)), engine)
    assert found.certificate is not None
    assert found.certificate.exact is False
