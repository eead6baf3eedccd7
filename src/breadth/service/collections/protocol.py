"""What the service asks of a collection. Several threads ask at the same time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from breadth.index import Document, Results
from breadth.service.inspection.inspect import Inspection, Wanted


@dataclass(frozen=True)
class Curve:
    """The sets of a frontier with their documents, in the order of θ; no points where there is nothing to choose."""

    points: tuple[Results, ...] = ()
    knee: float | None = None
    top_relevance: float | None = None


class Served(Protocol):
    """A collection. `arguments` are those of `Index.search`; for a curve those of `breadth.frontier`, and `where`."""

    @property
    def dim(self) -> int: ...

    def count(self) -> int:
        """How many documents there are."""

    def check(self, query: str | list[float]) -> None:
        """Raise an error if it can be seen without searching that a query is wrong."""

    def select(self, queries: Sequence[Any], arguments: Mapping[str, Any]) -> list[Results]:
        """Choose a set for each query. They share searches."""

    def frontier(self, query: Any, arguments: Mapping[str, Any]) -> Curve:
        """Choose sets for several θ."""

    def inspect(self, query: Any, wanted: Wanted) -> Inspection:
        """Look at a query. Its searches are remembered for the next time."""

    def get(self, identity: str) -> Document | None:
        """The document with this id, or None."""

    def sample(self, count: int) -> Sequence[Document]:
        """Some documents, from all over the collection where that is cheap."""

    def close(self) -> None:
        """Let go of files and connections."""
