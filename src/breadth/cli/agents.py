"""`breadth mcp`: an index as tools for an agent."""

from __future__ import annotations

from typing import Annotated

import typer

from breadth import encoders
from breadth.cli.options import EncoderOption
from breadth.index import Index
from breadth.opening import ADDRESSES
from breadth.opening import open as open_collection


def mcp(
    source: Annotated[
        str, typer.Argument(metavar="INDEX_OR_URL", help=f"an index, or an address: {', '.join(ADDRESSES)}")
    ],
    encoder: EncoderOption = None,
) -> None:
    """Offer an index to an agent: an MCP server on standard input and output, with tools that only read.

    The tools are search, compare and coverage. An engine other than an index needs --encoder.
    """
    from breadth.integrations.mcp import make_server

    made = None if encoder is None else encoders.encoder(encoder)
    opened = Index.open(source, made) if Index.exists(source) else open_collection(source)
    make_server(opened, made).run("stdio")
