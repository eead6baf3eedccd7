"""The way to Qdrant through qdrant-edge-py: a shard in a folder, searched by Qdrant's own engine in this process."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any
from uuid import UUID

from breadth.checks import check_count
from breadth.engines.checking import engine_errors
from breadth.engines.qdrant.door import Point, Search, Shape, Words, read_shape
from breadth.engines.qdrant.oracle import QdrantOracle, Settings
from breadth.errors import InputError, MissingExtraError


def qdrant_edge(
    folder: str | Path,
    *,
    vectors: str | None = None,
    text: str | None = None,
    metadata: str | None = None,
    exact: bool = False,
    ef: int | None = None,
    where: Mapping[str, Any] | None = None,
) -> QdrantOracle:
    """Open a shard of Qdrant Edge.

    folder     where it is. Only one process at a time can open it.
    vectors    the name of the vectors; needed only if there are several
    text       the field with the text; the default is `text`, `page_content`, `document` or `content`, if there
    metadata   the field that holds all metadata; the default is `metadata` if the first point has it; otherwise every
               field is metadata
    exact      True: scan all points instead of using the index
    ef         how far the index searches at least (hnsw_ef)
    where      a filter; see `breadth.filters`. Qdrant Edge does not compare true and false.
    """
    package = _import_edge()
    settings = Settings(exact, None if ef is None else check_count(ef, "ef"), text, metadata)
    door = EdgeDoor(package, Path(folder), vectors)
    try:
        opened = QdrantOracle(door, settings)
        return opened if where is None else opened.filtered(where)
    except BaseException:
        door.close()
        raise


class EdgeDoor:
    """A shard on disk."""

    scans = False

    def __init__(self, package: Any, folder: Path, vectors: str | None) -> None:
        self._package = package
        self.name = f"Qdrant Edge, folder {folder}"
        self.words: Words = EdgeWords(package)
        configured = folder / "edge_config.json"
        if not configured.is_file():
            raise InputError(f"folder: {folder} holds no shard of Qdrant Edge")
        described = json.loads(configured.read_text(encoding="utf-8"))["vectors"]
        self._using, self._shape = read_shape(self.name, described, vectors)
        with self._asking():
            self._shard = package.EdgeShard.load(str(folder))

    def shape(self) -> Shape:
        return self._shape

    def count(self, where: Any) -> int:
        with self._asking():
            return int(self._shard.count(self._package.CountRequest(exact=True, filter=where)))

    def search(self, vectors: Sequence[Sequence[float]], m: int, how: Search) -> list[list[Point]]:
        package = self._package
        ignore = package.QuantizationSearchParams(ignore=True) if how.exact else None
        parameters = package.SearchParams(exact=how.exact, hnsw_ef=how.ef, quantization=ignore)
        asked = [
            package.QueryRequest(
                limit=m, query=package.Query.Nearest(list(vector), using=self._using or None), filter=how.where,
                params=parameters, with_vector=how.rows, with_payload=False,
            )
            for vector in vectors
        ]  # fmt: skip
        with self._asking():
            answers = self._shard.query_batch(package.QueryBatchRequest(asked))
        return [[self._read(point, point.score) for point in answer] for answer in answers]

    def look_up(self, keys: Sequence[Any], rows: bool, payload: bool) -> list[Point]:
        with self._asking():
            found = self._shard.retrieve(list(keys), with_payload=payload, with_vector=rows)
        return [self._read(point) for point in found]

    def sample(self, count: int) -> list[Point]:
        request = self._package.ScrollRequest(limit=count, with_payload=True, with_vector=True)
        with self._asking():
            found, _ = self._shard.scroll(request)
        return [self._read(point) for point in found]

    def close(self) -> None:
        with self._asking():
            self._shard.close()

    def _read(self, point: Any, score: float = 0.0) -> Point:
        vector = point.vector[self._using] if isinstance(point.vector, dict) else point.vector
        key = point.id if isinstance(point.id, (int, UUID)) else UUID(point.id)
        return Point(key, score, vector or (), point.payload or {})

    def _asking(self) -> AbstractContextManager[None]:
        return engine_errors(self.name, Exception)  # qdrant-edge-py raises nothing more particular


class EdgeWords:
    """Conditions as qdrant-edge-py writes them."""

    compares_truth = False

    def __init__(self, package: Any) -> None:
        self._package = package

    def match(self, key: str, value: Any) -> Any:
        return self._package.FieldCondition(key=key, match=self._package.MatchValue(value))

    def span(self, key: str, **limits: float) -> Any:
        return self._package.FieldCondition(key=key, range=self._package.RangeFloat(**limits))

    def dates(self, key: str, **limits: str) -> Any:
        return self._package.FieldCondition(key=key, range=self._package.RangeDateTime(**limits))

    def empty(self, key: str) -> Any:
        return self._package.IsEmptyCondition(key)

    def null(self, key: str) -> Any:
        return self._package.IsNullCondition(key)

    def join(self, must: Sequence[Any] = (), should: Sequence[Any] = (), must_not: Sequence[Any] = ()) -> Any:
        parts = {"must": must, "should": should, "must_not": must_not}
        return self._package.Filter(**{name: list(part) for name, part in parts.items() if part})


def _import_edge() -> Any:
    try:
        import qdrant_edge
    except ImportError:
        raise MissingExtraError("qdrant-edge-py", "qdrant-edge") from None
    return qdrant_edge
