"""Qdrant: what a collection says of itself, payloads, and a server that is not there or does not answer."""

from __future__ import annotations

import socket
import time
import uuid

import numpy as np
import pytest
import qdrant_edge as edge
from qdrant_client import QdrantClient, models

import breadth
from breadth import EngineError, InputError, OracleError
from tests.synthetic import isotropic

ROWS = isotropic(np.random.default_rng(2), 30, 8)


def make_client(payload=lambda i: {"text": f"text {i}", "part": i % 3}, key=lambda i: i, rows=ROWS, **vectors):
    client = QdrantClient(":memory:")
    shapes = vectors or {"": models.VectorParams(size=8, distance=models.Distance.DOT)}
    client.create_collection("docs", vectors_config=shapes.get("", shapes))
    points = [
        models.PointStruct(
            id=key(i),
            vector=row.tolist() if "" in shapes else {name: row.tolist() for name in shapes},
            payload=payload(i),
        )
        for i, row in enumerate(rows)
    ]
    client.upsert("docs", points)
    return client


def shape(distance=models.Distance.DOT, **more):
    return models.VectorParams(size=8, distance=distance, **more)


def test_what_is_wrong_is_said():
    with pytest.raises(InputError, match="this Qdrant has no collection 'nothing'"):
        breadth.oracles.qdrant(make_client(), "nothing")
    with pytest.raises(InputError, match="has the vectors 'a', 'b'; pass vectors=NAME"):
        breadth.oracles.qdrant(make_client(a=shape(), b=shape()), "docs")
    with pytest.raises(InputError, match="has the distance 'Manhattan'; use Dot, Cosine or Euclid"):
        breadth.oracles.qdrant(make_client(a=shape(models.Distance.MANHATTAN)), "docs")
    with pytest.raises(InputError, match=r"a row has length 2, not 1; divide .*distance Cosine"):
        breadth.oracles.qdrant(make_client(rows=2 * ROWS), "docs")
    with pytest.raises(InputError, match="pass the QdrantClient itself"):
        breadth.oracles.qdrant(":memory:", "docs")
    with pytest.raises(InputError, match="ef must be"):
        breadth.oracles.qdrant(make_client(), "docs", ef=0)


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ({"text": {"$gt": "m"}}, "Qdrant orders numbers and dates, and 'm' is neither"),
        ({'a "b"': 1}, "Qdrant has no way to address the field"),
        ({"part": 2**53 + 1}, "Qdrant compares numbers as floats"),
    ],
)
def test_filters_that_qdrant_cannot_express_are_refused(where, message):
    with pytest.raises(InputError, match=message):
        breadth.oracles.qdrant(make_client(), "docs", where=where)


def test_dates_are_ordered():
    client = make_client(payload=lambda i: {"day": f"2024-01-{i + 1:02}"})
    oracle = breadth.oracles.qdrant(client, "docs")
    assert oracle.filtered({"day": {"$gte": "2024-01-20", "$lt": "2024-01-25"}}).size == 5


def test_named_vectors():
    client = make_client(a=shape(), b=shape(models.Distance.COSINE))
    for name in ("a", "b"):
        oracle = breadth.oracles.qdrant(client, "docs", vectors=name)
        np.testing.assert_allclose(oracle.rows(np.array([4, 2])), ROWS[[4, 2]], atol=1e-6)
        assert oracle.top_rows(ROWS[:1], 3)[0][0, 0] == 0


def test_payloads_as_langchain_writes_them():
    client = make_client(payload=lambda i: {"page_content": f"text {i}", "metadata": {"part": i % 3}})
    oracle = breadth.oracles.qdrant(client, "docs")
    assert oracle.documents(np.array([4])) == [breadth.oracles.Payload("text 4", {"part": 1})]
    assert oracle.filtered({"part": 1}).size == 10


def test_uuids_may_be_written_as_text():
    keys = [uuid.UUID(int=i + 1) for i in range(30)]
    oracle = breadth.oracles.qdrant(make_client(key=lambda i: str(keys[i])), "docs")
    chosen = breadth.select(oracle, ROWS[0], k=4, pinned=[str(keys[9])])
    assert keys[9] in chosen.ids.tolist()
    with pytest.raises(InputError, match="has no point 'nothing'; was it deleted"):
        oracle.rows(oracle.handles(["nothing"]))


def test_ids_of_two_kinds_are_an_error():
    oracle = breadth.oracles.qdrant(make_client(), "docs")
    oracle._door._client.upsert(
        "docs", [models.PointStruct(id=str(uuid.UUID(int=5)), vector=ROWS[0].tolist(), payload={})]
    )
    with pytest.raises(EngineError, match="has numbers and UUIDs as ids"):
        oracle.top(ROWS[:1], 31)


def test_the_mean_is_refused():
    with pytest.raises(OracleError, match="Qdrant computes no mean"):
        breadth.oracles.qdrant(make_client(), "docs").mean()


def test_a_server_that_is_not_there_or_does_not_answer():
    """No server of Qdrant can be had as a package; what its client does without an answer can be seen all the same."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        started = time.monotonic()
        with pytest.raises(EngineError, match=r"Qdrant, collection docs: .*timed out"):
            breadth.oracles.qdrant(f"http://127.0.0.1:{port}", "docs", timeout=1.0)
        assert time.monotonic() - started < 6.0
    with pytest.raises(EngineError, match=r"Qdrant, collection docs: .*refused"):
        breadth.oracles.qdrant(f"http://127.0.0.1:{port}", "docs", timeout=1.0)


def test_edge_says_what_is_wrong(tmp_path):
    with pytest.raises(InputError, match="holds no shard of Qdrant Edge"):
        breadth.oracles.qdrant_edge(tmp_path)
    config = edge.EdgeConfig(vectors=edge.EdgeVectorParams(size=8, distance=edge.Distance.Dot))
    shard = edge.EdgeShard.create(str(tmp_path), config)
    points = [edge.Point(id=i, vector=row.tolist(), payload={"ok": i % 2 == 0}) for i, row in enumerate(ROWS)]
    shard.update(edge.UpdateOperation.upsert_points(points))
    with pytest.raises(EngineError, match="Qdrant Edge, folder"):  # one process at a time
        breadth.oracles.qdrant_edge(tmp_path)
    shard.close()
    with breadth.open(f"qdrant_edge:{tmp_path}?exact=true") as oracle:
        assert (oracle.size, oracle.dim, oracle.exact) == (30, 8, True)
        with pytest.raises(InputError, match="takes true and false for 1 and 0"):
            oracle.filtered({"ok": True})
