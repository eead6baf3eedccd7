"""Addresses of collections: `faiss:index.faiss`, `lancedb:folder/table?where=…`, `postgresql://…?table=docs`."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from typing import Any
from urllib.parse import parse_qsl, urlencode

from breadth.errors import InputError

Locate = Callable[[str], dict[str, Any]]
"""From the part of an address that says where, to arguments of the function that opens an engine."""


def split_settings(url: str, names: Collection[str]) -> tuple[str, dict[str, Any]]:
    """Take the settings with these names out of the query of an address. Numbers, true, false and null are read so."""
    base, mark, query = url.partition("?")
    if not mark:
        return url, {}
    pairs = parse_qsl(query, keep_blank_values=True)
    settings = {name: _read_value(value) for name, value in pairs if name in names}
    others = [(name, value) for name, value in pairs if name not in names]
    return f"{base}?{urlencode(others)}" if others else base, settings


def _read_value(text: str) -> Any:
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return text if isinstance(value, (list, dict, str)) else value


def one_place(argument: str) -> Locate:
    """All of the address is one argument, for example the path of a file."""
    return lambda rest: {argument: rest}


def place_and_part(place: str, part: str) -> Locate:
    """The last part of the address is an argument of its own: the table in `folder/table`."""

    def locate(rest: str) -> dict[str, Any]:
        before, slash, last = rest.rstrip("/").rpartition("/")
        if not (slash and before and last):
            raise InputError(f"the address must end with /{part.upper()}, got {rest!r}")
        return {place: before, part: last}

    return locate
