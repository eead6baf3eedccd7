"""What a store is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

_NUMBERS = count()
MAIN_CHECKS = (
    "queries",
    "directions",
    "rows",
    "rows with ids",
    "documents",
    "filters",
    "audit",
    "default selection",
    "sharpness 1",
    "constraints",
)
"""What a further store of an engine is asked, where each collection takes seconds to make."""


@dataclass(frozen=True)
class Place:
    """Where a store may put its rows: a folder of its own, a name that nobody else has, and its server.

    folder   an empty folder
    name     a name for a table or a collection
    server   what `serve` yielded: an address, say; None without a server
    """

    folder: Path
    name: str
    server: Any = None


@dataclass(frozen=True)
class Store:
    """An engine with one kind of index.

    engine      its name in `breadth.engines.registry.ENGINES`
    variant     the kind of index
    fill        `fill(place, rows, keys=None, metadata=None, texts=None)` puts rows into a fresh collection and returns
                an oracle over it, opened as a user would
    exact       whether searches miss nothing
    keys        the kinds of ids that are tested, see `breadth.testing.check_oracle`; None is 0, 1, …
    metadata    whether it holds metadata and takes filters
    options     further arguments of `check_oracle`
    serve       starts a server in a folder and stops it: a context manager
    enclosed    whether engine and client must run in an enclosure (tests/engines/servers/enclosure.py)
    measured    whether `python -m benchmarks engines` measures it; of an engine without such a store, the first one
    plain_top   `plain_top(oracle, query, k)`: one plain search of the engine by its own client, for the benchmark
    mmr         `mmr(oracle, query, k, fetch_k)`: the ids that the engine's own MMR chooses, if it has one
    """

    engine: str
    variant: str
    fill: Callable[..., Any]
    exact: bool
    keys: tuple[str | None, ...] = (None,)
    metadata: bool = True
    options: dict[str, Any] = field(default_factory=dict)
    serve: Callable[[Path], AbstractContextManager[Any]] | None = None
    enclosed: bool = False
    measured: bool = False
    plain_top: Callable[[Any, np.ndarray, int], Any] | None = None
    mmr: Callable[[Any, np.ndarray, int, int], Sequence[Any]] | None = None

    @property
    def name(self) -> str:
        return f"{self.engine}-{self.variant}"

    @contextmanager
    def started(self, folder: Path) -> Iterator[Any]:
        """The server while it runs; None if there is none."""
        if self.serve is None:
            yield None
            return
        with self.serve(folder) as server:
            yield server

    def place(self, folder: Path, server: Any) -> Place:
        """A fresh place."""
        name = f"docs{next(_NUMBERS)}"
        (folder / name).mkdir(parents=True)
        return Place(folder / name, name, server)
