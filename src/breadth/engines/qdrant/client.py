"""The way to Qdrant through qdrant-client: a server, or the client's local mode."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from types import SimpleNamespace
from typing import Any
from uuid import UUID

from breadth.checks import check_count, check_number
from breadth.engines.checking import engine_errors
from breadth.engines.qdrant.door import Point, Search, Shape, Words, read_shape
from breadth.engines.qdrant.oracle import QdrantOracle, Settings
from breadth.errors import InputError, MissingExtraError


def qdrant(
    source: Any,
    collection: str,
    *,
    vectors: str | None = None,
    text: str | None = None,
    metadata: str | None = None,
    exact: bool = False,
    ef: int | None = None,
    where: Mapping[str, Any] | None = None,
    api_key: str | None = None,
    timeout: float = 30.0,
) -> QdrantOracle:
    """Open a collection of Qdrant.

    source       the address of a server, `http://host:6333`; a folder of the client's local mode; or a `QdrantClient`
    collection   its name. Its distance may be Dot, Cosine or Euclid.
    vectors      the name of the vectors; needed only if there are several
    text         the field with the text; the default is `text`, `page_content`, `document` or `content`, if there
    metadata     the field that holds all metadata; the default is `metadata` if the first point has it, as LangChain's
                 have; otherwise every field is metadata
    exact        True: scan all points instead of using the index
    ef           how far the index searches at least (hnsw_ef)
    where        a filter; see `breadth.filters`
    api_key      how the server knows you
    timeout      seconds that an answer may take
    """
    package = _import_qdrant()
    limit = check_number(timeout, "timeout", 0.001, 1e6)
    settings = Settings(exact, None if ef is None else check_count(ef, "ef"), text, metadata)
    owned = isinstance(source, str)
    name = f"Qdrant, collection {collection}"
    with _engine_errors(package, name):
        client = _connect(package, source, api_key, limit) if owned else source
    try:
        door = ClientDoor(package, client, collection, vectors, owned)
        opened = QdrantOracle(door, settings)
        return opened if where is None else opened.filtered(where)
    except BaseException:
        if owned:
            client.close()
        raise


class ClientDoor:
    """A collection that a `QdrantClient` reaches."""

    def __init__(self, package: Any, client: Any, collection: str, vectors: str | None, owned: bool) -> None:
        self._package, self._client, self._collection, self._owned = package, client, collection, owned
        self.name = f"Qdrant, collection {collection}"
        self.scans = type(client._client).__name__ == "QdrantLocal"  # the client's local mode is a scan in NumPy
        self.words: Words = ClientWords(package.models)
        with self._asking():
            if not client.collection_exists(collection):
                raise InputError(f"collection: this Qdrant has no collection {collection!r}")
            described = client.get_collection(collection).config.params.vectors
        named = described if isinstance(described, dict) else {"": described}
        self._using, self._shape = read_shape(
            self.name, {n: v.model_dump(mode="json") for n, v in named.items()}, vectors
        )

    def shape(self) -> Shape:
        return self._shape

    def count(self, where: Any) -> int:
        with self._asking():
            return int(self._client.count(self._collection, count_filter=where, exact=True).count)

    def search(self, vectors: Sequence[Sequence[float]], m: int, how: Search) -> list[list[Point]]:
        models = self._package.models
        parameters = None
        if not self.scans:
            ignore = models.QuantizationSearchParams(ignore=True) if how.exact else None
            parameters = models.SearchParams(exact=how.exact, hnsw_ef=how.ef, quantization=ignore)
        asked = [
            models.QueryRequest(
                query=vector, limit=m, filter=how.where, params=parameters, using=self._using or None,
                with_vector=self._vectors(how.rows), with_payload=False,
            )
            for vector in vectors
        ]  # fmt: skip
        with self._asking():
            answers = self._client.query_batch_points(self._collection, requests=asked)
        return [[self._read(point, point.score) for point in answer.points] for answer in answers]

    def look_up(self, keys: Sequence[Any], rows: bool, payload: bool) -> list[Point]:
        with self._asking():
            found = self._client.retrieve(
                self._collection, ids=[key if isinstance(key, int) else str(key) for key in keys],
                with_vectors=self._vectors(rows), with_payload=payload,
            )  # fmt: skip
        return [self._read(point) for point in found]

    def sample(self, count: int) -> list[Point]:
        with self._asking():
            found, _ = self._client.scroll(
                self._collection, limit=count, with_vectors=self._vectors(True), with_payload=True
            )
        return [self._read(point) for point in found]

    def close(self) -> None:
        if self._owned:
            self._client.close()

    def _vectors(self, wanted: bool) -> Any:
        return [self._using] if wanted and self._using else wanted

    def _read(self, point: Any, score: float = 0.0) -> Point:
        vector = point.vector[self._using] if isinstance(point.vector, dict) else point.vector
        key = point.id if isinstance(point.id, int) else UUID(point.id)
        return Point(key, score, vector or (), point.payload or {})

    def _asking(self) -> AbstractContextManager[None]:
        return _engine_errors(self._package, self.name)


class ClientWords:
    """Conditions as the client writes them."""

    compares_truth = True

    def __init__(self, models: Any) -> None:
        self._models = models

    def match(self, key: str, value: Any) -> Any:
        return self._models.FieldCondition(key=key, match=self._models.MatchValue(value=value))

    def span(self, key: str, **limits: float) -> Any:
        return self._models.FieldCondition(key=key, range=self._models.Range(**limits))

    def dates(self, key: str, **limits: str) -> Any:
        return self._models.FieldCondition(key=key, range=self._models.DatetimeRange(**limits))

    def empty(self, key: str) -> Any:
        return self._models.IsEmptyCondition(is_empty=self._models.PayloadField(key=key))

    def null(self, key: str) -> Any:
        return self._models.IsNullCondition(is_null=self._models.PayloadField(key=key))

    def join(self, must: Sequence[Any] = (), should: Sequence[Any] = (), must_not: Sequence[Any] = ()) -> Any:
        parts = {"must": must, "should": should, "must_not": must_not}
        return self._models.Filter(**{name: list(part) for name, part in parts.items() if part})


def _connect(package: Any, source: str, api_key: str | None, limit: float) -> Any:
    if "://" in source:
        seconds = max(1, round(limit))
        return package.QdrantClient(url=source, api_key=api_key, timeout=seconds, check_compatibility=False)
    if source == ":memory:":
        raise InputError("source: a collection in memory lives in its client; pass the QdrantClient itself")
    return package.QdrantClient(path=source)


def _engine_errors(package: Any, name: str) -> AbstractContextManager[None]:
    # ValueError and RuntimeError: what the client's local mode raises
    return engine_errors(name, *package.errors, ValueError, RuntimeError)


def _import_qdrant() -> Any:
    try:
        import qdrant_client
        from qdrant_client import models
        from qdrant_client.http import exceptions
    except ImportError:
        raise MissingExtraError("qdrant-client", "qdrant") from None
    return SimpleNamespace(
        QdrantClient=qdrant_client.QdrantClient, models=models, errors=(exceptions.ApiException,),
    )  # fmt: skip
