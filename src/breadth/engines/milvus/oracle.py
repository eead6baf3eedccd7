"""Open a collection of Milvus, and ask it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from copy import copy
from types import SimpleNamespace
from typing import Any

import numpy as np

from breadth.arrays import Array, Ids, Vector
from breadth.checks import check_count, check_number
from breadth.engines.checking import SAMPLE, check_rows, engine_errors
from breadth.engines.documents import join_filters
from breadth.engines.keys import KeyBook
from breadth.engines.lines import Line, line_up, order
from breadth.engines.metric import Metric, rescore, unit_rows
from breadth.engines.milvus.filters import translate, translate_keys
from breadth.engines.milvus.schema import WHOLE, read_schema
from breadth.engines.scan import scan_top
from breadth.errors import EngineError, InputError, MissingExtraError, OracleError
from breadth.filters import read_filter
from breadth.oracles.protocol import Payload

_MOST = 16_384
"""The most rows that a search, or a query, of Milvus returns."""
_BLOCK = 4096
"""Rows that are read at a time when all are read."""
_METRICS = {"IP": Metric.INNER, "COSINE": Metric.COSINE, "L2": Metric.SQUARED}
_REMEDY = "divide the rows by their lengths before you insert them, or use an index with metric_type='COSINE'"


def milvus(
    uri: Any,
    collection: str,
    *,
    vectors: str | None = None,
    text: str | None = None,
    metadata: str | None = None,
    ef: int | None = None,
    nprobe: int | None = None,
    where: Mapping[str, Any] | None = None,
    token: str = "",
    consistency: str | None = None,
    timeout: float = 30.0,
) -> MilvusOracle:
    """Open a collection of Milvus.

    uri           the address of a server, `http://host:19530`; the path of a file of Milvus Lite; or a `MilvusClient`,
                  which stays open
    collection    its name
    vectors       the field with the vectors; needed only if there are several
    text          the field with the text; the default is `text`, if there is one
    metadata      a field of JSON with metadata; the default is the dynamic field, if there is one. The other fields
                  are metadata as well.
    ef, nprobe    how far an HNSW index searches at least; the lists that an IVF index looks into. An HNSW index always
                  goes as far as the number of rows that are asked for.
    where         a filter; see `breadth.filters`
    token         how the server knows you: `user:password` or an API key
    consistency   "Strong", "Session", "Bounded" or "Eventually"; the default is that of the collection
    timeout       seconds that an answer may take
    """
    package = _import_milvus()
    limit = check_number(timeout, "timeout", 0.001, 1e6)
    knobs = {name: check_count(value, name) for name, value in (("ef", ef), ("nprobe", nprobe)) if value is not None}
    options = {"timeout": limit} | ({} if consistency is None else {"consistency_level": consistency})
    owned = isinstance(uri, str)
    with _engine_errors(package, collection):
        client = package.MilvusClient(uri, token=token, timeout=limit) if owned else uri
        is_lite = "://" not in uri if owned else "lite" in client.get_server_version(timeout=limit)
    try:
        names = (vectors, text, metadata)
        opened = MilvusOracle(package, client, collection, options, knobs, names, is_lite, owned)
        return opened if where is None else opened.filtered(where)
    except BaseException:
        if owned:
            client.close()
        raise


class MilvusOracle:
    """A collection of Milvus. Threads may ask at the same time."""

    limit = _MOST

    def __init__(
        self,
        package: Any,
        client: Any,
        collection: str,
        options: dict[str, Any],
        knobs: dict[str, int],
        names: tuple[str | None, str | None, str | None],
        is_lite: bool,
        owned: bool,
    ) -> None:
        self._package, self._client, self._options, self._knobs = package, client, options, knobs
        self._name, self._state, self._expression, self._owned = collection, {"closed": False}, "", owned
        with self._asking():
            if not client.has_collection(collection, timeout=options["timeout"]):
                raise InputError(f"collection: this Milvus has no collection {collection!r}")
            self._schema = read_schema(
                client.describe_collection(collection, timeout=options["timeout"]), *names, is_lite
            )
            self._metric, self._index = self._read_index()
            client.load_collection(collection, timeout=options["timeout"])
        self.where: Mapping[str, Any] | None = None
        self._book = None if self._counts_up() else KeyBook()
        self.dim = self._schema.vectors.dim
        self.exact = is_lite or self._index == "FLAT"
        self.size = self._count()
        self._decode([row[self._schema.vectors.name] for row in self._find("", SAMPLE, [self._schema.vectors.name])])
        if self._book is not None:
            self.keys, self.handles = self._book.keys, self._book.handles
        if not self.exact:
            self.exact_top = self._scan

    def close(self) -> None:
        """Close the connection, also that of oracles that were made with `filtered`."""
        if not self._state["closed"]:
            self._state["closed"] = True
            if self._owned:
                self._client.close()

    def __enter__(self) -> MilvusOracle:
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
        field = self._schema.vectors.name
        return self._decode([entry[field] for entry in self._look_up(ids, [field])])

    def mean(self) -> Vector:
        """Refuse: Milvus computes no mean."""
        raise OracleError(
            "Milvus computes no mean of vectors, which this method needs; use the default method, or one that does not "
            "start from the mean"
        )

    def documents(self, ids: Ids) -> Sequence[Payload]:
        """Return the texts and the metadata of rows."""
        return [self._read_payload(entry) for entry in self._look_up(ids, self._schema.payload)]

    def filtered(self, where: Mapping[str, Any]) -> MilvusOracle:
        """Return an oracle over the rows that fulfil a filter. It shares the connection."""
        other = copy(self)
        other.where = join_filters(self.where, where)
        other._expression = translate(read_filter(other.where), self._schema)
        other.size = other._count()
        if not self.exact:
            other.exact_top = other._scan
        return other

    def _asking(self) -> AbstractContextManager[None]:
        if self._state["closed"]:
            raise EngineError(f"Milvus, collection {self._name}: this oracle was closed")
        return _engine_errors(self._package, self._name)

    def _read_index(self) -> tuple[Metric, str]:
        field = self._schema.vectors.name
        found = self._client.list_indexes(self._name, field_name=field)
        if not found:
            raise InputError(f"{self._name} has no index on {field!r}; create one, e.g. FLAT with metric_type='IP'")
        index = self._client.describe_index(self._name, found[0])
        if index["metric_type"] not in _METRICS:
            raise InputError(
                f"the index of {self._name} has metric_type {index['metric_type']!r}; build it with 'IP' or 'COSINE'"
            )
        return _METRICS[index["metric_type"]], str(index["index_type"])

    def _counts_up(self) -> bool:
        """Whether the keys are whole numbers from 0 on, so that they can be ids."""
        key = self._schema.key
        return key.type in WHOLE and not self._find(f"{key.name} < 0", 1, [key.name])

    def _count(self) -> int:
        return int(self._find(self._expression, None, ["count(*)"])[0]["count(*)"])

    def _find(self, expression: str, limit: int | None, fields: list[str]) -> list[dict[str, Any]]:
        with self._asking():
            return list(
                self._client.query(
                    self._name, filter=expression, output_fields=fields, limit=limit, **self._options
                )
            )  # fmt: skip

    def _search(self, directions: Array, m: int, rows: bool) -> tuple[Ids, Vector, Array]:
        asked = self._metric.askable(directions)
        if len(asked) == 0 or self.size == 0:
            return line_up([Line(*_NOTHING)] * len(asked), self.dim if rows else 0)
        m = min(m, _MOST)
        knobs = dict(self._knobs)
        if self._index.startswith("HNSW"):
            knobs["ef"] = max(m, knobs.get("ef", 0))
        fields = [self._schema.vectors.name] if rows else []
        with self._asking():
            found = self._client.search(
                self._name, asked.tolist(), filter=self._expression, limit=m, output_fields=fields,
                anns_field=self._schema.vectors.name, search_params={"params": knobs}, **self._options,
            )  # fmt: skip
        lines = [self._read(w, hits, rows) for w, hits in zip(directions, found, strict=True)]
        return line_up(lines, self.dim if rows else 0)

    def _read(self, direction: Array, hits: Any, rows: bool) -> Line:
        name = self._schema.key.name  # older servers call it "id", whatever its name is
        ids = self._number([hit[name] if name in hit else hit["id"] for hit in hits])
        if rows:
            vectors = [hit["entity"][self._schema.vectors.name] for hit in hits]
            return Line(*rescore(direction, ids, self._decode(vectors)))
        measured = np.array([hit["distance"] for hit in hits], dtype=np.float64)
        return order(ids, self._metric.inner(np.asarray(direction)[None], measured[None])[0])

    def _look_up(self, ids: Ids, fields: list[str]) -> list[dict[str, Any]]:
        """Some fields of rows, in the order of the ids."""
        keys = np.asarray(ids).tolist() if self._book is None else self._book.keys(ids).tolist()
        key, unique = self._schema.key.name, list(dict.fromkeys(keys))
        found = {}
        for start in range(0, len(unique), _BLOCK):
            some = translate_keys(key, unique[start : start + _BLOCK])
            found.update({entry[key]: entry for entry in self._find(some, None, [key, *fields])})
        missing = [name for name in keys if name not in found]
        if missing:
            raise InputError(f"{self._name} has no row {missing[0]!r}; was it deleted?")
        return [found[name] for name in keys]

    def _scan(self, directions: Array, m: int) -> tuple[Ids, Vector]:
        """`top` by reading every row of the collection, which takes as long as that takes."""
        return scan_top(self._blocks(), directions, m)

    def _blocks(self) -> Iterator[tuple[Ids, Array]]:
        key, field = self._schema.key.name, self._schema.vectors.name
        with self._asking():
            pages = self._client.query_iterator(
                self._name, batch_size=_BLOCK, filter=self._expression, output_fields=[key, field], **self._options
            )
            while page := pages.next():
                yield self._number([entry[key] for entry in page]), self._decode([entry[field] for entry in page])
            pages.close()

    def _number(self, keys: Iterable[Any]) -> Ids:
        return np.array(list(keys), dtype=np.int64) if self._book is None else self._book.handles(keys)

    def _decode(self, vectors: list[Any]) -> Array:
        rows = np.array(vectors, dtype=np.float32).reshape(len(vectors), self.dim)
        return unit_rows(rows) if self._metric is Metric.COSINE else check_rows(rows, self._name, _REMEDY)

    def _read_payload(self, entry: dict[str, Any]) -> Payload:
        values = {name: value for name, value in entry.items() if name != self._schema.key.name and value is not None}
        text = None if self._schema.text is None else values.pop(self._schema.text, None)
        own = {} if self._schema.metadata in (None, "$meta") else values.pop(self._schema.metadata, {})
        return Payload(text, {**own, **values})


_NOTHING = (np.empty(0, dtype=np.int64), np.empty(0), np.empty((0, 0), dtype=np.float32))


def _engine_errors(package: Any, name: str) -> AbstractContextManager[None]:
    return engine_errors(f"Milvus, collection {name}", *package.errors)


def _import_milvus() -> Any:
    try:
        import grpc
        import pymilvus
    except ImportError:
        raise MissingExtraError("pymilvus", "milvus") from None
    return SimpleNamespace(MilvusClient=pymilvus.MilvusClient, errors=(pymilvus.MilvusException, grpc.RpcError))
