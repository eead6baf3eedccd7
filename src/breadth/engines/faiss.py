"""FAISS: any index over inner products that can give its rows back (extra `faiss`)."""

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
from breadth.engines.metric import Metric, rescore
from breadth.engines.scan import scan_mean, scan_top
from breadth.errors import InputError, MissingExtraError
from breadth.filters import read_filter
from breadth.oracles.protocol import Payload

_BLOCK = 16_384


def faiss(
    index: Any,
    *,
    nprobe: int | None = None,
    ef_search: int | None = None,
    documents: Sequence[Any] | Mapping[int, Any] | None = None,
    where: Mapping[str, Any] | None = None,
) -> FaissOracle:
    """Open a FAISS index, or the file it was written to.

    index       a `faiss.Index`, or the path of a file that `faiss.write_index` wrote. Its metric is the inner product,
                or L2: on unit rows both rank alike.
    nprobe      lists that a search of an IVF index looks into; the default is the index's own. A search looks into
                more if these hold fewer rows than it asks for.
    ef_search   how far a search of an HNSW index goes; the default is the index's own. It goes at least as far as
                the number of rows it asks for.
    documents   the text and the metadata of rows, which FAISS does not hold: a `Payload`, or a dict with a "text", for
                each row by its id.
    where       a filter on this metadata.
    """
    package = _import_faiss()
    if isinstance(index, (str, Path)):
        if not Path(index).is_file():
            raise InputError(f"index: there is no file {index}")
        with engine_errors(f"FAISS cannot read {index}", RuntimeError):
            index = package.read_index(str(index))
    opened = FaissOracle(package, index, nprobe, ef_search, Documents(documents))
    return opened if where is None else opened._filter(where)


class FaissOracle:
    """A FAISS index as an oracle. Its ids are those of the index; `filtered` needs `documents`."""

    limit = None

    def __init__(
        self, package: Any, index: Any, nprobe: int | None, ef_search: int | None, documents: Documents
    ) -> None:
        if not isinstance(index, package.Index):
            raise InputError(f"index must be a faiss.Index or the path of one, got {type(index).__name__}")
        self._faiss, self._index, self._documents = package, index, documents
        self._metric = _read_metric(package, index)
        self._layers = Layers(package, index)
        self._nprobe = None if nprobe is None else check_count(nprobe, "nprobe")
        self._ef = None if ef_search is None else check_count(ef_search, "ef_search")
        self._allowed: Ids | None = None
        self._selector: Any = None
        self.where: Mapping[str, Any] | None = None
        self.dim = int(index.d)
        self.lossy = self._layers.lossy
        if documents:
            self.documents, self.filtered = self._find_documents, self._filter
        every = self._layers.ids()
        if len(every) and every.min() < 0:
            raise InputError(f"the FAISS index has the id {every.min()}; ids must be whole numbers from 0 on")
        self.rows(every[:: max(1, self.size // SAMPLE)])

    @property
    def size(self) -> int:
        return int(self._index.ntotal) if self._allowed is None else len(self._allowed)

    @property
    def exact(self) -> bool:
        """Whether a search misses nothing: it looks at every row, and rows are not rounded."""
        return not self.lossy and self._layers.scans_all(self._nprobe)

    def top(self, directions: Array, m: int) -> tuple[Ids, Vector]:
        """Return the m best rows for each direction. FAISS may find fewer: the rest of the line is then -1."""
        m = min(m, self.size)
        if m == 0 or len(directions) == 0:
            return np.empty((len(directions), m), dtype=np.int64), np.empty((len(directions), m))
        asked = self._metric.askable(directions)
        with engine_errors("FAISS", RuntimeError):
            measured, ids = self._search(asked, m)
        scores = self._metric.inner(directions, measured)
        if self.lossy:  # its scores are those of the rounded rows
            for place, (line, direction) in enumerate(zip(ids, directions, strict=True)):
                there = line >= 0
                line[there], scores[place, there], _ = rescore(direction, line[there], self.rows(line[there]))
        return ids, scores

    def top_rows(self, directions: Array, m: int) -> tuple[Ids, Vector, Array]:
        """Return what `top` returns, with the rows."""
        ids, scores = self.top(directions, m)
        rows = np.zeros((*ids.shape, self.dim), dtype=np.float32)
        rows[ids >= 0] = self.rows(ids[ids >= 0])
        return ids, scores, rows

    def rows(self, ids: Ids) -> Array:
        """Return rows in the order of the ids. Rows that are stored as rounded numbers are decoded and normalised."""
        with engine_errors("FAISS", RuntimeError):
            rows = self._layers.reconstruct(np.asarray(ids, dtype=np.int64))
        if not self.lossy:
            return check_rows(rows, "the FAISS index", "call faiss.normalize_L2 on the vectors before you add them")
        return check_decoded(rows, "the FAISS index")

    def mean(self) -> Vector:
        """Return the mean of all rows."""
        return scan_mean(self._blocks(), self.dim)

    def exact_top(self, directions: Array, m: int) -> tuple[Ids, Vector]:
        """`top` by reading every row."""
        return scan_top(self._blocks(), directions, m)

    def _blocks(self) -> Iterator[tuple[Ids, Array]]:
        every = self._layers.ids() if self._allowed is None else self._allowed
        for start in range(0, len(every), _BLOCK):
            ids = every[start : start + _BLOCK]
            yield ids, self.rows(ids)

    def _find_documents(self, ids: Ids) -> list[Payload]:
        return self._documents.find(ids)

    def _filter(self, where: Mapping[str, Any]) -> FaissOracle:
        """Return an oracle over the rows whose metadata, given as `documents`, fulfil a filter."""
        found = self._documents.match(read_filter(where))
        other = copy(self)
        other._allowed = np.intersect1d(found, self._layers.ids() if self._allowed is None else self._allowed)
        other._selector = self._faiss.IDSelectorBatch(other._allowed)
        other.where = join_filters(self.where, where)
        other.documents, other.filtered = other._find_documents, other._filter
        return other

    def _search(self, asked: Array, m: int) -> tuple[Vector, Ids]:
        """Search, and search further where FAISS finds fewer rows than there are."""
        nprobe, ef = self._nprobe, self._ef
        while True:
            parameters = self._layers.parameters(nprobe, ef, m, self._selector)
            measured, ids = self._index.search(asked, m, params=parameters)
            wider = self._layers.widen(nprobe, ef, m)
            if wider is None or (ids >= 0).all():
                return measured, ids
            nprobe, ef = wider


class Layers:
    """What an index is made of: a map of ids, perhaps, around an index that holds the rows.

    lossy   whether rows are stored as rounded numbers
    """

    def __init__(self, package: Any, index: Any) -> None:
        self._faiss = package
        outer = package.downcast_index(index)
        mapped = isinstance(outer, package.IndexIDMap)
        self._core = package.downcast_index(outer.index) if mapped else outer
        self._ivf = _find_ivf(package, self._core)
        self._is_graph = isinstance(self._core, (package.IndexHNSW,))
        self._map: Ids | None = package.vector_to_array(outer.id_map).astype(np.int64) if mapped else None
        if self._ivf is not None:
            self._number_lists()
        self._order = None if self._map is None else np.argsort(self._map)
        self.lossy = not _holds_rows(package, self._core)

    def _number_lists(self) -> None:
        """Let an IVF index find rows by id."""
        lists = self._ivf.invlists
        parts = [
            self._faiss.rev_swig_ptr(lists.get_ids(number), lists.list_size(number)).copy()
            for number in range(lists.nlist)
            if lists.list_size(number)
        ]
        inside = np.sort(np.concatenate(parts)) if parts else np.empty(0, dtype=np.int64)
        if np.array_equal(inside, np.arange(len(inside))):
            self._ivf.make_direct_map()
        else:
            self._ivf.set_direct_map_type(self._faiss.DirectMap.Hashtable)
        self._inside = inside

    def ids(self) -> Ids:
        """The ids of all rows."""
        if self._map is not None:
            return self._map
        if self._ivf is not None:
            return self._inside
        return np.arange(self._core.ntotal, dtype=np.int64)

    def reconstruct(self, ids: Ids) -> Array:
        """The rows with these ids, as they are stored."""
        if len(ids) == 0:
            return np.empty((0, self._core.d), dtype=np.float32)
        places = ids
        if self._map is not None and self._order is not None:
            found = np.searchsorted(self._map, ids, sorter=self._order)
            places = self._order[np.minimum(found, len(self._map) - 1)]
            wrong = ids[self._map[places] != ids]
        elif self._ivf is not None:
            wrong = ids[np.isin(ids, self._inside, invert=True)]
        else:
            wrong = ids[(ids < 0) | (ids >= self._core.ntotal)]
        if len(wrong):
            raise InputError(f"the FAISS index has no row with the id {int(wrong[0])}")
        return np.asarray(self._core.reconstruct_batch(places))

    def scans_all(self, nprobe: int | None) -> bool:
        """Whether a search looks at every row."""
        if self._ivf is not None:
            return (nprobe or int(self._ivf.nprobe)) >= int(self._ivf.nlist)
        return isinstance(self._core, (self._faiss.IndexFlatCodes,))

    def parameters(self, nprobe: int | None, ef: int | None, m: int, selector: Any) -> Any:
        """The settings of one search."""
        chosen = {} if selector is None else {"sel": selector}
        if self._ivf is not None:
            inner = self._faiss.SearchParametersIVF(nprobe=nprobe or int(self._ivf.nprobe), **chosen)
        elif self._is_graph:
            inner = self._faiss.SearchParametersHNSW(efSearch=max(ef or int(self._core.hnsw.efSearch), m), **chosen)
        elif selector is not None:
            inner = self._faiss.SearchParameters(**chosen)
        else:
            return None
        if isinstance(self._core, self._faiss.IndexPreTransform):
            return self._faiss.SearchParametersPreTransform(index_params=inner)
        return inner

    def widen(self, nprobe: int | None, ef: int | None, m: int) -> tuple[int | None, int | None] | None:
        """Settings with which a search goes twice as far; None if it already looks at everything."""
        if self._ivf is not None:
            now, most = nprobe or int(self._ivf.nprobe), int(self._ivf.nlist)
            return None if now >= most else (min(2 * now, most), ef)
        if self._is_graph:
            now = max(ef or int(self._core.hnsw.efSearch), m)
            return None if now >= self._core.ntotal else (nprobe, 2 * now)
        return None


def _import_faiss() -> Any:
    try:
        import faiss
    except ImportError:
        raise MissingExtraError("faiss-cpu", "faiss") from None
    return faiss


def _read_metric(package: Any, index: Any) -> Metric:
    metrics = {package.METRIC_INNER_PRODUCT: Metric.INNER, package.METRIC_L2: Metric.SQUARED}
    if index.metric_type not in metrics:
        raise InputError(
            f"the FAISS index has metric {index.metric_type}; build it with faiss.METRIC_INNER_PRODUCT on unit rows"
        )
    return metrics[index.metric_type]


def _find_ivf(package: Any, core: Any) -> Any:
    """The IVF index inside an index, or None."""
    inner = package.downcast_index(core.index) if isinstance(core, package.IndexPreTransform) else core
    return inner if isinstance(inner, package.IndexIVF) else None


def _holds_rows(package: Any, core: Any) -> bool:
    """Whether an index stores the rows themselves, not rounded beyond float16."""
    if isinstance(core, package.IndexScalarQuantizer):
        return bool(core.sq.qtype == package.ScalarQuantizer.QT_fp16)
    return isinstance(core, (package.IndexFlat, package.IndexIVFFlat, package.IndexHNSWFlat))
