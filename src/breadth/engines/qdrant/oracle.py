"""Points of Qdrant as an oracle."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import numpy as np

from breadth.arrays import Array, Ids, Vector
from breadth.engines.checking import SAMPLE, check_rows
from breadth.engines.documents import join_filters
from breadth.engines.keys import KeyBook
from breadth.engines.lines import Line, line_up, order
from breadth.engines.metric import Metric, rescore
from breadth.engines.qdrant.door import Door, Point, Search
from breadth.engines.qdrant.filters import Translation
from breadth.engines.scan import FEW
from breadth.errors import EngineError, InputError, OracleError
from breadth.filters import read_filter
from breadth.oracles.protocol import Payload

_BLOCK = 4096
"""Points that are looked up at a time."""
_TEXT_NAMES = ("text", "page_content", "document", "content")
_REMEDY = "divide the rows by their lengths before you insert them, or use a collection with the distance Cosine"


@dataclass(frozen=True)
class Settings:
    """What a user said: how to search, and where the text and the metadata are."""

    exact: bool
    ef: int | None
    text: str | None
    metadata: str | None


class QdrantOracle:
    """A collection of Qdrant. Threads may ask at the same time."""

    limit = None

    def __init__(self, door: Door, settings: Settings) -> None:
        self._door, self._settings = door, settings
        shape = door.shape()
        self.dim, self._metric = shape.dim, shape.metric
        self.exact = door.scans or settings.exact
        self._closed = {"closed": False}
        sample = door.sample(SAMPLE)
        self._decode(sample)
        self._text, self._metadata = _find_payload(settings, sample)
        self._book = None if all(isinstance(point.key, int) for point in sample) else KeyBook()
        if self._book is not None:
            self.keys, self.handles = self._book.keys, self._read_keys
        self.where: Mapping[str, Any] | None = None
        self._where: Any = None
        self.size = door.count(None)
        if not self.exact:
            self.exact_top = self._scan

    def close(self) -> None:
        """Close the connection, also that of oracles that were made with `filtered`."""
        if not self._closed["closed"]:
            self._closed["closed"] = True
            self._door.close()

    def __enter__(self) -> QdrantOracle:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def top(self, directions: Array, m: int) -> tuple[Ids, Vector]:
        """Return the m best rows for each direction, largest score first."""
        return self._search(directions, m, rows=False)[:2]

    def top_rows(self, directions: Array, m: int) -> tuple[Ids, Vector, Array]:
        """Return the m best rows for each direction with their vectors."""
        return self._search(directions, m, rows=True)

    def rows(self, ids: Ids) -> Array:
        """Return the rows with these ids, in their order."""
        return self._decode(self._look_up(ids, rows=True))

    def mean(self) -> Vector:
        """Refuse: Qdrant computes no mean."""
        raise OracleError(
            "Qdrant computes no mean of vectors, which this method needs; use the default method, or one that does not "
            "start from the mean"
        )

    def documents(self, ids: Ids) -> Sequence[Payload]:
        """Return the texts and the metadata of rows."""
        return [self._read_payload(point.payload) for point in self._look_up(ids, rows=False)]

    def filtered(self, where: Mapping[str, Any]) -> QdrantOracle:
        """Return an oracle over the rows that fulfil a filter. It shares the connection."""
        other = copy(self)
        other.where = join_filters(self.where, where)
        prefix = "" if self._metadata is None else f'"{self._metadata}".'
        other._where = Translation(self._door.words, prefix).translate(read_filter(other.where))
        self._check_open()
        other.size = self._door.count(other._where)
        other.exact = self.exact or other.size <= FEW
        if not self.exact:
            other.exact_top = other._scan
        return other

    def _scan(self, directions: Array, m: int) -> tuple[Ids, Vector]:
        """`top` by a scan that misses nothing."""
        return self._search(directions, m, rows=False, scan=True)[:2]

    def _check_open(self) -> None:
        if self._closed["closed"]:
            raise EngineError(f"{self._door.name}: this oracle was closed")

    def _search(self, directions: Array, m: int, rows: bool, scan: bool = False) -> tuple[Ids, Vector, Array]:
        self._check_open()
        asked = self._metric.askable(directions).tolist()
        how = Search(self._where, self.exact or scan, self._settings.ef, rows)
        found = self._door.search(asked, m, how) if asked and self.size else [[] for _ in asked]
        lines = [self._read(w, points, rows) for w, points in zip(directions, found, strict=True)]
        return line_up(lines, self.dim if rows else 0)

    def _read(self, direction: Array, points: list[Point], rows: bool) -> Line:
        ids = self._number([point.key for point in points])
        if rows:
            return Line(*rescore(direction, ids, self._decode(points)))
        measured = np.array([point.score for point in points], dtype=np.float64)
        if self._metric is Metric.SQUARED:
            measured = np.square(measured)  # Qdrant returns the distance itself
        return order(ids, self._metric.inner(np.asarray(direction)[None], measured[None])[0])

    def _look_up(self, ids: Ids, rows: bool) -> list[Point]:
        self._check_open()
        keys = np.asarray(ids).tolist() if self._book is None else self._book.keys(ids).tolist()
        unique = [key for key in dict.fromkeys(keys) if isinstance(key, (int, UUID))]
        found: dict[Any, Point] = {}
        for start in range(0, len(unique), _BLOCK):
            points = self._door.look_up(unique[start : start + _BLOCK], rows, not rows)
            found.update({point.key: point for point in points})
        missing = [key for key in keys if key not in found]
        if missing:
            raise InputError(f"{self._door.name} has no point {missing[0]!r}; was it deleted?")
        return [found[key] for key in keys]

    def _number(self, keys: list[Any]) -> Ids:
        if self._book is not None:
            return self._book.handles(keys)
        strange = [key for key in keys if not isinstance(key, int)]
        if strange:
            raise EngineError(
                f"{self._door.name} has numbers and UUIDs as ids ({strange[0]}); use ids of one kind in a collection"
            )
        return np.array(keys, dtype=np.int64)

    def _read_keys(self, keys: Iterable[Any]) -> Ids:
        """The handles of keys; a UUID may be written as text."""
        assert self._book is not None
        return self._book.handles(_read_uuid(key) for key in keys)

    def _decode(self, points: Sequence[Point]) -> Array:
        rows = np.array([point.vector for point in points], dtype=np.float32).reshape(len(points), self.dim)
        return check_rows(rows, self._door.name, _REMEDY)

    def _read_payload(self, payload: Mapping[str, Any]) -> Payload:
        values = dict(payload)
        text = None if self._text is None else values.pop(self._text, None)
        return Payload(text, values if self._metadata is None else values.get(self._metadata) or {})


def _find_payload(settings: Settings, sample: Sequence[Point]) -> tuple[str | None, str | None]:
    """Return the names of the text and of the field with all metadata: those given, or the usual ones if there."""
    first: Mapping[str, Any] = sample[0].payload if sample else {}
    text = settings.text or next((name for name in _TEXT_NAMES if isinstance(first.get(name), str)), None)
    if settings.metadata is not None:
        return text, settings.metadata
    return text, "metadata" if isinstance(first.get("metadata"), Mapping) else None


def _read_uuid(key: Any) -> Any:
    try:
        return UUID(key) if isinstance(key, str) else key
    except ValueError:
        return key
