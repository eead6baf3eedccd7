"""What the clients return. An answer may hold further fields in later versions of the service: they are left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, TypeVar

from breadth.errors import BreadthError
from breadth.selection import Certificate

__all__ = [
    "Certificate",
    "Chosen",
    "Curve",
    "DocumentFound",
    "HitFound",
    "Point",
    "Ready",
    "ServiceError",
]

T = TypeVar("T")


class ServiceError(BreadthError):
    """The service refused a request, or did not answer.

    status   the status of the answer; None if there was none
    type     what kind of error it is: invalid_request, not_found, unavailable, …
    """

    def __init__(self, message: str, status: int | None = None, type: str = "unreachable") -> None:
        super().__init__(message)
        self.status, self.type = status, type


@dataclass(frozen=True)
class DocumentFound:
    """A document."""

    id: str
    text: str
    metadata: Mapping[str, Any]
    parent: str | None


@dataclass(frozen=True)
class HitFound:
    """A chosen passage; no text if none was asked for.

    copies     passages of which it says all: mappings with "id", "cosine" and "relation", and "text" if asked for
    variants   passages in nearly its words that say something else: with "id", "cosine", "chosen" and "differences"
    """

    id: str
    score: float
    copies: tuple[Mapping[str, Any], ...]
    variants: tuple[Mapping[str, Any], ...]
    text: str | None
    metadata: Mapping[str, Any] | None
    parent: str | None


@dataclass(frozen=True)
class Point:
    """A set, what it is worth, and what is proved about it. `proof` is the certificate in words."""

    ids: tuple[str, ...]
    scores: tuple[float, ...]
    method: str
    theta: float
    sharpness: int
    relevance: float
    redundancy: float
    diversity: float
    objective: float
    certificate: Certificate | None
    proof: str


@dataclass(frozen=True)
class Chosen(Point):
    """The set that was chosen for a query: how many passages were asked for, and how many there were.

    given_up   the ids of passages of plain top-k that are neither hits nor copies of hits
    """

    hits: tuple[HitFound, ...]
    asked: int
    searched: int
    given_up: tuple[str, ...]
    stats: Mapping[str, Any]


@dataclass(frozen=True)
class Curve:
    """The sets of a frontier in the order of θ."""

    points: tuple[Point, ...]
    knee: float | None
    top_relevance: float | None


@dataclass(frozen=True)
class Ready:
    """What the service serves."""

    name: str
    documents: int
    dim: int
    version: str


def read_document(data: Any) -> DocumentFound:
    """Read the answer of `/v1/documents/ID`."""
    return _fill(DocumentFound, data)


def read_ready(data: Any) -> Ready:
    """Read the answer of `/readyz`."""
    return _fill(Ready, data)


def read_chosen(data: Any) -> Chosen:
    """Read the answer of `/v1/select`."""
    hits = tuple(
        _fill(HitFound, hit | {name: tuple(hit[name]) for name in ("copies", "variants")}) for hit in data["hits"]
    )
    ids, scores = tuple(hit.id for hit in hits), tuple(hit.score for hit in hits)
    certificate = _read_certificate(data)
    return _fill(
        Chosen,
        data
        | {"hits": hits, "given_up": tuple(data["given_up"]), "ids": ids, "scores": scores, "certificate": certificate},
    )


def read_batch(data: Any) -> list[Chosen]:
    """Read the answer of `/v1/select/batch`."""
    return [read_chosen(one) for one in data["results"]]


def read_curve(data: Any) -> Curve:
    """Read the answer of `/v1/frontier`."""
    points = tuple(
        _fill(
            Point,
            one | {"ids": tuple(one["ids"]), "scores": tuple(one["scores"]), "certificate": _read_certificate(one)},
        )
        for one in data["points"]
    )
    return Curve(points, data["knee"], data["top_relevance"])


def _read_certificate(data: Any) -> Certificate | None:
    given = data["certificate"]
    if given is None:
        return None
    bound, gap = (float("inf") if given[name] is None else given[name] for name in ("bound", "gap"))
    return Certificate(bound, gap, given["exact"], given["swap_optimal"])


def _fill(kind: type[T], data: Mapping[str, Any]) -> T:
    return kind(**{field.name: data[field.name] for field in fields(kind)})  # type: ignore[arg-type]
