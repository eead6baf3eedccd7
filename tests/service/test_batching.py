"""Queries that arrive together share searches, and one that is wrong does not harm the others."""

from __future__ import annotations

import asyncio
import threading

import httpx
import numpy as np
import pytest

from breadth.errors import EngineError, InputError, MissingExtraError, StoreError
from breadth.oracles import ArrayOracle, CountingOracle
from breadth.service.collections.engine import ServedEngine
from breadth.service.limits import Limits
from breadth.service.settings import Settings
from breadth.service.state import Service
from tests.service.running import serving
from tests.synthetic import clustered

WINDOW = 0.2
"""Long enough for all queries of a test to arrive, however busy the machine is."""


async def ask_together(url, bodies):
    limits = httpx.Limits(max_connections=len(bodies))
    async with httpx.AsyncClient(base_url=url, limits=limits, timeout=60) as client:
        return await asyncio.gather(*(client.post("/v1/select", json=body) for body in bodies))


@pytest.fixture(scope="module")
def rows():
    return clustered(np.random.default_rng(5), 400, 16)


def test_queries_that_arrive_together_share_scans(rows):
    counting = CountingOracle(ArrayOracle(rows))
    queries = rows[:16].tolist()
    settings = Settings("none", port=0, window=WINDOW)
    with serving(settings, lambda: ServedEngine(counting, None)) as running:
        before = counting.searches
        single = httpx.post(f"{running.url}/v1/select", json={"query": queries[0], "k": 5}).json()
        alone = counting.searches - before
        answers = asyncio.run(ask_together(running.url, [{"query": query, "k": 5} for query in queries]))
        together = counting.searches - before - alone
        metrics = running.service.metrics
        assert (metrics.searches.value(), metrics.queries.value()) == (2, 17)
    assert together <= 2 * alone < 16 * alone
    assert answers[0].json()["hits"] == single["hits"]
    served = ServedEngine(ArrayOracle(rows), None)
    for query, answer in zip(queries, answers, strict=True):
        (wanted,) = served.select([query], {"k": 5})
        assert [hit["id"] for hit in answer.json()["hits"]] == wanted.ids


def test_only_queries_with_the_same_arguments_share_a_search(index_path):
    bodies = [{"query": "asthma", "k": 3 + n % 2} for n in range(8)]
    with serving(Settings(str(index_path), port=0, window=WINDOW)) as running:
        answers = asyncio.run(ask_together(running.url, bodies))
        assert running.service.metrics.searches.value() == 2
    assert [len(answer.json()["hits"]) for answer in answers] == [body["k"] for body in bodies]


def test_a_wrong_query_does_not_harm_its_neighbours(index_path):
    bodies = [{"query": text, "k": 3} for text in ("asthma", " ", "gout", "measles")]
    with serving(Settings(str(index_path), port=0, window=WINDOW)) as running:
        answers = asyncio.run(ask_together(running.url, bodies))
    assert [answer.status_code for answer in answers] == [200, 422, 200, 200]
    assert "empty" in answers[1].json()["error"]["message"]


def test_a_full_group_does_not_wait_and_the_next_one_begins(index_path):
    settings = Settings(str(index_path), port=0, window=30.0, together=4)
    with serving(settings) as running:
        answers = asyncio.run(ask_together(running.url, [{"query": "asthma", "k": 3}] * 8))
        assert running.service.metrics.searches.value() == 2
    assert {answer.status_code for answer in answers} == {200}


class Slow:
    """A collection that answers when it is told to."""

    dim = 2

    def __init__(self) -> None:
        self.go, self.closed = threading.Event(), False

    def count(self):
        return 0

    def check(self, query):
        pass

    def select(self, queries, arguments):
        self.go.wait(20)
        raise InputError("there is nothing here")

    def close(self):
        self.closed = True


def test_too_many_and_too_slow_requests_are_told_to_come_back():
    slow = Slow()
    limits = Limits(waiting=2, patience=0.3)
    with serving(Settings("none", port=0, window=0.0, limits=limits, threads=1), lambda: slow) as running:
        answers = asyncio.run(ask_together(running.url, [{"query": "asthma"}] * 4))
        slow.go.set()
    assert {answer.status_code for answer in answers} == {503}
    messages = [answer.json()["error"]["message"] for answer in answers]
    assert sum("waiting already" in message for message in messages) == 2
    assert sum("within 0.3 seconds" in message for message in messages) == 2
    assert all(answer.headers["retry-after"] for answer in answers)
    assert slow.closed


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (StoreError("/secret/folder is locked"), 503),
        (EngineError("secret host"), 503),
        (MissingExtraError("bm25s", "bm25"), 501),
        (RuntimeError("secret"), 500),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_goes_wrong_in_a_collection_is_not_told(error, status):
    class Broken(Slow):
        def select(self, queries, arguments):
            raise error

    with serving(Settings("none", port=0), Broken) as running:
        for path, body in (("/v1/select", {"query": "asthma"}), ("/v1/select/batch", {"queries": ["a", "b"]})):
            answer = httpx.post(f"{running.url}{path}", json=body)
            assert answer.status_code == status
            assert "secret" not in answer.text
            assert answer.headers["x-request-id"]
        assert httpx.get(f"{running.url}/healthz").status_code == 200


def test_a_reload_lends_the_old_collection_until_it_is_given_back():
    made: list[Slow] = []

    def open_next():
        made.append(Slow())
        return made[-1]

    service = Service(Settings("none", port=0), open_next)
    with service.shelf.lend() as old:
        service.reload()
        assert old is made[0]
        with service.shelf.lend() as new:
            assert new is made[1]
        assert not made[0].closed
    assert made[0].closed
    assert not made[1].closed
    service.shelf.close()
    assert made[1].closed
    service.threads.shutdown()


def test_a_reload_that_fails_keeps_the_collection(rows):
    left = [ServedEngine(ArrayOracle(rows), None)]
    service = Service(Settings("none", port=0), lambda: left.pop())
    service.reload()
    with service.shelf.lend() as served:
        assert served.count() == 400
    assert service.metrics.reloads.value() == 0
    service.threads.shutdown()
