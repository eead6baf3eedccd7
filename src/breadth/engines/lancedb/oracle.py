"""Open a table of LanceDB, and ask it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from pathlib import Path
from typing import Any

import numpy as np

from breadth.arrays import Array, Ids, Vector
from breadth.checks import check_choice, check_count
from breadth.engines.checking import SAMPLE, check_rows, engine_errors
from breadth.engines.documents import join_filters
from breadth.engines.keys import KeyBook
from breadth.engines.lancedb.filters import quote, translate, write
from breadth.engines.lines import Line, line_up, no_line
from breadth.engines.metric import Metric, rescore, unit_rows
from breadth.engines.scan import scan_mean
from breadth.errors import EngineError, InputError, MissingExtraError
from breadth.filters import read_filter
from breadth.oracles.protocol import Payload

_BLOCK = 8192
_ROW_ID, _DISTANCE, _QUERY = "_rowid", "_distance", "query_index"
_METRICS = {"dot": Metric.INNER, "cosine": Metric.COSINE, "l2": Metric.SQUARED}
_REMEDY = "divide the rows by their lengths before you add them, or open the table with metric='cosine'"


def lancedb(
    path: Any,
    table: str,
    *,
    vectors: str | None = None,
    key: str | None = None,
    text: str | None = None,
    metric: str | None = None,
    exact: bool = False,
    nprobes: int | None = None,
    ef: int | None = None,
    where: Mapping[str, Any] | None = None,
) -> LanceOracle:
    """Open a table of LanceDB.

    path      the folder of the database, any other place that `lancedb.connect` takes, or a connection
    table     its name
    vectors   the column with the vectors; needed only if there are several
    key       the column whose values are the ids of rows; the default is `id`, if there is one, else LanceDB's row ids,
              which change when the table is compacted
    text      the column with the text; the default is `text`, if there is one. The other columns are metadata.
    metric    "dot", "cosine" or "l2"; the default is that of the index, or else "dot". With "cosine", rows are divided
              by their lengths when they are read; with the others they must have unit length.
    exact     scan the table even if it has an index on the vectors. Without an index every search is exact.
    nprobes, ef   how far a search of an index goes; the defaults are LanceDB's
    where     a filter, see `breadth.filters`
    """
    package = _import_lancedb()
    with engine_errors(f"LanceDB, {path}", OSError, RuntimeError, ValueError):
        if isinstance(path, (str, Path)) and "://" not in str(path) and not Path(path).is_dir():
            raise InputError(f"path: there is no folder {path}")
        database = package.connect(path) if isinstance(path, (str, Path)) else path
        try:
            found = database.open_table(table)
        except (ValueError, FileNotFoundError):
            raise InputError(f"table: {path} has no table {table!r}") from None
        opened = LanceOracle(found, (vectors, key, text), metric, exact, nprobes, ef)
    return opened if where is None else opened.filtered(where)


class LanceOracle:
    """A table of LanceDB. Threads may ask at the same time."""

    limit = None

    def __init__(
        self,
        table: Any,
        columns: tuple[str | None, str | None, str | None],
        metric: str | None,
        exact: bool,
        nprobes: int | None,
        ef: int | None,
    ) -> None:
        self._table, self._schema, self._state = table, table.schema, {"closed": False}
        vectors, key, text = columns
        self._vectors = _find_vectors(table.schema, vectors)
        self._key = _find_column(table.schema, key, "id", "key")
        self._text = _find_column(table.schema, text, "text", "text")
        kind, own = _find_index(table, self._vectors)
        name = check_choice(metric or own or "dot", "metric", _METRICS)
        if own is not None and name != own and not exact:
            raise InputError(f"metric: the index measures {own!r}; leave metric out, or scan with exact=True")
        self._distance, self._metric = name, _METRICS[name]
        self.exact = exact or kind is None
        self._knobs = {"nprobes": nprobes, "ef": ef}
        self._knobs = {name: check_count(value, name) for name, value in self._knobs.items() if value is not None}
        self._book = None if self._key is None else KeyBook()
        if self._book is not None:
            self.keys, self.handles = self._book.keys, self._book.handles
        self.dim = int(table.schema.field(self._vectors).type.list_size)
        self.where: Mapping[str, Any] | None = None
        self._where: str | None = None
        self.size = int(table.count_rows())
        self._decode(table.head(SAMPLE)[self._vectors])

    def close(self) -> None:
        """Let go of the table. Oracles that were made with `filtered` are closed as well."""
        self._state["closed"] = True

    def top(self, directions: Array, m: int) -> tuple[Ids, Vector]:
        """Return the m best rows for each direction, largest score first."""
        return self.top_rows(directions, m)[:2]  # LanceDB's own distances are rounded where an index compresses rows

    def top_rows(self, directions: Array, m: int) -> tuple[Ids, Vector, Array]:
        """Return the m best rows for each direction with their vectors, in one request."""
        return self._search(directions, m, self.exact)

    def exact_top(self, directions: Array, m: int) -> tuple[Ids, Vector]:
        """`top` by a scan of the table."""
        return self._search(directions, m, True)[:2]

    def rows(self, ids: Ids) -> Array:
        """Return the rows with these ids, in their order."""
        found, order = self._look_up(ids, [self._vectors])
        return self._decode(found[self._vectors])[order]

    def mean(self) -> Vector:
        """Return the mean of all rows, which are read for it."""
        return scan_mean(self._blocks(), self.dim)

    def documents(self, ids: Ids) -> list[Payload]:
        """Return the texts and the metadata of rows. Nulls are left out."""
        columns = [name for name in self._schema.names if name not in (self._vectors, self._key)]
        found, order = self._look_up(ids, columns)
        entries = found.select(columns).to_pylist()
        return [self._read_payload(entries[place]) for place in order]

    def filtered(self, where: Mapping[str, Any]) -> LanceOracle:
        """Return an oracle over the rows that fulfil a filter."""
        other = copy(self)
        other.where = join_filters(self.where, where)
        other._where = translate(read_filter(other.where), self._schema)
        with self._asking():
            other.size = int(self._table.count_rows(other._where))
        return other

    @contextmanager
    def _asking(self) -> Iterator[None]:
        if self._state["closed"]:
            raise EngineError(f"LanceDB, table {self._table.name}: this oracle was closed")
        with engine_errors(f"LanceDB, table {self._table.name}", OSError, RuntimeError, ValueError):
            yield

    def _search(self, directions: Array, m: int, scan: bool) -> tuple[Ids, Vector, Array]:
        wanted = min(m, self.size)
        if len(directions) == 0 or wanted == 0:
            return line_up([no_line(self.dim)] * len(directions), self.dim)
        asked = self._metric.askable(directions)
        with self._asking():
            query = self._table.search(list(asked) if len(asked) > 1 else asked[0], vector_column_name=self._vectors)
            query = query.distance_type(self._distance).limit(wanted).select(self._columns([self._vectors, _DISTANCE]))
            query = query.where(self._where, prefilter=True) if self._where is not None else query
            found = self._read_ids(query.bypass_vector_index() if scan else self._set_knobs(query))
        ids, rows = self._number(found), self._decode(found[self._vectors])
        if len(asked) == 1:
            return line_up([Line(*rescore(directions[0], ids, rows))], self.dim)
        line = found[_QUERY].to_numpy()
        lines = [Line(*rescore(w, ids[line == place], rows[line == place])) for place, w in enumerate(directions)]
        return line_up(lines, self.dim)

    def _set_knobs(self, query: Any) -> Any:
        for name, value in self._knobs.items():
            query = getattr(query, name)(value)
        return query

    def _look_up(self, ids: Ids, columns: list[str]) -> tuple[Any, Ids]:
        """Some columns of rows, and where each of the ids stands in them."""
        wanted = np.asarray(ids).tolist() if self._book is None else self._book.keys(ids).tolist()
        unique = list(dict.fromkeys(wanted))
        with self._asking():
            listed = f"{quote(self._key or _ROW_ID)} IN ({', '.join(map(write, unique))})" if unique else "false"
            query = self._table.search().where(listed).limit(max(1, len(unique)))
            found = self._read_ids(query.select(self._columns(columns)))
        places = {name: place for place, name in enumerate(found[self._key or _ROW_ID].to_pylist())}
        missing = [name for name in wanted if name not in places]
        if missing:
            raise InputError(f"the table {self._table.name} has no row {missing[0]!r}; was it deleted?")
        return found, np.array([places[name] for name in wanted], dtype=np.int64)

    def _blocks(self) -> Iterator[tuple[Ids, Array]]:
        with self._asking():
            query = self._table.search().select(self._columns([self._vectors]))
            query = query.where(self._where) if self._where is not None else query
            query = query.with_row_id(True) if self._key is None else query
            for batch in query.to_batches(batch_size=_BLOCK):
                yield self._number(batch), self._decode(batch[self._vectors])

    def _columns(self, others: list[str]) -> list[str]:
        return others if self._key is None else [self._key, *others]

    def _read_ids(self, query: Any) -> Any:
        """Run a query, whose answer has the ids of rows."""
        return (query.with_row_id(True) if self._key is None else query).to_arrow()

    def _number(self, found: Any) -> Ids:
        if self._book is None:
            return np.asarray(found[_ROW_ID].to_numpy(), dtype=np.int64)
        return self._book.handles(found[self._key].to_pylist())

    def _decode(self, column: Any) -> Array:
        chunks = column.chunks if hasattr(column, "chunks") else [column]
        parts = [np.asarray(chunk.flatten().to_numpy(zero_copy_only=False), dtype=np.float32) for chunk in chunks]
        rows = np.concatenate(parts).reshape(-1, self.dim) if parts else np.empty((0, self.dim), dtype=np.float32)
        if len(rows) != len(column):
            raise InputError(f"the table {self._table.name} has rows without a vector; remove them, or filter them out")
        if self._metric is Metric.COSINE:
            return unit_rows(rows)
        return check_rows(rows, f"the table {self._table.name}", _REMEDY)

    def _read_payload(self, entry: dict[str, Any]) -> Payload:
        values = {name: value for name, value in entry.items() if value is not None}
        return Payload(None if self._text is None else values.pop(self._text, None), values)


def _find_vectors(schema: Any, name: str | None) -> str:
    """The column with the vectors."""
    there = [field.name for field in schema if str(field.type).startswith("fixed_size_list")]
    if name is None and len(there) == 1:
        return str(there[0])
    if name is None or name not in there:
        asked = "pass vectors=" if name is None else f"vectors: there is no column {name!r} of them;"
        raise InputError(f"the table has {len(there)} columns of vectors; {asked} one of {', '.join(there) or 'none'}")
    return name


def _find_column(schema: Any, name: str | None, usual: str, argument: str) -> str | None:
    if name is None:
        return usual if usual in schema.names else None
    if name not in schema.names:
        raise InputError(f"{argument}: the table has no column {name!r}; it has {', '.join(schema.names)}")
    return name


def _find_index(table: Any, column: str) -> tuple[str | None, str | None]:
    """The kind of the index on the vectors, and what it measures."""
    for index in table.list_indices():
        if list(index.columns) == [column]:
            stats = table.index_stats(index.name)
            return str(index.index_type), str(stats.distance_type).lower()
    return None, None


def _import_lancedb() -> Any:
    try:
        import lancedb
    except ImportError:
        raise MissingExtraError("lancedb", "lancedb") from None
    return lancedb
