"""Who may ask, where the service listens, and what the log holds."""

from __future__ import annotations

import json
import logging

import httpx
import pytest

from breadth.errors import InputError
from breadth.service.limits import Limits
from breadth.service.logs import JsonLines
from breadth.service.settings import Settings
from tests.service.running import serving

TOKEN = "a-token-that-is-long-enough"


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.org", ""])
def test_no_listening_beyond_this_machine_without_a_token(host):
    with pytest.raises(InputError, match="BREADTH_TOKEN"):
        Settings("none", host=host)
    assert TOKEN not in repr(Settings("none", host=host, token=TOKEN))


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost", "127.8.8.8"])
def test_this_machine_needs_no_token(host):
    assert Settings("none", host=host).token is None


@pytest.mark.parametrize("token", ["", "short", "with a space in it, though long", "ümlaute-are-not-ascii!"])
def test_a_token_that_is_none(token):
    with pytest.raises(InputError, match="token"):
        Settings("none", token=token)


@pytest.mark.parametrize("wrong", [{"port": 70000}, {"window": -1.0}, {"drain": 61.0}, {"threads": 0}, {"together": 0}])
def test_settings_that_cannot_be(wrong):
    with pytest.raises(InputError, match=next(iter(wrong))):
        Settings("none", **wrong)
    with pytest.raises(InputError, match="limit k"):
        Limits(k=0)


def test_the_token_opens_everything_but_health(index_path):
    with (
        serving(Settings(str(index_path), port=0, token=TOKEN)) as running,
        httpx.Client(base_url=running.url) as client,
    ):
        for header in (None, "Bearer wrong", TOKEN, f"Basic {TOKEN}"):
            wrong = {} if header is None else {"Authorization": header}
            for path in ("/metrics", "/openapi.json", "/v1/documents/script", "/nothing"):
                refused = client.get(path, headers=wrong)
                assert refused.status_code == 401
                assert "Bearer" in refused.json()["error"]["message"]
            assert client.post("/v1/select", json={"query": "asthma"}, headers=wrong).status_code == 401
        assert client.get("/healthz").status_code == client.get("/readyz").status_code == 200
        right = {"Authorization": f"Bearer {TOKEN}", "Host": "any.example.org"}
        assert client.post("/v1/select", json={"query": "asthma"}, headers=right).status_code == 200


def test_without_a_token_only_names_of_this_machine_are_answered(running):
    for host in ("evil.example.org", "evil.example.org:80", "127.0.0.1.evil.org"):
        refused = httpx.get(f"{running.url}/v1/documents/script", headers={"Host": host})
        assert refused.status_code == 403
    for host in ("localhost", "localhost:8000", "127.0.0.1:1", "[::1]:80"):
        assert httpx.get(f"{running.url}/v1/documents/script", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("shown", [False, True])
def test_the_log_holds_queries_only_if_asked(index_path, shown):
    lines: list[str] = []

    class Collect(logging.Handler):
        def emit(self, record):
            lines.append(JsonLines().format(record))

    logger, handler = logging.getLogger("breadth.service"), Collect()
    logger.addHandler(handler)
    logger.setLevel("INFO")
    try:
        with serving(Settings(str(index_path), port=0, log_queries=shown)) as running:
            answers = [
                httpx.post(f"{running.url}/v1/select", json={"query": "secret asthma", "k": 3}),
                httpx.post(f"{running.url}/v1/frontier", json={"query": "secret gout", "k": 3}),
                httpx.post(f"{running.url}/v1/select", json={"query": "secret", "secret": 3}),
                httpx.get(f"{running.url}/v1/documents/secret"),
            ]
    finally:
        logger.removeHandler(handler)
    entries = [json.loads(line) for line in lines]
    names = [answer.headers["x-request-id"] for answer in answers]
    # A service that another test has stopped may still write a line.
    requests = [entry for entry in entries if entry["event"] == "request" and entry["request"] in names]
    assert [entry["status"] for entry in requests] == [200, 200, 422, 404]
    assert [entry["request"] for entry in requests] == names
    assert requests[0]["k"] == 3
    assert requests[0]["ms"] > 0
    assert ("secret asthma" in "".join(lines)) == shown
    if not shown:
        assert "secret" not in "".join(lines)
