"""Tables of PostgreSQL: without an index and with each kind, metadata as JSON and as columns, both drivers."""

from __future__ import annotations

import json
from functools import partial

import psycopg
from psycopg import sql

import breadth
from tests.engines.servers.postgres import postgres
from tests.engines.stores.store import MAIN_CHECKS, Place, Store

KEY_TYPES = {None: "bigint", "number": "bigint", "text": "text", "uuid": "uuid"}
COLUMN_TYPES = {str: "text", bool: "boolean", int: "integer", float: "double precision"}


def serve(_folder):
    return postgres()


def write(row) -> str:
    """A vector as PostgreSQL reads it."""
    return "[" + ",".join(map(repr, row.tolist())) + "]"


def read_columns(metadata) -> dict[str, str]:
    """The columns that metadata need, with their types."""
    return {name: COLUMN_TYPES[type(value)] for entry in metadata for name, value in entry.items()}


def make_table(
    url: str, name: str, rows, keys=None, metadata=None, texts=None, *, kind="vector", columns=False
) -> None:
    """Put rows into a new table. With `columns` each field of the metadata is a column, else all are one of JSON."""
    fields = read_columns(metadata) if columns and metadata else {"metadata": "jsonb"}
    kinds = {type(key): kind for kind, key in (("text", ""), ("number", 0))}
    key_type = "bigint" if keys is None else KEY_TYPES[kinds.get(type(keys[0]), "uuid")] if keys else "bigint"
    columns_sql = sql.SQL(", ").join(
        sql.SQL("{} {}").format(sql.Identifier(column), sql.SQL(type_)) for column, type_ in fields.items()
    )
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        connection.execute(
            sql.SQL("CREATE TABLE {} (key {} PRIMARY KEY, body text, embedding {}({}), {})").format(
                sql.Identifier(name), sql.SQL(key_type), sql.SQL(kind), sql.Literal(rows.shape[1]), columns_sql
            )
        )
        with connection.cursor().copy(sql.SQL("COPY {} FROM STDIN").format(sql.Identifier(name))) as copy:
            for place, row in enumerate(rows):
                entry = {} if metadata is None else metadata[place]
                values = [entry.get(field) for field in fields] if columns and metadata else [json.dumps(entry)]
                text = f"text {place}" if texts is None else texts[place]
                copy.write_row([place if keys is None else keys[place], text, write(row), *values])


def fill_with(index: str | None = None, opener=None, kind="vector", columns=False, scale=1.0, **settings):
    def fill(place: Place, rows, keys=None, metadata=None, texts=None):
        make_table(place.server.url, place.name, scale * rows, keys, metadata, texts, kind=kind, columns=columns)
        if index is not None:
            with psycopg.connect(place.server.url, autocommit=True) as connection:
                connection.execute(f"CREATE INDEX ON {place.name} USING {index}")
                connection.execute(f"ANALYZE {place.name}")
        chosen = opener or breadth.oracles.pgvector
        return chosen(place.server.url, place.name, text="body", timeout=20.0, **settings)

    return fill


MAIN = {"only": MAIN_CHECKS}
HALF = {"tolerance": 6e-4, "row_error": 5e-4, **MAIN}
pgvector_store = partial(Store, "pgvector", serve=serve)
STORES = (
    pgvector_store("scan", fill_with(), exact=True, keys=(None, "text", "uuid"), measured=True),
    pgvector_store("columns", fill_with(columns=True), exact=True, options=MAIN),
    pgvector_store("hnsw", fill_with("hnsw (embedding vector_ip_ops)"), exact=False, measured=True),
    pgvector_store(
        "hnsw-cosine",
        fill_with("hnsw (embedding vector_cosine_ops)", scale=3.0),
        exact=False,
        options={"checks_lengths": False, "row_error": 1e-7, **MAIN},
    ),
    pgvector_store("hnsw-scanned", fill_with("hnsw (embedding vector_l2_ops)", exact=True), exact=True, options=MAIN),
    pgvector_store(
        "ivfflat",
        fill_with("ivfflat (embedding vector_ip_ops) WITH (lists = 5)", probes=2),
        exact=False,
        options={"recall": 0.5, **MAIN},
    ),
    pgvector_store("half", fill_with(kind="halfvec"), exact=True, options=HALF),
    pgvector_store(
        "half-hnsw", fill_with("hnsw (embedding halfvec_ip_ops)", kind="halfvec"), exact=False, options=HALF
    ),
    pgvector_store("async", fill_with(opener=breadth.oracles.apgvector), exact=True, keys=("uuid",)),
)
