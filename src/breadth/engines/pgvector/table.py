"""What the catalog of PostgreSQL says about a table: its key, its vectors, their index, and its other columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from breadth.engines.metric import Metric
from breadth.engines.pgvector.driver import Answers, Batch, Statement, Talk, identify, sql
from breadth.errors import InputError

VECTOR_TYPES = ("vector", "halfvec")
_TEXT_NAMES = ("text", "content", "document", "page_content")
_METADATA_NAMES = ("metadata", "cmetadata", "langchain_metadata")
"""Names of the column with the text, and of that with metadata, that are looked for unless they are given."""
_METRICS = {"ip": Metric.INNER, "cosine": Metric.COSINE, "l2": Metric.SQUARED}
"""The operator classes are named vector_ip_ops, halfvec_cosine_ops, …; the first metric here is preferred."""

_FIND = sql.SQL("SELECT to_regclass(%(name)s)::oid")
_VERSION = sql.SQL("SELECT extversion FROM pg_extension WHERE extname = 'vector'")
_COLUMNS = sql.SQL("""
    SELECT a.attname, t.typname, t.typcategory::text, coalesce(e.typcategory::text, ''), a.atttypmod
    FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid LEFT JOIN pg_type e ON e.oid = t.typelem
    WHERE a.attrelid = %(table)s AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
""")
_PRIMARY = sql.SQL("""
    SELECT a.attname FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY(i.indkey)
    WHERE i.indrelid = %(table)s AND i.indisprimary
""")
_INDEXES = sql.SQL("""
    SELECT a.attname, am.amname, o.opcname, i.indisvalid AND i.indpred IS NULL
    FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am am ON am.oid = c.relam
    JOIN pg_opclass o ON o.oid = i.indclass[0]
    LEFT JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
    WHERE i.indrelid = %(table)s AND am.amname IN ('hnsw', 'ivfflat')
""")


@dataclass(frozen=True)
class Column:
    """A column: its type, the category of the type (N for numbers, S for text, …) and, of an array, of its entries."""

    name: str
    type: str
    category: str
    entries: str
    modifier: int

    @property
    def identifier(self) -> sql.Identifier:
        return identify(self.name)

    @property
    def is_json(self) -> bool:
        return self.type in ("json", "jsonb")


@dataclass(frozen=True)
class Table:
    """A table of vectors.

    label       its name, for messages
    indexes     the metrics of its usable indexes on the vectors, and their kinds: hnsw or ivfflat
    is_indexed  whether there is any such index, usable or not
    version     the version of pgvector
    """

    label: str
    identifier: sql.Identifier
    columns: dict[str, Column]
    key: Column
    vectors: Column
    text: Column | None
    metadata: Column | None
    indexes: dict[Metric, str]
    is_indexed: bool
    version: tuple[int, ...]

    @property
    def fields(self) -> list[Column]:
        """The columns that hold metadata, one value each."""
        special = (self.key, self.vectors, self.text, self.metadata)
        return [column for column in self.columns.values() if column not in special and column.type not in VECTOR_TYPES]


@dataclass(frozen=True)
class Names:
    """The names that a user gives: of the table, and of its columns where they cannot be guessed."""

    table: str
    vectors: str | None
    key: str | None
    text: str | None
    metadata: str | None


def read_table(names: Names) -> Talk[Table]:
    """Ask the catalog about a table."""
    parts = names.table.split(".", 1)
    written = sql.Identifier(*parts).as_string()
    found = yield Batch([Statement(_VERSION), Statement(_FIND, {"name": written})])
    if not found[0]:
        raise InputError(f"{names.table}: this database does not have pgvector; run CREATE EXTENSION vector")
    oid = found[1][0][0]
    if oid is None:
        raise InputError(f"table: this database has no table {names.table!r} that this user can see")
    asked = [Statement(text, {"table": oid}) for text in (_COLUMNS, _PRIMARY, _INDEXES)]
    return _describe(names, identify(*parts), found[0][0][0], (yield Batch(asked)))


def _describe(names: Names, identifier: sql.Identifier, version: str, answers: Answers) -> Table:
    columns = {row[0]: Column(*row) for row in answers[0]}
    vectors = _find_vectors(names, columns)
    on_vectors = [row for row in answers[2] if row[0] in (vectors.name, None)]
    usable = {row[2].split("_")[1]: row[1] for row in on_vectors if row[0] == vectors.name and row[3]}
    return Table(
        label=names.table,
        identifier=identifier,
        columns=columns,
        key=_find_key(names, columns, [row[0] for row in answers[1]]),
        vectors=vectors,
        text=_find_column(names.text, "text", columns, _TEXT_NAMES, "S"),
        metadata=_find_column(names.metadata, "metadata", columns, _METADATA_NAMES, "U"),
        indexes={metric: usable[name] for name, metric in _METRICS.items() if name in usable},
        is_indexed=bool(on_vectors),
        version=tuple(int(part) for part in version.split(".") if part.isdigit()),
    )


def _find_vectors(names: Names, columns: dict[str, Column]) -> Column:
    there = [column for column in columns.values() if column.type in VECTOR_TYPES]
    if names.vectors is not None:
        there = [column for column in there if column.name == names.vectors]
    if len(there) == 1:
        return there[0]
    what = "no column of the type vector or halfvec" if not there else f"several: {', '.join(c.name for c in there)}"
    raise InputError(
        f"vectors: {names.table} has {what}; pass vectors=COLUMN" if there else f"{names.table} has {what}"
    )


def _find_key(names: Names, columns: dict[str, Column], primary: list[str]) -> Column:
    if names.key is not None:
        return _get(names.key, "key", columns)
    if len(primary) != 1:
        seen = f"a primary key of {len(primary)} columns" if primary else "no primary key"
        raise InputError(f"key: {names.table} has {seen}; pass key=COLUMN, a column whose values are unique")
    return columns[primary[0]]


def _find_column(
    given: str | None, argument: str, columns: dict[str, Column], usual: tuple[str, ...], category: str
) -> Column | None:
    if given is not None:
        return _get(given, argument, columns)
    fits = (columns[name] for name in usual if name in columns)
    return next((c for c in fits if c.category == category and (category != "U" or c.is_json)), None)


def _get(name: str, argument: str, columns: dict[str, Column]) -> Column:
    if name not in columns:
        raise InputError(f"{argument}: there is no column {name!r}; there are {', '.join(columns)}")
    return columns[name]


def read_dimension(table: Table) -> Talk[int]:
    """Return the number of dimensions: that of the column, or of a row."""
    if table.vectors.modifier > 0:
        return table.vectors.modifier
    name = table.vectors.identifier
    query = sql.SQL("SELECT vector_dims({v}) FROM {t} WHERE {v} IS NOT NULL LIMIT 1").format(v=name, t=table.identifier)
    answers: Any = yield Batch([Statement(query)])
    if not answers[0]:
        raise InputError(f"{table.label} is empty, and its vectors have no fixed dimension; declare one: vector(384)")
    return int(answers[0][0][0])
