"""What is asked of a table of vectors, once for both kinds of client: statements, settings, how answers are read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

import numpy as np

from breadth.arrays import Array, Ids, Vector
from breadth.engines.checking import SAMPLE, check_rows
from breadth.engines.documents import join_filters
from breadth.engines.keys import KeyBook
from breadth.engines.lines import Line, line_up, order
from breadth.engines.metric import Metric, rescore, unit_rows
from breadth.engines.pgvector.driver import Batch, Statement, Talk, sql
from breadth.engines.pgvector.filters import Translation
from breadth.engines.pgvector.table import Names, Table, read_dimension, read_table
from breadth.engines.scan import FEW
from breadth.errors import InputError, OracleError
from breadth.filters import read_filter
from breadth.oracles.protocol import Payload

_SIGNS = {Metric.INNER: "<#>", Metric.COSINE: "<=>", Metric.SQUARED: "<->"}
_MOST_EF = 1000
"""The largest hnsw.ef_search that pgvector takes."""
_WHOLE_NUMBERS = ("int2", "int4", "int8")


@dataclass(frozen=True)
class Effort:
    """How a search is done: by a scan, or with an index and these of its knobs. None: as the server is set."""

    scan: bool
    ef_search: int | None
    probes: int | None


@dataclass(frozen=True, eq=False)
class Collection:
    """The rows of a table that fulfil a condition.

    metric   what the engine measures; its index has been built for it
    index    the kind of the index that serves searches, or None if they scan
    book     the handles of keys that are not whole numbers from 0 on
    """

    table: Table
    metric: Metric
    effort: Effort
    dim: int
    book: KeyBook | None
    size: int = 0
    where: Mapping[str, Any] | None = None

    @property
    def index(self) -> str | None:
        scans = self.effort.scan or (self.where is not None and self.size <= FEW)
        return None if scans else self.table.indexes.get(self.metric)

    @property
    def exact(self) -> bool:
        return self.index is None

    @property
    def limit(self) -> int | None:
        return _MOST_EF if self.index == "hnsw" and not self._searches_on else None

    @property
    def _searches_on(self) -> bool:
        """Whether this pgvector lets an index search on until there are enough rows."""
        return self.table.version >= (0, 8)

    def search(self, directions: Array, m: int, rows: bool, scan: bool = False) -> Talk[tuple[Ids, Vector, Array]]:
        """The m best rows for each direction, all in one trip."""
        asked = self.metric.askable(directions)
        statement = self._search(rows, self.index is None or scan)
        parameters = {**self._where()[1], "m": m}
        batch = [Statement(statement, {**parameters, "w": _write(w)}) for w in asked]
        answers = yield Batch(batch, self._settings(m, scan))
        lines = [self._read(w, found, rows) for w, found in zip(directions, answers, strict=True)]
        return line_up(lines, self.dim if rows else 0)

    def fetch(self, ids: Ids) -> Talk[Array]:
        """The rows with these ids, in their order."""
        found = yield from self._look_up(ids, [self.table.vectors])
        return self._decode([row[1] for row in found])

    def average(self) -> Talk[Vector]:
        """The mean row."""
        v = self.table.vectors.identifier
        value = sql.SQL("avg(l2_normalize({}))" if self.metric is Metric.COSINE else "avg({})").format(v)
        answers = yield self._about_all(value)
        if answers[0][0][0] is None:
            raise OracleError(f"{self.table.label} has no rows, so they have no mean")
        return np.asarray(self._decode([answers[0][0][0]], checked=False)[0], dtype=np.float64)

    def describe(self, ids: Ids) -> Talk[list[Payload]]:
        """The texts and the metadata of rows, in the order of the ids."""
        columns = [
            column for column in (self.table.text, self.table.metadata, *self.table.fields) if column is not None
        ]
        found = yield from self._look_up(ids, columns)
        return [self._read_payload(dict(zip((c.name for c in columns), row[1:], strict=True))) for row in found]

    def restrict(self, where: Mapping[str, Any]) -> Talk[Collection]:
        """The rows that also fulfil a filter."""
        smaller = replace(self, where=join_filters(self.where, where))
        answers = yield smaller._about_all(sql.SQL("count(*)"))
        return replace(smaller, size=int(answers[0][0][0]))

    def handles(self, keys: Iterable[Any]) -> Ids:
        """The handles of keys; a UUID may be written as text."""
        assert self.book is not None
        return self.book.handles(_read_uuid(key) for key in keys) if self._has_uuids else self.book.handles(keys)

    @property
    def _has_uuids(self) -> bool:
        return self.table.key.type == "uuid"

    # Statements

    def _where(self) -> tuple[sql.Composable, dict[str, Any]]:
        there = sql.SQL("{} IS NOT NULL").format(self.table.vectors.identifier)
        if self.where is None:
            return there, {}
        translation = Translation(self.table)
        return sql.SQL("{} AND {}").format(
            there, translation.translate(read_filter(self.where))
        ), translation.parameters

    def _search(self, rows: bool, scan: bool) -> sql.Composed:
        v, sign = self.table.vectors.identifier, sql.SQL(_SIGNS[self.metric])
        full = sql.SQL("{}::vector {} {}::vector").format(v, sign, sql.Placeholder("w"))
        fast = sql.SQL("{} {} {}::{}").format(v, sign, sql.Placeholder("w"), sql.SQL(self.table.vectors.type))
        columns = [self.table.key.identifier, full, *([v] if rows else [])]
        return sql.SQL("SELECT {} FROM {} WHERE {} ORDER BY {} LIMIT {}").format(
            sql.SQL(", ").join(columns), self.table.identifier, self._where()[0], full if scan else fast,
            sql.Placeholder("m"),
        )  # fmt: skip

    def _settings(self, m: int, scan: bool) -> dict[str, str]:
        if self.index is None or scan:
            return {"enable_indexscan": "off"} if self.table.is_indexed else {}
        on, knobs = self._searches_on, {}
        if self.index == "hnsw":
            knobs["hnsw.ef_search"] = str(min(_MOST_EF, max(m, self.effort.ef_search or 0)))
            knobs |= (
                {"hnsw.iterative_scan": "strict_order", "hnsw.max_scan_tuples": str(max(20_000, 4 * m))} if on else {}
            )
        else:
            knobs |= {} if self.effort.probes is None else {"ivfflat.probes": str(self.effort.probes)}
            knobs |= {"ivfflat.iterative_scan": "relaxed_order"} if on else {}
        return knobs

    def _about_all(self, value: sql.Composable) -> Batch:
        condition, parameters = self._where()
        text = sql.SQL("SELECT {} FROM {} WHERE {}").format(value, self.table.identifier, condition)
        return Batch([Statement(text, parameters)])

    def _look_up(self, ids: Ids, columns: Iterable[Any]) -> Talk[list[tuple[Any, ...]]]:
        """The key and some columns of rows, in the order of the ids."""
        key = self.table.key.identifier
        names = sql.SQL(", ").join([key, *(column.identifier for column in columns)])
        text = sql.SQL("SELECT {} FROM {} WHERE {} = ANY({})").format(
            names, self.table.identifier, key, sql.Placeholder("keys")
        )
        keys = np.asarray(ids).tolist() if self.book is None else self.book.keys(ids).tolist()
        wanted = [key for key in dict.fromkeys(keys) if isinstance(key, UUID) or not self._has_uuids]
        answers = yield Batch([Statement(text, {"keys": wanted})])
        found = {row[0]: row for row in answers[0]}
        missing = [key for key in keys if key not in found]
        if missing:
            raise InputError(f"{self.table.label} has no row {missing[0]!r}; was it deleted?")
        return [found[key] for key in keys]

    # Answers

    def _read(self, direction: Array, found: list[tuple[Any, ...]], rows: bool) -> Line:
        measured = np.array([row[1] for row in found], dtype=np.float64)
        keys = [row[0] for row in found]
        ids = np.array(keys, dtype=np.int64) if self.book is None else self.book.handles(keys)
        if rows:
            return Line(*rescore(direction, ids, self._decode([row[2] for row in found])))
        return order(ids, self.metric.inner(np.asarray(direction)[None], self._undo(measured)[None])[0])

    def _undo(self, distances: Vector) -> Vector:
        """What `Metric` calls measured, from pgvector's distances."""
        if self.metric is Metric.INNER:
            return -distances
        return 1.0 - distances if self.metric is Metric.COSINE else np.square(distances)

    def _decode(self, values: list[bytes], checked: bool = True) -> Array:
        """Rows from pgvector's binary form: the dimension and a zero, two bytes each, then big-endian numbers."""
        number = ">f2" if self.table.vectors.type == "halfvec" else ">f4"
        try:
            form = np.dtype([("head", ">i2", 2), ("row", number, self.dim)])
            rows = np.frombuffer(b"".join(values), dtype=form)["row"].astype(np.float32)
        except ValueError:
            raise InputError(f"{self.table.label} has vectors of other dimensions than {self.dim}") from None
        if not checked:
            return np.asarray(rows)
        return (
            unit_rows(rows) if self.metric is Metric.COSINE else check_rows(rows, self.table.label, _remedy(self.table))
        )

    def _read_payload(self, values: dict[str, Any]) -> Payload:
        text = None if self.table.text is None else values.pop(self.table.text.name)
        own = {} if self.table.metadata is None else values.pop(self.table.metadata.name) or {}
        return Payload(text, {**own, **{name: value for name, value in values.items() if value is not None}})


def open_collection(names: Names, metric: str | None, effort: Effort) -> Talk[Collection]:
    """Read what there is to know about a table, and check that its rows and its index fit."""
    table = yield from read_table(names)
    chosen = _choose_metric(table, metric)
    dim = yield from read_dimension(table)
    norm = "vector_norm" if table.vectors.type == "vector" else "l2_norm"
    some = sql.SQL("SELECT {v} FROM {t} WHERE {v} IS NOT NULL LIMIT {n}").format(
        v=table.vectors.identifier, t=table.identifier, n=sql.Literal(SAMPLE)
    )
    lengths = sql.SQL("SELECT min({f}({v})), max({f}({v})) FROM ({some}) AS some_rows").format(
        f=sql.SQL(norm), v=table.vectors.identifier, some=some
    )
    numbers = table.key.type in _WHOLE_NUMBERS
    least = sql.SQL("SELECT min({}) FROM {}" if numbers else "SELECT -1").format(table.key.identifier, table.identifier)
    count = sql.SQL("SELECT count({}) FROM {}").format(table.vectors.identifier, table.identifier)
    ef_search = sql.SQL("SELECT current_setting('hnsw.ef_search', true)")  # known once a vector has been read
    answers = yield Batch([Statement(text) for text in (lengths, least, count, ef_search)])
    _check_lengths(table, chosen, answers[0][0])
    book = KeyBook() if (answers[1][0][0] or 0) < 0 else None
    if effort.ef_search is None:
        effort = replace(effort, ef_search=int(answers[3][0][0] or 0))
    return Collection(table, chosen, effort, dim, book, size=int(answers[2][0][0]))


def _choose_metric(table: Table, wanted: str | None) -> Metric:
    if wanted is None:
        return next(iter(table.indexes), Metric.INNER)
    names = {"inner product": Metric.INNER, "cosine": Metric.COSINE, "l2": Metric.SQUARED}
    if wanted not in names:
        raise InputError(f"metric must be one of {', '.join(map(repr, names))}, got {wanted!r}")
    return names[wanted]


def _check_lengths(table: Table, metric: Metric, found: tuple[Any, ...]) -> None:
    if metric is Metric.COSINE or found[0] is None:
        return
    for length in found:
        check_rows(np.array([[length]]), table.label, _remedy(table))


def _remedy(table: Table) -> str:
    v = table.vectors.name
    return (
        f"divide the rows by their lengths (UPDATE {table.label} SET {v} = l2_normalize({v})), or pass "
        "metric='cosine', with an index for it (vector_cosine_ops): rows are then divided as they are read"
    )


def _write(direction: Array) -> str:
    return "[" + ",".join([format(number, ".9g") for number in direction.tolist()]) + "]"


def _read_uuid(key: Any) -> Any:
    """Return the UUID that a text writes; what is none stays as it is, and is not in the table."""
    try:
        return UUID(key) if isinstance(key, str) else key
    except ValueError:
        return key
