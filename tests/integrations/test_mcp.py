"""MCP: the tools, in process and through the command line."""

from __future__ import annotations

import asyncio
import os
import sys

import pytest
from mcp import Client, StdioServerParameters

import breadth
from breadth.errors import InputError
from breadth.integrations.mcp import make_server
from tests.integrations import corpus
from tests.integrations.adapters import index


def call(source, name, **arguments):
    async def ask():
        async with Client(source) as client:
            return await client.call_tool(name, arguments)

    return asyncio.run(ask())


@pytest.fixture(scope="module")
def server():
    return make_server(index())


def test_the_tools_only_read(server):
    async def ask():
        async with Client(server) as client:
            return (await client.list_tools()).tools

    tools = asyncio.run(ask())
    assert [tool.name for tool in tools] == ["search", "compare", "coverage"]
    assert all(tool.annotations.read_only_hint and tool.output_schema for tool in tools)
    assert all(tool.description for tool in tools)


def test_search(server):
    found = call(server, "search", query=corpus.QUERY, k=5).structured_content
    expected = index().search(corpus.QUERY, 5)
    assert [one["id"] for one in found["passages"]] == expected.ids
    assert [one["copies"] for one in found["passages"]] == [[copy.id for copy in hit.copies] for hit in expected]
    assert 0.0 < found["coverage"] < 1.0
    assert (found["asked"], found["searched"]) == (5, 132)
    arguments = {"where": {"year": {"$lt": 2010}}, "group_by": "source", "per_group": 1}
    some = call(server, "search", query=corpus.QUERY, k=5, **arguments).structured_content["passages"]
    sources = [one["metadata"]["source"] for one in some]
    assert len(sources) == len(set(sources))
    assert all(one["metadata"]["year"] < 2010 for one in some)


def test_compare(server):
    found = call(server, "compare", query=corpus.QUERY, k=6).structured_content
    chosen, plain = ({one["id"] for one in found[name]["passages"]} for name in ("chosen", "top_k"))
    assert set(found["went_out"]) == plain - chosen
    assert set(found["came_in"]) == chosen - plain
    assert found["chosen"]["coverage"] > found["top_k"]["coverage"]


def test_coverage(server):
    sizes = call(server, "coverage", query=corpus.QUERY).structured_content["sizes"]
    assert [one["k"] for one in sizes] == [5, 10, 20]
    shares = [one["coverage"] for one in sizes]
    assert shares == sorted(shares)
    assert all(one["coverage"] >= one["top_k_coverage"] for one in sizes)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"query": " "}, "query"),
        ({"query": "x", "k": 0}, "k must be"),
        ({"query": corpus.QUERY, "k": 101}, "at most 100"),
        ({"query": corpus.QUERY, "where": {"year": {"$near": 1}}}, "no operator"),
        ({"query": corpus.QUERY, "per_group": 1}, "needs group_by"),
    ],
)
def test_a_mistake_is_told_to_the_agent(server, arguments, message):
    answer = call(server, "search", **arguments)
    assert answer.is_error
    assert message in answer.content[0].text


def test_an_engine_needs_an_encoder_and_texts():
    oracle = breadth.ArrayOracle(corpus.vectors())
    with pytest.raises(InputError, match="encoder"):
        make_server(oracle)
    with pytest.raises(InputError, match="holds no texts"):
        make_server(oracle, corpus.encoder())


def test_the_command_serves_an_index():
    command = [sys.executable, "-m", "breadth", "mcp", str(index().path)]
    server = StdioServerParameters(command=command[0], args=command[1:], env=dict(os.environ))
    found = call(server, "search", query=corpus.QUERY, k=3)
    assert [one["id"] for one in found.structured_content["passages"]] == index().search(corpus.QUERY, 3).ids
