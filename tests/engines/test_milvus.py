"""Milvus: what its schema says, fields of their own, knobs. The contract and the server are in other files."""

from __future__ import annotations

import numpy as np
import pytest
from pymilvus import DataType, MilvusClient

import breadth
from breadth import EngineError, InputError, OracleError
from tests.engines.stores.milvus import make_collection
from tests.synthetic import isotropic

FLAT = {"index_type": "FLAT", "metric_type": "IP"}


@pytest.fixture(scope="module")
def rows():
    return isotropic(np.random.default_rng(2), 40, 8)


@pytest.fixture(scope="module")
def lite(tmp_path_factory, rows):
    """A file of Milvus Lite with some collections."""
    path = str(tmp_path_factory.mktemp("milvus") / "milvus.db")
    client = MilvusClient(path)
    make_collection(client, "docs", rows, None, None, None, FLAT)
    make_collection(client, "negative", rows, [number - 5 for number in range(40)], None, None, FLAT)
    bare = client.create_schema(auto_id=False)
    bare.add_field("id", DataType.INT64, is_primary=True)
    bare.add_field("v", DataType.FLOAT_VECTOR, dim=8)
    client.create_collection("unindexed", schema=bare)
    two = client.create_schema(auto_id=False)
    two.add_field("id", DataType.INT64, is_primary=True)
    for name in ("v", "w"):
        two.add_field(name, DataType.FLOAT_VECTOR, dim=8)
    indexes = client.prepare_index_params()
    for name in ("v", "w"):
        indexes.add_index(name, **FLAT)
    client.create_collection("two", schema=two, index_params=indexes)
    _make_typed(client, rows)
    client.close()
    return path


def _make_typed(client, rows) -> None:
    schema = client.create_schema(auto_id=False)
    schema.add_field("id", DataType.INT64, is_primary=True)
    schema.add_field("v", DataType.FLOAT_VECTOR, dim=8)
    schema.add_field("year", DataType.INT64)
    schema.add_field("title", DataType.VARCHAR, max_length=50)
    schema.add_field("open", DataType.BOOL)
    schema.add_field("tags", DataType.ARRAY, element_type=DataType.VARCHAR, max_capacity=4, max_length=20)
    schema.add_field("more", DataType.JSON)
    indexes = client.prepare_index_params()
    indexes.add_index("v", **FLAT)
    client.create_collection("typed", schema=schema, index_params=indexes)
    client.insert(
        "typed",
        [
            {"id": i, "v": row, "year": 2000 + i, "title": f"t{i:02}", "open": i % 2 == 0, "tags": ["a", f"x{i % 3}"],
             "more": {"depth": i % 4}}
            for i, row in enumerate(rows)
        ],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("collection", "settings", "message"),
    [
        ("nothing", {}, "this Milvus has no collection 'nothing'"),
        ("unindexed", {}, "unindexed has no index on 'v'; create one, e.g. FLAT with metric_type='IP'"),
        ("two", {}, r"several fields with vectors \(v, w\); pass vectors=FIELD"),
        ("two", {"vectors": "x"}, "has no field 'x' with vectors"),
        ("docs", {"text": "body"}, "text: docs has no field 'body'; it has key, text, embedding"),
        ("typed", {"metadata": "title"}, "the field 'title' of typed is not JSON"),
        ("typed", {"where": {"nothing": 1}}, "typed has no field 'nothing', and no dynamic field"),
        ("docs", {"where": {"a": None}}, "Milvus cannot compare with null"),
        ("docs", {"where": {"$not": {"a": {"$gt": 3}}}}, "Milvus Lite has no complement of an order"),
        ("docs", {"ef": 0}, "ef must be"),
        ("docs", {"timeout": 0}, "timeout must be"),
    ],
)
def test_what_is_wrong_is_said(lite, collection, settings, message):
    with pytest.raises(InputError, match=message):
        breadth.oracles.milvus(lite, collection, **settings)


def test_no_server():
    with pytest.raises(EngineError, match="Milvus, collection docs"):
        breadth.oracles.milvus("http://127.0.0.1:9", "docs", timeout=1.0)


@pytest.mark.parametrize(
    ("where", "holds"),
    [
        ({"year": {"$gte": 2030}}, lambda i: 2000 + i >= 2030),
        ({"year": {"$gt": 2029.5}}, lambda i: 2000 + i > 2029.5),
        ({"year": {"$lte": 2029.5, "$gte": 2003.5}}, lambda i: 2003.5 <= 2000 + i <= 2029.5),
        ({"year": 2003.0}, lambda i: i == 3),
        ({"year": 2003.5}, lambda i: False),
        ({"year": "2003"}, lambda i: False),
        ({"title": {"$in": ["t01", "t03", 4]}}, lambda i: i in (1, 3)),
        ({"title": {"$gt": "t35"}}, lambda i: i > 35),
        ({"open": True}, lambda i: i % 2 == 0),
        ({"open": 1}, lambda i: False),
        ({"$not": {"year": {"$lt": 2030}}}, lambda i: i >= 30),
        ({"tags": {"$contains": "x1"}}, lambda i: i % 3 == 1),
        ({"tags": {"$contains": 1}}, lambda i: False),
        ({"title": {"$contains": "t01"}}, lambda i: False),
        ({"title": {"$exists": True}}, lambda i: True),
        ({"depth": 2}, lambda i: i % 4 == 2),
    ],
    ids=lambda value: "" if callable(value) else str(value),
)
def test_fields_of_their_own_are_filtered_by_their_types(lite, where, holds):
    with breadth.oracles.milvus(lite, "typed", text="title", metadata="more") as oracle:
        inside = oracle.filtered(where)
        assert inside.size == sum(map(holds, range(40)))
        if inside.size:
            assert all(map(holds, inside.top(np.ones((1, 8)), 40)[0][0].tolist()))


def test_documents_have_all_fields(lite):
    with breadth.oracles.milvus(lite, "typed", text="title", metadata="more") as oracle:
        (found,) = oracle.documents(np.array([5]))
        assert found.text == "t05"
        assert found.metadata == {"depth": 1, "year": 2005, "open": False, "tags": ["a", "x2"]}


def test_negative_keys_are_named(lite, rows):
    with breadth.oracles.milvus(lite, "negative") as oracle:
        assert breadth.select(oracle, rows[0], k=3).ids[0] == -5


def test_the_mean_is_refused(lite):
    with breadth.oracles.milvus(lite, "docs") as oracle, pytest.raises(OracleError, match="Milvus computes no mean"):
        oracle.mean()


def test_an_address_opens_a_collection(lite):
    with breadth.open(f"milvus:{lite}/docs?timeout=5") as oracle:
        assert (oracle.size, oracle.dim, oracle.exact, oracle.limit) == (40, 8, True, 16_384)


def test_a_client_of_the_users_stays_open(lite, rows):
    client = MilvusClient(lite)
    with breadth.oracles.milvus(client, "docs") as oracle, breadth.oracles.milvus(lite, "docs") as own:
        assert oracle.exact
        assert breadth.select(oracle, rows[0], k=5).ids.tolist() == breadth.select(own, rows[0], k=5).ids.tolist()
    assert client.has_collection("docs")
    with pytest.raises(InputError, match="no collection 'nothing'"):
        breadth.oracles.milvus(client, "nothing")
    assert client.has_collection("docs")
    client.close()
