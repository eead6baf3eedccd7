"""Bad input gets a 4xx with a message that helps, never a 500 and never a stack trace."""

from __future__ import annotations

import json

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from breadth.service.schemas.requests import SelectRequest

DIM = 256
UNIT = [1.0] + [0.0] * (DIM - 1)


@pytest.fixture(scope="module")
def client(running):
    with httpx.Client(base_url=running.url) as made:
        yield made


def post(client, path, body):
    content = body if isinstance(body, (bytes, str)) else json.dumps(body)
    return client.post(path, content=content, headers={"Content-Type": "application/json"})


def check(answer, status, *words):
    assert answer.status_code == status, answer.text
    error = answer.json()["error"]
    for word in words:
        assert word in error["message"], error["message"]
    assert "Traceback" not in answer.text
    assert len(answer.content) < 10_000


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({"query": [1.0, 0.0]}, 422, ("query", "256")),
        ({"query": [0.0] * DIM}, 422, ("zeros",)),
        ({"query": [2.0] + [0.0] * (DIM - 1)}, 422, ("length", "norm")),
        ({"query": [1e308] * DIM}, 422, ("length inf", "norm")),
        ({"query": [float("nan"), *UNIT[1:]]}, 422, ("number 0", "finite")),
        ({"query": [float("inf"), *UNIT[1:]]}, 422, ("number 0", "finite")),
        ({"query": [10**400, *UNIT[1:]]}, 422, ("number 0", "finite")),
        ({"query": ["1", *UNIT[1:]]}, 422, ("number 0",)),
        ({"query": [True, *UNIT[1:]]}, 422, ("number 0",)),
        ({"query": []}, 422, ("256",)),
        ({"query": ""}, 422, ("empty",)),
        ({"query": "  "}, 422, ("empty",)),
        ({"query": 5}, 422, ("query", "text")),
        ({"query": None}, 422, ("query", "text")),
        ({"query": "\ud800"}, 422, ("query",)),
        ({"query": "asthma \x00"}, None, ()),
        ({}, 422, ("query is missing",)),
        ([], 422, ("JSON object",)),
        ("null", 422, ()),
        (b"", 422, ()),
        ({"query": "asthma", "k": 10**9}, 422, ("k is 1000000000", "at most 1000")),
        ({"query": "asthma", "k": 0}, 422, ("k",)),
        ({"query": "asthma", "k": -1}, 422, ("k",)),
        ({"query": "asthma", "k": "ten"}, 422, ("k", "integer")),
        ({"query": "asthma", "k": "10"}, 422, ("k", "integer")),
        ({"query": "asthma", "k": 2.5}, 422, ("k", "integer")),
        ({"query": "asthma", "theta": 2}, 422, ("theta",)),
        ({"query": "asthma", "theta": "some"}, 422, ("theta",)),
        ({"query": "asthma", "theta": 0.5, "keep": 0.5}, 422, ("theta or keep",)),
        ({"query": "asthma", "tehta": 0.5}, 422, ("no field tehta",)),
        ({"query": "asthma", "\ud800": 0.5}, 422, ()),
        ({"query": "asthma", "method": "best"}, 422, ("method", "certified")),
        ({"query": "asthma", "options": {"scores": 1}}, 422, ("no option 'scores'",)),
        ({"query": "asthma", "method": "frank_wolfe", "options": {"init": 5}}, 422, ("init",)),
        ({"query": "asthma", "method": "exact"}, 422, ()),
        ({"query": "asthma", "method": "mmr"}, 422, ("pool",)),
        ({"query": "asthma", "sharpness": 3}, 422, ("sharpness",)),
        ({"query": "asthma", "pool": 10**7}, 422, ("pool", "10000")),
        ({"query": "asthma", "time_limit": 999}, 422, ("at most 10",)),
        ({"query": "asthma", "prove": 999}, 422, ("at most 10",)),
        ({"query": "asthma", "where": "source = 'nih'"}, 422, ("where",)),
        ({"query": "asthma", "where": {"year": {"$regex": "x"}}}, 422, ("$regex",)),
        ({"query": "asthma", "where": {"$or": []}}, 422, ()),
        ({"query": "asthma", "where": {"year": {"$gte": None}}}, 422, ()),
        ({"query": "asthma", "where": {"a": float("nan")}}, 422, ()),
        ({"query": "asthma", "pinned": ["nobody"]}, 422, ("pinned", "nobody")),
        ({"query": "asthma", "pinned": "asthma/causes"}, 422, ("pinned",)),
        ({"query": "asthma", "group_by": "colour"}, 422, ("group_by", "colour")),
        ({"query": "asthma", "per_group": 1}, 422, ("group_by",)),
        ({"query": "asthma", "budget": -1.0}, 422, ("budget",)),
        ({"query": "asthma", "floor": "high"}, 422, ("floor",)),
        ({"query": UNIT, "hybrid": 0.5}, 422, ("text",)),
        ("{", 400, ("not JSON",)),
        ('{"query": "asthma",}', 400, ("not JSON",)),
        (b"\xff\xfe", 400, ()),
        ("[" * 100_000, 400, ()),
        ('{"query": "asthma", "k": ' + "9" * 5000 + "}", 400, ()),
        ('{"query": "asthma", "where": ' + '{"$not": ' * 500 + "1" + "}" * 500 + "}", 422, ()),
    ],
    ids=lambda value: str(value)[:60].encode("ascii", "backslashreplace").decode() if value is not None else "any",
)
def test_select(client, body, status, words):
    answer = post(client, "/v1/select", body)
    if status is None:
        assert answer.status_code in (200, 422)
    else:
        check(answer, status, *words)


@pytest.mark.parametrize(
    ("path", "body", "words"),
    [
        ("/v1/select/batch", {"queries": []}, ("queries",)),
        ("/v1/select/batch", {"queries": ["a"] * 65}, ("65", "at most 64")),
        ("/v1/select/batch", {"queries": ["asthma", " "]}, ("queries[1]", "empty")),
        ("/v1/select/batch", {"queries": "asthma"}, ("queries",)),
        ("/v1/select/batch", {"queries": ["asthma", [1.0]]}, ("256",)),
        ("/v1/frontier", {"query": "asthma", "thetas": []}, ("thetas",)),
        ("/v1/frontier", {"query": "asthma", "thetas": [0.5, 0.5]}, ("thetas",)),
        ("/v1/frontier", {"query": "asthma", "thetas": [2.0]}, ("thetas",)),
        ("/v1/frontier", {"query": "asthma", "group_by": "source"}, ("no field group_by",)),
        ("/v1/frontier", {"query": " "}, ("empty",)),
        ("/v1/frontier", {"query": "asthma", "where": {"$foo": 1}}, ("$foo",)),
        ("/v1/vector_stores/medical/search", {"query": ["a", "b"]}, ("query",)),
        ("/v1/vector_stores/medical/search", {"query": "a", "rewrite_query": True}, ("rewrite_query",)),
        ("/v1/vector_stores/medical/search", {"query": "a", "rewrite_query": 0}, ("rewrite_query", "false")),
        ("/v1/vector_stores/medical/search", {"query": "a", "filters": {"type": "like"}}, ("filters",)),
        ("/v1/vector_stores/medical/search", {"query": "a", "max_num_results": 10**6}, ("at most 1000",)),
    ],
)
def test_other_routes(client, path, body, words):
    check(post(client, path, body), 422, *words)


def test_what_is_not_there(client):
    check(client.get("/v1/documents/nobody"), 404, "'nobody'")
    check(client.get("/v1/documents/" + "x" * 5000), 404)
    check(client.get("/v1/documents/%00%ff"), 404)
    check(client.get("/v1/documents/"), 404)
    check(client.get("/nothing"), 404, "/openapi.json")
    check(client.get("/v1/select"), 405, "GET")
    check(post(client, "/v1/vector_stores/other/search", {"query": "asthma"}), 404, "'other'", "'medical'")


@pytest.mark.parametrize("size", [4_000_001, 10_000_000])
def test_a_large_body(client, size):
    body = json.dumps({"query": "a" * size})
    check(post(client, "/v1/select", body), 413, "4,000,000")

    def pieces():
        for start in range(0, len(body), 100_000):
            yield body[start : start + 100_000].encode()

    check(client.post("/v1/select", content=pieces()), 413, "4,000,000")


def test_a_body_of_another_type(client):
    answer = client.post("/v1/select", content=json.dumps({"query": "asthma"}), headers={"Content-Type": "text/plain"})
    check(answer, 422, "application/json")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_values_are_answered_without_a_mistake(client, data):
    names = data.draw(st.lists(st.sampled_from(sorted(SelectRequest.model_fields)), unique=True, max_size=4))
    body = {"query": "asthma", "k": 3, **{name: data.draw(VALUES) for name in names}}
    answer = post(client, "/v1/select", body)
    assert answer.status_code in (200, 400, 422), answer.text
