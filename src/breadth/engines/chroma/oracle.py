"""Open a collection of Chroma, and ask it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from copy import copy
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from breadth.arrays import Array, Ids, Vector
from breadth.checks import check_number
from breadth.engines.checking import SAMPLE, check_rows, engine_errors
from breadth.engines.chroma.filters import translate
from breadth.engines.documents import join_filters
from breadth.engines.keys import KeyBook
from breadth.engines.lines import Line, line_up
from breadth.engines.metric import Metric, rescore, unit_rows
from breadth.engines.scan import scan_mean, scan_top
from breadth.errors import EngineError, InputError, MissingExtraError
from breadth.filters import read_filter
from breadth.oracles.protocol import Payload

_BLOCK = 2000
"""Rows that are read at a time. Chroma's databases allow some thousand values in one request."""
_METRICS = {"ip": Metric.INNER, "cosine": Metric.COSINE, "l2": Metric.SQUARED}
_REMEDY = "divide the rows by their lengths before you add them, or use a collection with the space 'cosine'"


def chroma(
    source: Any,
    collection: str,
    *,
    where: Mapping[str, Any] | None = None,
    tenant: str | None = None,
    database: str | None = None,
    headers: Mapping[str, str] | None = None,
    timeout: float = 30.0,
) -> ChromaOracle:
    """Open a collection of Chroma.

    source       the folder that a `chromadb.PersistentClient` writes, the address of a server (`http://host:8000`), or
                 a client
    collection   its name. Its space may be `ip`, `cosine` or `l2`; rows of a collection with the space `cosine` are
                 divided by their lengths when they are read, the others must have unit length.
    where        a filter, see `breadth.filters`
    tenant, database, headers   of a server, if you do not use its defaults
    timeout      seconds that a server may take to answer
    """
    package = _import_chroma()
    limit = check_number(timeout, "timeout", 0.001, 1e6)
    with _engine_errors(package, collection):
        client, owned = _connect(package, source, tenant, database, headers, limit)
    try:
        opened = ChromaOracle(package, client, collection, owned)
        return opened if where is None else opened.filtered(where)
    except BaseException:
        if owned:
            close(client)
        raise


class ChromaOracle:
    """A collection of Chroma. Searches are approximate (HNSW). Threads may ask at the same time."""

    exact = False
    limit = None

    def __init__(self, package: Any, client: Any, collection: str, owned: bool) -> None:
        self._package, self._client, self._name, self._owned = package, client, collection, owned
        self._state = {"closed": False}
        self._book = KeyBook()
        self.keys, self.handles = self._book.keys, self._book.handles
        self.where: Mapping[str, Any] | None = None
        self._where: dict[str, Any] | None = None
        with self._asking():
            try:
                self._collection = client.get_collection(collection, embedding_function=None)
            except package.errors.NotFoundError:
                raise InputError(f"collection: this Chroma has no collection {collection!r}") from None
            self._metric = _read_metric(self._collection)
            self.size = int(self._collection.count())
            sample = self._collection.get(limit=min(SAMPLE, _BLOCK), include=["embeddings"])["embeddings"]
        self.dim = len(sample[0]) if self.size else 0
        self._decode(sample)

    def close(self) -> None:
        """Close the client, unless it was given. Oracles that were made with `filtered` are closed as well."""
        if not self._state["closed"]:
            self._state["closed"] = True
            if self._owned:
                close(self._client)

    def top(self, directions: Array, m: int) -> tuple[Ids, Vector]:
        """Return the m best rows for each direction, largest score first."""
        lines = []
        for direction, found in self._search(directions, m, ["distances"]):
            measured = np.array(found["distances"], dtype=np.float64)
            inner = self._metric.inner(direction[None], _undo(self._metric, measured)[None])[0]
            lines.append(Line(self.handles(found["ids"]), inner, np.empty((len(inner), 0), dtype=np.float32)))
        ids, scores, _ = line_up(lines, 0)
        return ids, scores

    def top_rows(self, directions: Array, m: int) -> tuple[Ids, Vector, Array]:
        """Return the m best rows for each direction with their vectors, in one request."""
        lines = [
            Line(*rescore(direction, self.handles(found["ids"]), self._decode(found["embeddings"])))
            for direction, found in self._search(directions, m, ["embeddings"])
        ]
        return line_up(lines, self.dim)

    def rows(self, ids: Ids) -> Array:
        """Return the rows with these ids, in their order."""
        return self._decode(self._look_up(ids, "embeddings"))

    def mean(self) -> Vector:
        """Return the mean of all rows, which are read for it."""
        return scan_mean(self._blocks(), self.dim)

    def exact_top(self, directions: Array, m: int) -> tuple[Ids, Vector]:
        """`top` by reading every row of the collection, which takes as long as that takes."""
        return scan_top(self._blocks(), directions, m)

    def documents(self, ids: Ids) -> list[Payload]:
        """Return the documents and the metadata of rows."""
        texts, metadata = (self._look_up(ids, name) for name in ("documents", "metadatas"))
        return [Payload(text, dict(entry or {})) for text, entry in zip(texts, metadata, strict=True)]

    def filtered(self, where: Mapping[str, Any]) -> ChromaOracle:
        """Return an oracle over the rows that fulfil a filter. It shares the client."""
        other = copy(self)
        other.where = join_filters(self.where, where)
        other._where = translate(read_filter(other.where))
        other.size = sum(len(page["ids"]) for page in other._pages([]))
        return other

    @contextmanager
    def _asking(self) -> Iterator[None]:
        if self._state["closed"]:
            raise EngineError(f"Chroma, collection {self._name}: this oracle was closed")
        with _engine_errors(self._package, self._name):
            yield

    def _search(self, directions: Array, m: int, include: list[str]) -> list[tuple[Array, dict[str, Any]]]:
        """What was found for each direction."""
        wanted = min(m, self.size)
        if len(directions) == 0 or wanted == 0:
            nothing = {"ids": [], "distances": [], "embeddings": np.empty((0, self.dim), dtype=np.float32)}
            return [(direction, nothing) for direction in directions]
        asked = self._metric.askable(directions)
        with self._asking():
            found = self._collection.query(query_embeddings=asked, n_results=wanted, include=include, where=self._where)
        names = ("ids", *include)
        return [(w, {name: found[name][place] for name in names}) for place, w in enumerate(directions)]

    def _look_up(self, ids: Ids, what: str) -> list[Any]:
        """One property of rows, in the order of the ids."""
        wanted = self.keys(ids).tolist()
        unique = list(dict.fromkeys(wanted))
        found: dict[Any, Any] = {}
        for start in range(0, len(unique), _BLOCK):
            with self._asking():
                part = self._collection.get(ids=unique[start : start + _BLOCK], include=[what])
            found.update(zip(part["ids"], part[what], strict=True))
        missing = [key for key in wanted if key not in found]
        if missing:
            raise InputError(f"the collection {self._name} has no row {missing[0]!r}; was it deleted?")
        return [found[key] for key in wanted]

    def _pages(self, include: list[str]) -> Iterator[Any]:
        start = 0
        while True:
            with self._asking():
                page = self._collection.get(limit=_BLOCK, offset=start, include=include, where=self._where)
            if not page["ids"]:
                return
            start += len(page["ids"])
            yield page

    def _blocks(self) -> Iterator[tuple[Ids, Array]]:
        for page in self._pages(["embeddings"]):
            yield self.handles(page["ids"]), self._decode(page["embeddings"])

    def _decode(self, vectors: Any) -> Array:
        rows = np.asarray(vectors, dtype=np.float32).reshape(len(vectors), self.dim)
        if self._metric is Metric.COSINE:
            return unit_rows(rows)
        return check_rows(rows, f"the collection {self._name}", _REMEDY)


def _undo(metric: Metric, distances: Vector) -> Vector:
    """What Chroma measured, from the distance that it returns: 1 - cosine, 1 - inner product."""
    return distances if metric is Metric.SQUARED else 1.0 - distances


def _read_metric(collection: Any) -> Metric:
    configured = collection.configuration_json or {}  # `configuration` would make an embedding function
    index = configured.get("hnsw") or configured.get("spann") or {}
    space = index.get("space") or (collection.metadata or {}).get("hnsw:space", "l2")
    if space not in _METRICS:
        raise InputError(f"the collection {collection.name} has the space {space!r}; use 'ip', 'cosine' or 'l2'")
    return _METRICS[space]


def _connect(
    package: Any,
    source: Any,
    tenant: str | None,
    database: str | None,
    headers: Mapping[str, str] | None,
    timeout: float,
) -> tuple[Any, bool]:
    """A client, and whether it is ours to close."""
    if not isinstance(source, (str, Path)):
        return source, False
    names = {name: value for name, value in (("tenant", tenant), ("database", database)) if value is not None}
    settings = package.Settings(anonymized_telemetry=False)
    if "://" not in str(source):
        if not (Path(source) / "chroma.sqlite3").is_file():
            raise InputError(f"source: the folder {source} holds no Chroma")
        return package.PersistentClient(str(source), settings=settings, **names), True
    package.get(f"{str(source).rstrip('/')}/api/v2/heartbeat", timeout=timeout, headers=headers).raise_for_status()
    parts = urlsplit(str(source))
    ssl = parts.scheme == "https"
    client = package.HttpClient(
        host=parts.hostname or "localhost",
        port=parts.port or (443 if ssl else 8000),
        ssl=ssl,
        headers=None if headers is None else dict(headers),
        settings=settings,
        **names,
    )
    for session in _find_sessions(client):
        session.timeout = timeout
    return client, True


def close(client: Any) -> None:
    """Close a client and its connections."""
    sessions = _find_sessions(client)
    client.close()
    for session in sessions:
        session.close()


def _find_sessions(client: Any) -> list[Any]:
    """The HTTP sessions of a client, if it has any: chromadb lets them wait for ever, and never closes them."""
    owners: list[Any] = [client, getattr(client, "_admin_client", None)]
    servers: list[Any] = [owner._server for owner in owners if hasattr(owner, "_server")]
    return [server._session for server in servers if hasattr(server, "_session")]


def _engine_errors(package: Any, name: str) -> AbstractContextManager[None]:
    # ValueError: what chromadb makes of a server that it cannot reach, and of arguments that it does not take
    kinds = (package.errors.ChromaError, package.HTTPError, ValueError, RuntimeError)
    return engine_errors(f"Chroma, collection {name}", *kinds)


def _import_chroma() -> Any:
    try:
        import chromadb
        import httpx
        from chromadb import config, errors
    except ImportError:
        raise MissingExtraError("chromadb", "chroma") from None
    return SimpleNamespace(
        PersistentClient=chromadb.PersistentClient,
        HttpClient=chromadb.HttpClient,
        Settings=config.Settings,
        errors=errors,
        HTTPError=httpx.HTTPError,
        get=httpx.get,
    )
