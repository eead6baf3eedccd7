"""`breadth.open`: an oracle from an address, whatever engine the collection is in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from breadth.engines.address import split_settings
from breadth.engines.registry import SCHEMES, Engine
from breadth.errors import InputError
from breadth.index import Index

_INDEX = "index"

ADDRESSES = ("INDEX", *(engine.form for engine in SCHEMES.values()))
"""The forms of an address, for help and messages. INDEX is the folder of a `breadth.Index`."""


def open(address: str | Path, **settings: Any) -> Any:
    """Open a collection by its address, as an oracle for `breadth.select`.

    address    `faiss:index.faiss`, `lancedb:folder/table`, `postgresql://…?table=docs`, …: docs/engines.md lists all
               forms. A plain path, or `index:PATH`, is the folder of a `breadth.Index`.
    settings   arguments of the function in `breadth.oracles` that opens this engine. They can also stand in the
               address: `faiss:index.faiss?nprobe=16`.
    """
    text = str(address)
    scheme, colon, rest = text.partition(":")
    if colon and scheme in SCHEMES:
        return _open_engine(SCHEMES[scheme], text if SCHEMES[scheme].scheme else rest, settings)
    path = Path(rest if colon and scheme == _INDEX else text)
    if not Index.exists(path):
        raise InputError(f"{text} is no index and no address of an engine; the forms are {', '.join(ADDRESSES)}")
    return _open_index(path, **settings)


def is_address(text: str) -> bool:
    """Whether a text is the address of an engine, and not a path."""
    scheme, colon, _ = text.partition(":")
    return bool(colon) and scheme in SCHEMES


def _open_engine(engine: Engine, where: str, settings: dict[str, Any]) -> Any:
    place, given = split_settings(where, engine.settings)
    twice = sorted(given.keys() & settings.keys())
    if twice:
        raise InputError(f"{twice[0]} is given in the address and as an argument; pass it once")
    located = engine.locate(place)
    unknown = sorted((given.keys() | settings.keys()) - set(engine.settings))
    if unknown:
        raise InputError(f"{engine.name} has no setting {unknown[0]!r}; it has {', '.join(engine.settings)}")
    return engine.open(**{**located, **given, **settings})


def _open_index(path: Path, **settings: Any) -> Any:
    where = settings.pop("where", None)
    if settings:
        raise InputError(f"an index has no setting {next(iter(settings))!r}; it has where")
    return Index.open(path).oracle(where)
