"""What is special to USearch, LanceDB and Chroma: what is refused, and what happens to a server that is gone."""

from __future__ import annotations

import time

import chromadb
import lancedb
import numpy as np
import pyarrow as pa
import pytest
from chromadb.config import Settings
from usearch.index import Index

import breadth
from breadth import EngineError, InputError
from breadth.engines.chroma.filters import translate
from breadth.filters import matches, read_filter
from tests.engines.servers.chroma import chroma
from tests.engines.stores.chroma import put
from tests.synthetic import isotropic, query_near


@pytest.fixture
def E(rng):
    return isotropic(rng, 300, 8)


# USearch


def test_what_usearch_cannot_serve_is_refused(E, tmp_path):
    for settings, message in (
        ({"metric": "divergence"}, "has the metric Divergence; build it with metric='ip'"),
        ({"dtype": "b1", "metric": "hamming"}, "has the metric Hamming"),
        ({"multi": True, "metric": "ip"}, r"several vectors for a key \(multi\)"),
    ):
        with pytest.raises(InputError, match=message):
            breadth.oracles.usearch(Index(**{"ndim": 8, **settings}))
    large = Index(ndim=8, metric="ip")
    large.add(np.array([2**63 + 5], dtype=np.uint64), E[:1])
    with pytest.raises(InputError, match=r"keys must be below 2\*\*63"):
        breadth.oracles.usearch(large)
    (tmp_path / "other").write_bytes(b"something else")
    for path in (tmp_path / "missing", tmp_path / "other"):
        with pytest.raises((InputError, EngineError), match=r"no file of a USearch index|cannot read"):
            breadth.oracles.usearch(path)


# LanceDB


@pytest.fixture
def place(tmp_path, E):
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(E.ravel()), 8)
    columns = {
        "name": [f"n{i}" for i in range(300)],
        "vector": vectors,
        "other": vectors,
        "tags": [["a"] if i % 2 else ["b", "c"] for i in range(300)],
        "size": [{"width": i} for i in range(300)],
        "weight": pa.array([i / 2 for i in range(300)]),
    }
    lancedb.connect(tmp_path).create_table("docs", pa.table(columns))
    return tmp_path


def test_columns_are_named_or_asked_for(place, E):
    for settings, message in (
        ({}, "the table has 2 columns of vectors; pass vectors= one of vector, other"),
        ({"vectors": "name"}, "there is no column 'name' of them"),
        ({"vectors": "vector", "key": "id"}, "key: the table has no column 'id'; it has name, vector"),
        ({"vectors": "vector", "metric": "hamming"}, "metric must be one of 'dot', 'cosine', 'l2', got 'hamming'"),
    ):
        with pytest.raises(InputError, match=message):
            breadth.oracles.lancedb(place, "docs", **settings)
    with pytest.raises(InputError, match="has no table 'nothing'"):
        breadth.oracles.lancedb(place, "nothing")
    with pytest.raises(InputError, match="there is no folder"):
        breadth.oracles.lancedb(place / "missing", "docs")
    oracle = breadth.oracles.lancedb(place, "docs", vectors="other", key="name")
    assert breadth.select(oracle, E[7], k=1).ids.tolist() == ["n7"]


@pytest.mark.parametrize(
    ("where", "count"),
    [
        ({"tags": {"$contains": "a"}}, 150),
        ({"size.width": {"$gte": 290}}, 10),
        ({"size.depth": 1}, 0),
        ({"weight": 3}, 1),
        ({"weight": {"$lt": 1.25}}, 3),
        ({"size.width": {"$gt": 290.5}}, 9),
        ({"size.width": 2.5}, 0),
        ({"name": {"$gte": "n99"}}, 1),
        ({"nothing": {"$exists": False}}, 300),
    ],
)
def test_filters_know_the_types_of_columns(place, where, count):
    oracle = breadth.oracles.lancedb(place, "docs", vectors="vector", key="name")
    assert oracle.filtered(where).size == count


def test_an_index_with_another_metric_is_refused(place, E):
    table = lancedb.connect(place).open_table("docs")
    table.create_index("vector", config=lancedb.index.IvfFlat(distance_type="l2", num_partitions=2))
    opened = {"vectors": "vector", "key": "name"}
    with pytest.raises(InputError, match="the index measures 'l2'; leave metric out, or scan with exact=True"):
        breadth.oracles.lancedb(place, "docs", metric="dot", **opened)
    assert not breadth.oracles.lancedb(place, "docs", **opened).exact
    scanned = breadth.oracles.lancedb(place, "docs", metric="dot", exact=True, **opened)
    assert scanned.exact
    assert breadth.select(scanned, E[3], k=5).objective == pytest.approx(
        breadth.select(E, E[3], k=5).objective, abs=1e-6
    )


# Chroma


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ({"$not": {"year": {"$gt": 2000}}}, "cannot say that 'year' is not in a range"),
        ({"source": {"$gt": "a"}}, "Chroma orders numbers alone"),
        ({"year": {"$exists": True}}, "cannot ask whether a row has the field 'year'"),
        ({"year": None}, "Chroma holds no null"),
    ],
)
def test_filters_that_chroma_cannot_say_are_refused(where, message):
    with pytest.raises(InputError, match=message):
        translate(read_filter(where))


def test_other_filters_of_chroma(tmp_path, E):
    metadata = [{"n": i % 7, "s": "abc"[i % 3], "t": ["x", "y"] if i % 2 else ["z"]} for i in range(300)]
    client = chromadb.PersistentClient(str(tmp_path), settings=Settings(anonymized_telemetry=False))
    put(client, "docs", "ip", E, [f"k{i}" for i in range(300)], metadata, None)
    oracle = breadth.oracles.chroma(client, "docs")
    for where in (
        {"t": {"$contains": "x"}},
        {"$not": {"t": {"$contains": "x"}}},
        {"n": {"$in": [1, 2.0, "a", 3]}},
        {"n": {"$nin": [1, 2.0, "a"]}},
        {"s": {"$in": []}},
        {"$not": {"$or": [{"s": "a"}, {"n": {"$in": [1, 2]}}]}},
        {},
    ):
        expected = sum(matches(read_filter(where), entry) for entry in metadata)
        assert oracle.filtered(where).size == expected, where
    client.close()


def test_what_is_no_chroma_is_refused(tmp_path):
    with pytest.raises(InputError, match="holds no Chroma"):
        breadth.oracles.chroma(tmp_path, "docs")
    client = chromadb.PersistentClient(str(tmp_path), settings=Settings(anonymized_telemetry=False))
    with pytest.raises(InputError, match="has no collection 'docs'"):
        breadth.oracles.chroma(client, "docs")
    client.close()
    with pytest.raises(EngineError, match="Connect"):
        breadth.oracles.chroma("http://127.0.0.1:9", "docs", timeout=2.0)


def test_a_chroma_server_that_halts_or_dies_is_an_error(E, rng):
    with chroma() as server:
        host, port = server.url.removeprefix("http://").split(":")
        client = chromadb.HttpClient(host, int(port), settings=Settings(anonymized_telemetry=False))
        put(client, "docs", "ip", E, [f"k{i}" for i in range(300)], None, None)
        oracle = breadth.oracles.chroma(server.url, "docs", timeout=2.0)
        query = query_near(rng, E)
        assert len(breadth.select(oracle, query, k=5).ids) == 5
        with server.halted():
            started = time.monotonic()
            with pytest.raises(EngineError, match=r"Chroma, collection docs: ReadTimeout"):
                breadth.select(oracle, query, k=5)
            assert time.monotonic() - started < 10.0
        assert len(breadth.select(oracle, query, k=5).ids) == 5  # it goes on where it was
        server.kill()
        with pytest.raises(EngineError, match="Chroma, collection docs"):
            breadth.select(oracle, query, k=5)
        oracle.close()
        breadth.engines.chroma.oracle.close(client)
