"""Collections in other engines, by their address, where a command also takes an index."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import breadth
from breadth import encoders
from breadth.cli.options import open_index
from breadth.index import Index
from breadth.opening import is_address
from breadth.searcher import Searcher

CollectionPath = Annotated[
    str,
    typer.Argument(
        help="an index made by `breadth index`, or the address of a collection in another engine (docs/engines.md)",
        metavar="INDEX",
    ),
]


def open_collection(place: str, encoder: str | None) -> Index | Searcher:
    """Open an index by its path, or a collection in an engine by its address; the latter needs --encoder for texts."""
    if not is_address(place):
        return open_index(Path(place), encoder)
    made = None if encoder is None else encoders.encoder(encoder)
    return Searcher(breadth.open(place), made)
