"""Opens the collection that an address names."""

from __future__ import annotations

from pathlib import Path

from breadth import encoders
from breadth.index import Index
from breadth.opening import is_address
from breadth.opening import open as open_oracle
from breadth.service.collections.engine import ServedEngine
from breadth.service.collections.index import ServedIndex
from breadth.service.collections.protocol import Served


def open_collection(address: str, encoder: str | None) -> Served:
    """Open an index, or an engine: docs/engines.md lists the addresses."""
    made = None if encoder is None else encoders.encoder(encoder)
    path = Path(address.removeprefix("index:"))
    if not is_address(address) and Index.exists(path):
        # The folder that a link means now: an index that is open must not find files of another one under its path.
        return ServedIndex(path.resolve(), made)
    return ServedEngine(open_oracle(address), made)
