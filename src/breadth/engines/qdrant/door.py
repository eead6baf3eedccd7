"""What a way to the points of Qdrant must offer: through the client, or straight into a shard on disk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from breadth.engines.metric import Metric
from breadth.errors import InputError

_METRICS = {"Dot": Metric.INNER, "Cosine": Metric.COSINE, "Euclid": Metric.SQUARED}


@dataclass(frozen=True)
class Point:
    """A point that was found or looked up; `score` is 0 for those that were looked up."""

    key: Any
    score: float
    vector: Sequence[float]
    payload: Mapping[str, Any]


@dataclass(frozen=True)
class Shape:
    """What the vectors are like."""

    dim: int
    metric: Metric


@dataclass(frozen=True)
class Search:
    """How to search.

    where   a filter, in the door's words, or None
    exact   scan all points
    ef      how far the index searches, or None
    rows    whether the vectors are wanted
    """

    where: Any
    exact: bool
    ef: int | None
    rows: bool


class Words(Protocol):
    """The conditions that Qdrant knows, made by its own classes."""

    compares_truth: bool

    def match(self, key: str, value: Any) -> Any: ...
    def span(self, key: str, **limits: float) -> Any: ...
    def dates(self, key: str, **limits: str) -> Any: ...
    def empty(self, key: str) -> Any: ...
    def null(self, key: str) -> Any: ...
    def join(self, must: Sequence[Any] = (), should: Sequence[Any] = (), must_not: Sequence[Any] = ()) -> Any: ...


class Door(Protocol):
    """A collection of points.

    name       for messages
    scans      every search looks at all points
    words      conditions for filters
    """

    name: str
    scans: bool
    words: Words

    def shape(self) -> Shape: ...
    def count(self, where: Any) -> int: ...
    def search(self, vectors: Sequence[Sequence[float]], m: int, how: Search) -> list[list[Point]]: ...
    def look_up(self, keys: Sequence[Any], rows: bool, payload: bool) -> list[Point]: ...
    def sample(self, count: int) -> list[Point]: ...
    def close(self) -> None: ...


def read_shape(name: str, vectors: Mapping[str, Any], wanted: str | None) -> tuple[str, Shape]:
    """Choose among the named vectors of a collection; the vectors without a name are called ""."""
    names = [wanted] if wanted is not None else list(vectors)
    if len(names) != 1 or names[0] not in vectors:
        there = ", ".join(repr(one) for one in vectors) or "none"
        raise InputError(f"vectors: {name} has the vectors {there}; pass vectors=NAME for one of them")
    chosen = vectors[names[0]]
    if chosen["distance"] not in _METRICS:
        raise InputError(f"{name} has the distance {chosen['distance']!r}; use Dot, Cosine or Euclid")
    if chosen.get("multivector_config"):
        raise InputError(f"{name} has several vectors for each point, which breadth does not read")
    return names[0], Shape(int(chosen["size"]), _METRICS[chosen["distance"]])
