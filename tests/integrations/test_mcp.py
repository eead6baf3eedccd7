"""MCP: the tools, in process and through the command line."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys

import pytest
from mcp import Client, StdioServerParameters

import breadth
from breadth.errors import InputError
from breadth.integrations.mcp import make_server
from tests.integrations import corpus
from tests.integrations.adapters import index
from tests.integrations.langchain_stores import make_index


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
    assert [tool.name for tool in tools] == ["search", "compare", "coverage", "read"]
    assert all(tool.annotations.read_only_hint and tool.output_schema for tool in tools)
    assert all(tool.description for tool in tools)


def test_a_copy_can_be_read(server):
    found = call(server, "search", query=corpus.QUERY, k=5).structured_content
    (copy, *_) = [copy["id"] for one in found["passages"] for copy in one["copies"]]
    read = call(server, "read", id=copy).structured_content
    assert (read["id"], read["text"]) == (copy, index().get(copy).text)
    assert found["given_up"] == []
    assert "nobody" in str(call(server, "read", id="nobody").content)


def test_search(server):
    found = call(server, "search", query=corpus.QUERY, k=5).structured_content
    expected = index().search(corpus.QUERY, 5)
    assert [one["id"] for one in found["passages"]] == expected.ids
    for name in ("copies", "variants"):
        told = [[other["id"] for other in one[name]] for one in found["passages"]]
        assert told == [[other.id for other in getattr(hit, name)] for hit in expected]
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
        ({}, "query"),
        ({"query": " "}, "query must be a text"),
        ({"query": corpus.QUERY, "k": "many"}, "valid integer"),
        ({"query": corpus.QUERY, "where": "year = 3"}, "valid dictionary"),
        ({"query": corpus.QUERY, "group_by": "source", "per_group": 0}, "per_group must be at least 1"),
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


@pytest.mark.parametrize("sizes", [[], [1] * 21, [0]])
def test_wrong_sizes_are_told_to_the_agent(server, sizes):
    answer = call(server, "coverage", query=corpus.QUERY, sizes=sizes)
    assert answer.is_error
    assert "at least 1" in answer.content[0].text or "1 to 20 entries" in answer.content[0].text


def test_an_engine_needs_an_encoder_and_texts():
    oracle = breadth.ArrayOracle(corpus.vectors())
    with pytest.raises(InputError, match="encoder"):
        make_server(oracle)
    with pytest.raises(InputError, match="holds no texts"):
        make_server(oracle, corpus.encoder())


def snapshot(folder):
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file() and "sqlite" in path.name}


def test_the_command_serves_an_index_and_leaves_it_as_it_is(tmp_path):
    """A real session over standard input and output: all tools, structured answers, errors in words."""
    with make_index(tmp_path / "index") as made:
        expected = made.search(corpus.QUERY, 3).ids
    before = snapshot(tmp_path)
    command = [sys.executable, "-m", "breadth", "mcp", str(tmp_path / "index")]
    server = StdioServerParameters(command=command[0], args=command[1:], env=dict(os.environ))

    async def ask():
        async with Client(server) as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == [
                "search",
                "compare",
                "coverage",
                "read",
            ]
            asked = {"query": corpus.QUERY, "k": 3}
            found = await client.call_tool("search", asked)
            compared = await client.call_tool("compare", asked)
            covered = await client.call_tool("coverage", {"query": corpus.QUERY, "sizes": [3]})
            wrong = await client.call_tool("search", {"query": corpus.QUERY, "where": {"year": {"$near": 1}}})
            return found, compared, covered, wrong

    found, compared, covered, wrong = asyncio.run(ask())
    assert [one["id"] for one in found.structured_content["passages"]] == expected
    assert [one["id"] for one in compared.structured_content["chosen"]["passages"]] == expected
    assert covered.structured_content["sizes"][0]["k"] == 3
    assert wrong.is_error
    assert "no operator '$near'" in wrong.content[0].text
    assert snapshot(tmp_path) == before


def test_the_command_says_what_it_takes():
    done = subprocess.run(
        [sys.executable, "-m", "breadth", "mcp", "http://127.0.0.1:1"], capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert "is no index and no address of an engine" in done.stderr
