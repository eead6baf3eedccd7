"""θ without guessing, many queries at once, and explanations."""

from __future__ import annotations

import asyncio
import pickle

import numpy as np
import pytest

import breadth
from breadth import ArrayOracle, CountingOracle, InputError, OracleError, Problem, api
from tests.synthetic import SHAPES, clustered, isotropic, query_near
from tests.test_drivers import AsyncArray


@pytest.fixture
def E(rng):
    return clustered(rng, 3000, 24)


@pytest.mark.parametrize("shape", sorted(SHAPES))
@pytest.mark.parametrize("k", [2, 8, 40])
def test_the_frontier_is_monotone_and_certified(rng, shape, k):
    E = SHAPES[shape](rng, 800, 16)
    q = query_near(rng, E)
    curve = breadth.frontier(E, q, k=k, thetas=[0.9, 0.0, 0.2, 0.5, 0.7, 1.0, 0.35], sharpness=1)
    assert [s.theta for s in curve] == [0.0, 0.2, 0.35, 0.5, 0.7, 0.9, 1.0]
    for low, high in zip(curve.selections, curve.selections[1:], strict=False):
        assert high.relevance >= low.relevance - 1e-12
        assert high.diversity <= low.diversity + 1e-12
    for s in curve:
        alone = breadth.select(E, q, k=k, theta=s.theta, sharpness=1)
        assert s.certificate.bound >= alone.objective - 1e-6
        assert s.objective >= breadth.select(E, q, k=k, theta=s.theta, method="topk").objective - 1e-9
    assert curve[-1].relevance == pytest.approx(curve.top_relevance)


def test_the_frontier_shares_its_scans(rng, E):
    oracle = CountingOracle(ArrayOracle(E))
    curve = breadth.frontier(oracle, query_near(rng, E), k=10, sharpness=1)
    assert len(curve) == 9
    assert oracle.searches == curve[0].stats["scans"] <= 3


@pytest.mark.parametrize("share", [0.5, 0.9, 0.95, 1.0])
def test_keep_keeps_what_it_promises_and_is_diverse(rng, E, share):
    q = query_near(rng, E)
    top = breadth.select(E, q, k=10, method="topk")
    found = breadth.select(E, q, k=10, keep=share, sharpness=1)
    assert found.relevance >= share * top.relevance - 1e-9
    assert found.diversity >= top.diversity - 1e-9
    assert found.stats["keep"] == share
    # Every set on a fine frontier that keeps as much is hardly more diverse.
    curve = breadth.frontier(E, q, k=10, thetas=np.linspace(0.02, 1, 50), sharpness=1)
    assert found.diversity >= curve.keep(share).diversity - 0.02


def test_keep_of_a_frontier_that_has_none(rng, E):
    curve = breadth.frontier(E, query_near(rng, E), k=10, thetas=[0.0, 0.1], sharpness=1)
    with pytest.raises(InputError, match="include a larger theta"):
        curve.keep(0.999)


def test_auto_is_the_knee(rng, E):
    q = query_near(rng, E)
    found = breadth.select(E, q, k=10, theta="auto", sharpness=1)
    ends = [breadth.select(E, q, k=10, theta=t, sharpness=1) for t in (0.5, 1.0)]
    assert ends[0].relevance <= found.relevance <= ends[1].relevance
    assert ends[1].diversity <= found.diversity <= ends[0].diversity
    # Above the line between the ends.
    along = (found.relevance - ends[0].relevance) / (ends[1].relevance - ends[0].relevance)
    across = (found.diversity - ends[1].diversity) / (ends[0].diversity - ends[1].diversity)
    assert along + across >= 1 - 1e-9


def test_a_judge_chooses_among_different_sets(rng, E):
    q = query_near(rng, E)
    seen = []

    def judge(selection):
        seen.append(frozenset(selection.ids.tolist()))
        return -selection.relevance

    found = breadth.select(E, q, k=10, theta="auto", choose=judge, sharpness=1)
    assert len(seen) == len(set(seen)) > 1
    assert frozenset(found.ids.tolist()) == seen[-1]
    with pytest.raises(InputError, match="the score that choose returned"):
        breadth.select(E, q, k=10, theta="auto", choose=lambda s: float("nan"), sharpness=1)


@pytest.mark.parametrize(
    ("thetas", "message"),
    [([], "at least one"), ([0.5, 0.5], "differ"), ([0.5, 2], r"thetas must be in \[0, 1\], got 2")],
)
def test_wrong_thetas(E, thetas, message):
    with pytest.raises(InputError, match=message):
        breadth.frontier(E, E[0], k=5, thetas=thetas, sharpness=1)


@pytest.mark.parametrize("method", ["certified", "frank_wolfe", "mmr"])
def test_many_queries_are_the_same_as_one_by_one(rng, E, method, monkeypatch):
    monkeypatch.setattr(api, "_TOGETHER", 6)
    queries = np.array([query_near(rng, E) for _ in range(8)])
    done = []
    together = breadth.select_many(
        E, queries, k=6, theta=0.6, method=method, progress=lambda *a: done.append(a), sharpness=1
    )
    assert done == [(6, 8), (8, 8)]
    for found, q in zip(together, queries, strict=True):
        alone = breadth.select(E, q, k=6, theta=0.6, method=method, sharpness=1)
        assert set(found.ids.tolist()) == set(alone.ids.tolist())
        assert found.objective == pytest.approx(alone.objective, abs=1e-9)
    assert len(together[0].explain()) == 6


def test_many_queries_share_scans(rng):
    E = clustered(rng, 20_000, 24)
    oracle = CountingOracle(ArrayOracle(E))
    found = breadth.select_many(oracle, np.array([query_near(rng, E) for _ in range(8)]), k=5, theta=0.7, sharpness=1)
    assert oracle.searches <= max(s.stats["scans"] for s in found) + 2 < sum(s.stats["scans"] for s in found)


def test_options_hold_for_every_query(rng, E):
    queries = np.array([query_near(rng, E) for _ in range(3)])
    options = {"method": "frank_wolfe", "penalty": 0.3}
    for found, q in zip(breadth.select_many(E, queries, k=6, theta=0.5, **options, sharpness=1), queries, strict=True):
        assert list(found.ids) == list(breadth.select(E, q, k=6, theta=0.5, **options, sharpness=1).ids)


def test_a_selection_can_be_pickled(rng, E):
    found = breadth.select(E, query_near(rng, E), k=4, sharpness=1)
    again = pickle.loads(pickle.dumps(found))
    assert list(again.ids) == list(found.ids)
    assert again.certificate == found.certificate
    with pytest.raises(OracleError, match="does not know its collection"):
        again.explain()


def test_aselect_takes_arrays_too(rng, E):
    q = query_near(rng, E)
    assert list(asyncio.run(breadth.aselect(E, q, k=4, sharpness=1)).ids) == list(
        breadth.select(E, q, k=4, sharpness=1).ids
    )


def test_many_score_rows(rng, E):
    scores = rng.uniform(size=(3, len(E)))
    done = []
    found = breadth.select_many(E, scores=scores, k=4, theta=0.8, progress=lambda *a: done.append(a), sharpness=1)
    assert done == [(1, 3), (2, 3), (3, 3)]
    assert [list(s.ids) for s in found] == [
        list(breadth.select(E, scores=s, k=4, theta=0.8, sharpness=1).ids) for s in scores
    ]


def test_wrong_queries(E):
    with pytest.raises(InputError, match="queries must have two dimensions"):
        breadth.select_many(E, E[0], k=3, sharpness=1)
    with pytest.raises(InputError, match="exactly one of queries and scores, got neither"):
        breadth.select_many(E, k=3, sharpness=1)
    assert breadth.select_many(E, E[:0], k=3, sharpness=1) == []


def test_aselect_on_an_asynchronous_engine(rng, E):
    q = query_near(rng, E)
    found = asyncio.run(breadth.aselect(AsyncArray(E), q, k=6, theta=0.7, sharpness=1))
    assert found.objective == pytest.approx(breadth.select(E, q, k=6, theta=0.7, sharpness=1).objective, abs=1e-6)
    with pytest.raises(OracleError, match="does not know its collection"):
        found.explain()


def test_explanations_are_true(rng):
    E = isotropic(rng, 60, 8).astype(np.float64)
    q = query_near(rng, E)
    found = breadth.select(E, q, k=5, theta=0.6, sharpness=1)
    problem = Problem(q.astype(np.float64), 5, 0.6)
    reasons = found.explain()
    assert [r.id for r in reasons] == list(found.ids)
    for place, reason in enumerate(reasons):
        others = np.delete(found.ids, place)
        assert reason.relevance == pytest.approx(found.scores[place])
        similarity = E[others] @ E[reason.id]
        assert reason.neighbour == others[np.argmax(similarity)]
        assert reason.similarity == pytest.approx(similarity.max())
        outside = np.setdiff1d(np.arange(60), found.ids)
        values = [problem.objective(E[[*others, i]]) for i in outside]
        assert reason.replacement == outside[np.argmax(values)]
        assert reason.loss == pytest.approx(found.objective - max(values))
        assert reason.loss >= -1e-9  # no swap gains
    assert "replaced by" in str(reasons)
    assert len(str(reasons).splitlines()) == 6


def test_explaining_all_rows_or_one(rng):
    E = isotropic(rng, 4, 8)
    for reason in breadth.select(E, E[0], k=4, sharpness=1).explain():
        assert reason.replacement is None
        assert reason.loss is None
    (single,) = breadth.select(E, E[0], k=1, sharpness=1).explain()
    assert single.neighbour is None
    assert single.loss > 0
