"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from breadth import encoders
from breadth.index import Index

IndexPath = Annotated[Path, typer.Argument(help="an index made by `breadth index`", metavar="INDEX")]
Query = Annotated[str, typer.Argument(help="what to search for")]
K = Annotated[int, typer.Option("-k", help="how many passages")]
Theta = Annotated[float | None, typer.Option("--theta", help="weight of relevance in [0, 1]; 1 is plain top-k [0.7]")]
Keep = Annotated[float | None, typer.Option("--keep", help="instead of --theta: share of top-k's relevance to keep")]
Where = Annotated[
    str | None, typer.Option("--where", help="SQL condition over metadata: \"source = 'x' and year > 2010\"")
]
AsJson = Annotated[bool, typer.Option("--json", help="machine-readable output")]
EncoderOption = Annotated[str | None, typer.Option("--encoder", help=encoders.SPELLINGS)]


def open_index(path: Path, encoder: str | None) -> Index:
    """Open an index with the encoder that --encoder describes, or with the one that the index records."""
    return Index.open(path, None if encoder is None else encoders.encoder(encoder))
