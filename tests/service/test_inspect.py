"""`/v1/inspect` shows what the other routes give, and remembers no more than it may."""

from __future__ import annotations

import threading

import httpx
import numpy as np
import pytest

from breadth import metrics
from breadth.index import Document, Index
from breadth.service.collections.engine import ServedEngine
from breadth.service.inspection.inspect import PARTS, THETAS, Wanted
from breadth.service.inspection.projection import Plane
from breadth.service.inspection.study import Studies, Study
from breadth.service.schemas.inspection import InspectAnswer
from breadth.service.settings import Settings
from breadth.settings import DEFAULT
from breadth.testing.case import MAKE_KEY
from tests.engines.stores import STORES
from tests.service.conftest import documents
from tests.service.running import serving

QUERY = "How is asthma treated?"


@pytest.fixture(scope="module")
def client(running):
    with httpx.Client(base_url=running.url) as made:
        yield made


def ask(client, **more):
    answer = client.post("/v1/inspect", json={"query": QUERY, **more})
    assert answer.status_code == 200, answer.text
    InspectAnswer.model_validate(answer.json())
    return answer.json()


@pytest.mark.parametrize("k", [1, 6, 100])
@pytest.mark.parametrize("theta", [0.0, 0.45, 0.7, 1.0])
@pytest.mark.parametrize("distinct", [0.5, 0.95, 1.0])
def test_its_sets_are_those_of_select(client, k, theta, distinct):
    told = {"k": k, "theta": theta, "distinct": distinct}
    sets = ask(client, **told, parts=["sets"])["sets"]
    wanted = client.post("/v1/select", json={"query": QUERY, **told}).json()
    assert sets["chosen"]["ids"] == [hit["id"] for hit in wanted["hits"]]
    for name in ("copies", "variants"):
        assert sets["chosen"][name] == [hit[name] for hit in wanted["hits"]]
    assert sets["chosen"]["given_up"] == wanted["given_up"]
    for name in ("relevance", "redundancy", "objective", "certificate", "proof", "sharpness"):
        assert sets["chosen"][name] == wanted[name]
    top = client.post("/v1/select", json={"query": QUERY, "k": k, "method": "topk"}).json()
    assert sets["top"]["ids"] == [hit["id"] for hit in top["hits"]]
    mmr = {
        "query": QUERY,
        "k": k,
        "theta": 0.7 if theta == 1.0 else theta,
        "method": "mmr",
        "sharpness": DEFAULT.sharpness,
        "pool": 64,
    }
    assert sets["mmr"]["ids"] == [hit["id"] for hit in client.post("/v1/select", json=mmr).json()["hits"]]


def test_coverage_and_cosines_are_those_of_the_vectors(client, index_path):
    found = ask(client, k=5)
    with Index.open(index_path) as index:
        rows = index.oracle().rows(np.arange(len(index)))
        places = {document.id: place for place, document in enumerate(index)}
        query = index.encode([QUERY])[0]
    for chosen in found["sets"].values():
        wanted = metrics.coverage(rows, rows @ query, [places[i] for i in chosen["ids"]])
        assert chosen["coverage"] == pytest.approx(wanted, abs=1e-6)
    own = rows[[places[passage["id"]] for passage in found["passages"]]]
    assert np.allclose(found["cosines"], own @ own.T, atol=1e-4)


def test_candidates_are_in_order_and_copies_lie_together(client):
    found = ask(client, k=5)
    candidates = {one["id"]: one for one in found["candidates"]}
    assert len(candidates) == len(documents())
    assert [one["rank"] for one in found["candidates"]] == list(range(1, len(candidates) + 1))
    assert (np.diff([one["score"] for one in found["candidates"]]) <= 1e-6).all()
    for one in found["passages"]:
        same = candidates[one["id"]]
        assert (one["rank"], one["x"], one["y"]) == pytest.approx((same["rank"], same["x"], same["y"]))
    places = np.array([[one["x"], one["y"]] for one in found["candidates"]])
    spread = np.ptp(places, axis=0).max()
    copy, original = candidates["copy 1"], candidates["asthma/treatment"]
    assert np.hypot(copy["x"] - original["x"], copy["y"] - original["y"]) < 0.1 * spread
    assert 0.0 < found["shown"] < 1.0


def test_the_curve_is_that_of_frontier(client):
    curve = ask(client, k=5, distinct=0.9, parts=["curve"])["curve"]
    told = {"query": QUERY, "k": 5, "distinct": 0.9, "thetas": list(THETAS)}
    wanted = client.post("/v1/frontier", json=told).json()
    assert curve["knee"] == wanted["knee"]
    assert curve["points"] == [
        {name: point[name] for name in ("theta", "relevance", "redundancy")} for point in wanted["points"]
    ]


@pytest.mark.parametrize("part", PARTS)
def test_only_what_was_asked_for_is_answered(client, part):
    found = ask(client, k=3, parts=[part])
    given = {
        name for name in ("sets", "passages", "cosines", "candidates", "shown", "curve") if found[name] is not None
    }
    assert (
        given
        == {"sets": {"sets", "passages", "cosines"}, "candidates": {"candidates", "shown"}, "curve": {"curve"}}[part]
    )


def test_a_pool_bounds_what_is_looked_at(client):
    found = ask(client, k=3, pool=5, parts=["sets", "candidates"])
    assert set(found["sets"]["chosen"]["ids"]) <= {one["id"] for one in found["candidates"][:5]}
    assert found["sets"]["chosen"]["certificate"] is None


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"query": ""}, "query"),
        ({"query": "zzzzqqqq☃"}, "query"),
        ({"query": [1.0, 0.0]}, "query"),
        ({"k": 101}, "k"),
        ({"theta": "auto"}, "theta"),
        ({"parts": []}, "parts"),
        ({"parts": ["all"]}, "parts"),
        ({"time_limit": 1e6}, "time_limit"),
        ({"where": {}}, "where"),
    ],
)
def test_wrong_requests_are_named(client, wrong, named):
    answer = client.post("/v1/inspect", json={"query": QUERY, **wrong})
    assert answer.status_code == 422
    assert named in answer.json()["error"]["message"]


def test_what_is_added_and_deleted_is_seen_at_once(tmp_path):
    path = tmp_path / "changing.index"
    with (
        Index.create(path) as index,
        serving(Settings(str(path), port=0)) as running,
        httpx.Client(base_url=running.url) as client,
    ):
        empty = client.post("/v1/inspect", json={"query": QUERY})
        assert empty.status_code == 422
        assert "empty" in empty.json()["error"]["message"]
        index.add(documents())
        first = ask(client, k=2)["sets"]["top"]["ids"]
        index.add([Document("new", QUERY)])
        assert ask(client, k=2)["sets"]["top"]["ids"] == ["new", first[0]]
        index.delete(["new"])
        assert ask(client, k=2)["sets"]["top"]["ids"] == first


@pytest.mark.engine
@pytest.mark.parametrize("kind", ["uuid", None])
def test_an_engine_is_inspected_too(kind, tmp_path):
    store = STORES["qdrant-memory" if kind else "lancedb-scan"]
    rows = np.random.default_rng(3).standard_normal((60, 24)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    keys = {} if kind is None else {"keys": [MAKE_KEY[kind](i) for i in range(60)]}
    oracle = store.fill(store.place(tmp_path, None), rows, **keys, texts=[f"passage {i}" for i in range(60)])
    served, query = ServedEngine(oracle, None), rows[5].tolist()
    try:
        for theta in (0.3, 0.7, 1.0):
            seen = served.inspect(query, Wanted(6, theta, 0.95, 10.0))
            (wanted,) = served.select([query], {"k": 6, "theta": theta, "distinct": 0.95})
            assert [document.id for document in seen.sets["chosen"].documents] == wanted.ids
            assert [document.text for document in seen.sets["chosen"].documents] == [hit.text for hit in wanted]
        assert len(seen.candidates) == 60
    finally:
        served.close()


class Searches:
    """An oracle of four rows that counts its searches."""

    size, dim, exact = 4, 4, True

    def __init__(self):
        self.count = 0

    def top(self, directions, m):
        self.count += 1
        scores = np.asarray(directions) @ np.eye(4)
        ids = np.argsort(-scores, axis=1, kind="stable")[:, :m]
        return ids, np.take_along_axis(scores, ids, axis=1)

    def rows(self, ids):
        return np.eye(4)[ids]

    def mean(self):
        return np.full(4, 0.25)


def test_studies_are_kept_while_they_hold():
    oracle, other = Searches(), Searches()
    query = [1.0, 0.0, 0.0, 0.0]

    def make(of):
        return lambda: Study(of, np.array(query), lambda ids: [Document(str(i), "") for i in ids])

    studies = Studies(most=2)
    first = studies.open(query, oracle, make(oracle))
    assert studies.open(query, oracle, make(oracle)) is first
    assert oracle.count == 1
    assert studies.open(query, other, make(other)) is not first
    studies.open("a", other, make(other))
    studies.open("b", other, make(other))
    assert len(studies._kept) == 2
    brief = Studies(seconds=0.0)
    assert brief.open(query, oracle, make(oracle)) is not brief.open(query, oracle, make(oracle))


def test_threads_share_studies(client):
    seen: list[list[str]] = []

    def move(theta):
        seen.append(ask(client, k=4, theta=theta, parts=["sets"])["sets"]["top"]["ids"])

    threads = [threading.Thread(target=move, args=(theta,)) for theta in np.linspace(0.0, 1.0, 8).tolist()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 8
    assert all(ids == seen[0] for ids in seen)


def test_a_plane_shows_the_widest_directions():
    rng = np.random.default_rng(4)
    rows = rng.standard_normal((50, 6)) * [9.0, 1.0, 4.0, 0.1, 0.1, 0.1]
    plane = Plane.through(rows)
    places = plane.place(rows)
    assert np.allclose(places.mean(axis=0), 0.0)
    assert abs(plane.axes[0, 0]) > 0.95
    assert abs(plane.axes[2, 1]) > 0.95
    assert plane.share == pytest.approx(places.var(axis=0).sum() / rows.var(axis=0).sum())
    assert (
        np.linalg.norm(places[:, None] - places, axis=2) <= np.linalg.norm(rows[:, None] - rows, axis=2) + 1e-9
    ).all()


@pytest.mark.parametrize("rows", [np.eye(3)[:1], np.tile(np.eye(3)[0], (5, 1)), np.eye(3)[:2]])
def test_few_rows_have_a_plane_too(rows):
    plane = Plane.through(rows)
    assert np.isfinite(plane.place(rows)).all()
    assert plane.share == pytest.approx(1.0)
