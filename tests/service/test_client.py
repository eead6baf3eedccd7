"""The clients give what the library gives, and need no server code."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import numpy as np
import pytest

from breadth.errors import InputError
from breadth.index import Index
from breadth.service.client import AsyncClient, Client, ServiceError
from breadth.service.settings import Settings
from tests.service.running import serving

QUERY = "How is asthma treated?"


@pytest.fixture(scope="module")
def index(index_path):
    with Index.open(index_path) as opened:
        yield opened


def test_the_client_gives_what_the_index_gives(running, index):
    with Client(running.url) as client:
        found = client.select(QUERY, k=5, theta=0.8, where={"source": {"$ne": "copy"}})
        wanted = index.search(QUERY, k=5, theta=0.8, where={"source": {"$ne": "copy"}})
        assert list(found.ids) == wanted.ids
        assert found.certificate.bound == pytest.approx(wanted.selection.certificate.bound, abs=1e-6)
        assert found.certificate.optimal == wanted.selection.certificate.optimal
        assert found.hits[0].text == wanted[0].text
        by_vector = client.select(index.encode([QUERY])[0], k=5, theta=0.8, where={"source": {"$ne": "copy"}})
        assert by_vector.ids == found.ids
        many = client.select_many([QUERY, "gout"], k=3)
        assert [list(one.ids) for one in many] == [index.search(q, k=3).ids for q in (QUERY, "gout")]
        curve = client.frontier(QUERY, k=4, thetas=[0.5, 1.0])
        assert [point.theta for point in curve.points] == [0.5, 1.0]
        assert client.get("asthma/risk factors").metadata["subject"] == "asthma"
        assert client.ready().documents == len(index)


def test_the_asynchronous_client_gives_the_same(running):
    async def ask():
        async with AsyncClient(running.url) as client:
            results = await asyncio.gather(
                client.select(QUERY, k=4), client.select_many([QUERY], k=4), client.frontier(QUERY, k=4)
            )
            return *results, await client.get("script"), await client.ready()

    chosen, (many,), curve, document, ready = asyncio.run(ask())
    with Client(running.url) as client:
        assert client.select(QUERY, k=4).hits == chosen.hits == many.hits
        assert client.frontier(QUERY, k=4) == curve
        assert client.get("script") == document
        assert client.ready() == ready


def test_errors_say_what_the_service_says(running):
    with Client(running.url) as client:
        with pytest.raises(ServiceError, match="'nobody'") as unknown:
            client.get("nobody")
        assert (unknown.value.status, unknown.value.type) == (404, "not_found")
        with pytest.raises(ServiceError, match="no field tehta"):
            client.select(QUERY, tehta=0.5)
        with pytest.raises(InputError, match="JSON"):
            client.select(np.full(256, np.nan))
        with pytest.raises(InputError, match="use select"):
            client.select_many("asthma")
    with Client("http://127.0.0.1:1") as nobody, pytest.raises(ServiceError, match="does not answer") as silent:
        nobody.ready()
    assert silent.value.status is None


def test_the_client_sends_its_token(index_path):
    token = "the-token-of-this-test"
    with serving(Settings(str(index_path), port=0, token=token)) as running:
        with Client(running.url, token=token) as client:
            assert len(client.select(QUERY, k=3).ids) == 3
        with Client(running.url) as stranger, pytest.raises(ServiceError, match="token") as refused:
            stranger.select(QUERY)
        assert refused.value.status == 401


def test_the_client_imports_no_server_code():
    code = (
        "import sys, breadth.service.client\n"
        "print([m for m in ('fastapi', 'starlette', 'pydantic', 'uvicorn') if m in sys.modules])\n"
        "print([m for m in sys.modules if m.startswith('breadth.service') and 'client' not in m])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == ["[]", "['breadth.service']"]
