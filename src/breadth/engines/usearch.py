"""USearch: an HNSW index in memory or in a file (extra `usearch`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from pathlib import Path
from typing import Any

import numpy as np

from breadth.arrays import Array, Ids, Vector
from breadth.checks import check_count
from breadth.engines.checking import SAMPLE, check_decoded, check_rows, engine_errors
from breadth.engines.documents import Documents, join_filters
from breadth.engines.lines import Line, line_up, no_line
from breadth.engines.metric import Metric, rescore
from breadth.engines.scan import scan_mean, scan_top
from breadth.errors import InputError, MissingExtraError
from breadth.filters import read_filter
from breadth.oracles.protocol import Payload

_BLOCK = 16_384
_METRICS = {"IP": Metric.INNER, "Cos": Metric.COSINE, "L2sq": Metric.SQUARED}
_PLAIN = ("F64", "F32", "F16")
"""Types of numbers that keep the length of a row."""


def usearch(
    index: Any,
    *,
    exact: bool = False,
    expansion_search: int | None = None,
    documents: Sequence[Any] | Mapping[int, Any] | None = None,
    where: Mapping[str, Any] | None = None,
) -> USearchOracle:
    """Open a USearch index, or the file it was saved to.

    index              a `usearch.index.Index`, or the path of a file, which is mapped into memory. Its metric is `ip`,
                       `cos` or `l2sq`; on unit rows they rank alike.
    exact              scan all rows instead of walking the graph
    expansion_search   how far a search goes; the default is the index's own. It is set on the index.
    documents          the text and the metadata of rows, which USearch does not hold: a `Payload`, or a dict with a
                       "text", for each row by its key.
    where              a filter on this metadata. The rows that fulfil it are scanned.
    """
    package = _import_usearch()
    if isinstance(index, (str, Path)):
        path = str(index)
        with engine_errors(f"USearch cannot read {path}", RuntimeError, ValueError, OSError):
            index = package.Index.restore(path, view=True) if Path(path).is_file() else None
        if index is None:
            raise InputError(f"index: {path} is no file of a USearch index")
    if not isinstance(index, package.Index):
        raise InputError(f"index must be a usearch.index.Index or the path of one, got {type(index).__name__}")
    if expansion_search is not None:
        index.expansion_search = check_count(expansion_search, "expansion_search")
    opened = USearchOracle(index, exact, Documents(documents))
    return opened if where is None else opened._filter(where)


class USearchOracle:
    """A USearch index as an oracle. Its ids are the keys of the index; `filtered` needs `documents`."""

    limit = None

    def __init__(self, index: Any, exact: bool, documents: Documents) -> None:
        self._index, self._documents, self._scans = index, documents, exact
        kind, numbers = index.metric_kind.name, index.dtype.name
        if kind not in _METRICS:
            raise InputError(f"the USearch index has the metric {kind}; build it with metric='ip'")
        if numbers.startswith("B1"):
            raise InputError("the USearch index holds single bits; build it with dtype='f16' or 'f32'")
        if index.multi:
            raise InputError("the USearch index has several vectors for a key (multi); give every vector its own key")
        self._metric, self.lossy = _METRICS[kind], numbers not in _PLAIN
        self._all: Ids = _read_keys(index)
        self._allowed: Ids | None = None
        self.where: Mapping[str, Any] | None = None
        self.dim = int(index.ndim)
        if documents:
            self.documents, self.filtered = self._find_documents, self._filter
        self.rows(self._all[:: max(1, len(self._all) // SAMPLE)])

    @property
    def size(self) -> int:
        return len(self._all if self._allowed is None else self._allowed)

    @property
    def exact(self) -> bool:
        """Whether a search misses nothing: it scans, and rows are not rounded beyond float16."""
        return not self.lossy and (self._scans or self._allowed is not None)

    def top(self, directions: Array, m: int) -> tuple[Ids, Vector]:
        """Return the m best rows for each direction, largest score first."""
        if self._allowed is not None:
            return scan_top(self._blocks(), directions, m)
        return self.top_rows(directions, m)[:2] if self.lossy else self._search(directions, m, self._scans)

    def top_rows(self, directions: Array, m: int) -> tuple[Ids, Vector, Array]:
        """Return what `top` returns, with the rows."""
        ids, scores = self.top(directions, m) if self._allowed is not None else self._search(directions, m, self._scans)
        lines = [self._fetch(*line) for line in zip(directions, ids, scores, strict=True)]
        return line_up(lines, self.dim)

    def exact_top(self, directions: Array, m: int) -> tuple[Ids, Vector]:
        """`top` by a scan of all rows."""
        return scan_top(self._blocks(), directions, m)

    def rows(self, ids: Ids) -> Array:
        """Return rows in the order of the ids. Rows that are stored as rounded numbers are decoded and normalised."""
        keys = np.asarray(ids, dtype=np.uint64)
        with engine_errors("USearch", RuntimeError, ValueError):
            found = self._index.get(keys, dtype="f32") if len(keys) else ()
        missing = [int(key) for key, row in zip(keys, found, strict=True) if row is None]
        if missing:
            raise InputError(f"the USearch index has no row with the key {missing[0]}")
        rows = np.array(found, dtype=np.float32).reshape(len(keys), self.dim)
        if self.lossy or self._metric is Metric.COSINE:
            return check_decoded(rows, "the USearch index", any_length=self._metric is Metric.COSINE)
        return check_rows(rows, "the USearch index", "divide the vectors by their lengths, or use metric='cos'")

    def mean(self) -> Vector:
        """Return the mean of all rows."""
        return scan_mean(self._blocks(), self.dim)

    def _search(self, directions: Array, m: int, scan: bool) -> tuple[Ids, Vector]:
        wanted = min(m, self.size)
        if len(directions) == 0 or wanted == 0:
            return line_up([no_line(0)] * len(directions), 0)[:2]
        asked = self._metric.askable(directions)
        with engine_errors("USearch", RuntimeError, ValueError):
            found = self._index.search(asked, wanted, exact=scan, threads=1 if len(asked) == 1 else 0)
        ids = np.atleast_2d(np.asarray(found.keys, dtype=np.int64))
        distances = np.atleast_2d(np.asarray(found.distances, dtype=np.float64))
        counts = np.asarray(getattr(found, "counts", [ids.shape[1]]))
        scores = self._metric.inner(directions, distances if self._metric is Metric.SQUARED else 1.0 - distances)
        lines = [
            Line(own[:count], values[:count], np.empty((count, 0), dtype=np.float32))
            for own, values, count in zip(ids, scores, counts.tolist(), strict=True)
        ]
        return line_up(lines, 0)[:2]

    def _fetch(self, direction: Array, ids: Ids, scores: Vector) -> Line:
        ids, scores = ids[ids >= 0], scores[ids >= 0]
        rows = self.rows(ids)
        return Line(*rescore(direction, ids, rows)) if self.lossy else Line(ids, scores, rows)

    def _blocks(self) -> Iterator[tuple[Ids, Array]]:
        every = self._all if self._allowed is None else self._allowed
        for start in range(0, len(every), _BLOCK):
            ids = every[start : start + _BLOCK]
            yield ids, self.rows(ids)

    def _find_documents(self, ids: Ids) -> list[Payload]:
        return self._documents.find(ids)

    def _filter(self, where: Mapping[str, Any]) -> USearchOracle:
        """Return an oracle over the rows whose metadata, given as `documents`, fulfil a filter."""
        other = copy(self)
        other.where = join_filters(self.where, where)
        other._allowed = np.intersect1d(self._documents.match(read_filter(other.where)), self._all)
        other.documents, other.filtered = other._find_documents, other._filter
        return other


def _read_keys(index: Any) -> Ids:
    keys = np.asarray(index.keys[:], dtype=np.uint64)
    if len(keys) and keys.max() > np.iinfo(np.int64).max:
        raise InputError(f"the USearch index has the key {keys.max()}; keys must be below 2**63")
    return np.sort(keys.astype(np.int64))


def _import_usearch() -> Any:
    try:
        from usearch import index
    except ImportError:
        raise MissingExtraError("usearch", "usearch") from None
    return index
