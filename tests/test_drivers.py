from __future__ import annotations

import asyncio

import numpy as np
import pytest

from breadth import ArrayOracle, CompactOracle, CountingOracle, OracleError, Problem
from breadth.clock import Clock
from breadth.drivers import arun, run, run_many
from breadth.methods.registry import METHODS
from breadth.oracles import describe
from breadth.requests import Above, Found, Mean, Rows, Scores, Top
from tests.synthetic import clustered, query_near
from tests.walls import Wall


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


@pytest.mark.parametrize("method", sorted(METHODS.keys() - {"certified", "exact"}))
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


def ask_of_every_kind(problem):
    """A solver that is no method: it asks every question once and returns what it was sent."""
    found = yield from Top(problem.query[None], 3)
    rows = yield from Rows(found.ids[0])
    mean = yield from Mean()
    scores = yield from Scores(problem.query[None])
    return found, rows, mean, scores


def test_answers_have_the_types_that_requests_promise(rng, E):
    """Whichever driver runs it; and the result is handed over as it is."""
    cases = problems(rng, E, 3)
    oracle = ArrayOracle(E)
    alone = [run(ask_of_every_kind(p), oracle) for p in cases]
    together = run_many([ask_of_every_kind(p) for p in cases], oracle)
    awaited = [asyncio.run(arun(ask_of_every_kind(p), oracle)) for p in cases]
    for p, answers in zip(cases * 3, alone + together + awaited, strict=True):
        found, rows, mean, scores = answers
        assert isinstance(found, Found)
        best = np.argsort(-(E @ p.query))[:3]
        assert found.ids.tolist() == [best.tolist()]
        np.testing.assert_allclose(found.scores, (E @ p.query)[None, best], atol=1e-9)
        np.testing.assert_array_equal(rows, E[best])
        np.testing.assert_allclose(mean, E.mean(axis=0), atol=1e-9)
        np.testing.assert_allclose(scores, (E @ p.query)[None], atol=1e-9)


def test_searches_by_threshold_share_a_batch_unless_they_are_restricted(rng, E):
    oracle = CountingOracle(CompactOracle.build(E.astype(np.float32)))
    asked = [Above(q[None], np.array([0.1]), np.array([2 * len(E)])) for q in E[:3]]
    inside = Above(E[:1], np.array([0.1]), np.array([2 * len(E)]), within=np.arange(0, len(E), 2))
    assert (asked[0].scans, inside.scans) == (1, 0)
    answers = run_many([iter(request) for request in (*asked, inside)], oracle)
    assert oracle.searches == 1
    for request, (reached,) in zip((*asked, inside), answers, strict=True):
        there = np.arange(len(E)) if request.within is None else request.within
        assert np.isin(there[E[there] @ request.directions[0] > 0.1], reached.above(0.1)).all()


@pytest.mark.parametrize(
    ("request_", "answer", "message"),
    [
        (Rows(np.arange(3)), np.zeros((2, 4)), r"rows\(\) was asked for 3 rows, got shape \(2, 4\)"),
        (Rows(np.arange(3)), np.zeros(3), r"rows\(\) was asked for 3 rows, got shape \(3,\)"),
        (Mean(), np.zeros((1, 4)), r"mean\(\) must return one vector, got shape \(1, 4\)"),
        (Scores(np.zeros((2, 4))), np.zeros((1, 9)), r"scores\(\) was asked for 2 directions, got shape \(1, 9\)"),
        (Above(np.zeros((2, 4)), np.zeros(2), np.ones(2)), [None], r"above\(\) was asked for 2 directions, got 1"),
    ],
)
def test_an_answer_of_another_shape_is_an_error(request_, answer, message):
    with pytest.raises(OracleError, match=message):
        request_.receive(answer)


def work(clock, wall, seconds):
    """A solver that takes so long before each of two searches, and says how long it took by its own clock."""
    for own in seconds:
        wall.now += own
        yield from Top(np.eye(2)[:1], 1)
    return clock.spent


class SlowEngine:
    """A search takes a second for each direction."""

    size, dim, exact = 2, 2, True

    def __init__(self, wall):
        self._wall = wall

    def top(self, directions, m):
        self._wall.now += len(directions)
        return np.zeros((len(directions), m), dtype=np.int64), np.zeros((len(directions), m))


def test_each_clock_counts_its_own_solver_and_a_share_of_the_searches(monkeypatch):
    wall = Wall(monkeypatch)
    clocks = [Clock(), Clock(), Clock()]
    seconds = [(1.0, 2.0), (10.0, 20.0), (0.0, 0.0)]
    solvers = [work(clock, wall, own) for clock, own in zip(clocks, seconds, strict=True)]
    spent = run_many(solvers, SlowEngine(wall), clocks)
    # Two rounds of searches, three seconds each, shared by three.
    assert spent == [1.0 + 2.0 + 2.0, 10.0 + 20.0 + 2.0, 2.0]
    wall.now += 50.0
    assert [clock.spent for clock in clocks] == spent  # nobody's turn any more


def test_the_seconds_of_a_selection_are_its_own(rng, E, monkeypatch):
    wall = Wall(monkeypatch)

    def slow_topk(problem, facts, seconds):
        wall.now += seconds
        return (yield from METHODS["topk"].solve(problem, facts))

    oracle = ArrayOracle(E)
    cases = problems(rng, E, 2)
    solvers = [slow_topk(p, describe(oracle), s) for p, s in zip(cases, (1.0, 7.0), strict=True)]
    assert [found.stats["seconds"] for found in run_many(solvers, oracle)] == [1.0, 7.0]
    assert run(slow_topk(cases[0], describe(oracle), 3.0), oracle).stats["seconds"] == 3.0
