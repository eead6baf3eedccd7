"""MCP: what an agent sees of an index. `breadth mcp my.index` serves the same tools.

In your clone of breadth: pip install '.[mcp,text]'
"""

import asyncio
import json
from pathlib import Path
from tempfile import TemporaryDirectory

from mcp import Client

import breadth
from breadth.integrations.mcp import make_server

lines = (Path(__file__).parent / "data/wikipedia/passages.jsonl").read_text(encoding="utf-8").splitlines()
passages = [json.loads(line) for line in lines]


async def ask(index: breadth.Index) -> None:
    async with Client(make_server(index)) as agent:
        print("tools:", [tool.name for tool in (await agent.list_tools()).tools])
        question = "Who was the murderer in the first broadchurch?"
        found = (await agent.call_tool("search", {"query": question, "k": 3})).structured_content
        for passage in found["passages"]:
            print(f"{passage['score']:.3f}  {passage['text'][:60]}  copies: {passage['copies']}")
        shares = (await agent.call_tool("coverage", {"query": question})).structured_content["sizes"]
        print("; ".join(f"{one['k']} passages stand for {one['coverage']:.0%}" for one in shares))


with TemporaryDirectory() as folder, breadth.Index.create(Path(folder) / "my.index") as index:
    index.add(breadth.Document(p["id"], p["text"], {"title": p["title"]}) for p in passages)
    asyncio.run(ask(index))
