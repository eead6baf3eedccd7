"""The functions that open a table. They import the driver only when they are called."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from breadth.checks import check_count, check_number

if TYPE_CHECKING:
    from breadth.engines.pgvector.oracle import AsyncPgvectorOracle, PgvectorOracle


def pgvector(
    url: str,
    table: str,
    *,
    vectors: str | None = None,
    key: str | None = None,
    text: str | None = None,
    metadata: str | None = None,
    metric: str | None = None,
    exact: bool = False,
    ef_search: int | None = None,
    probes: int | None = None,
    where: Mapping[str, Any] | None = None,
    timeout: float = 30.0,
    connections: int = 8,
) -> PgvectorOracle:
    """Open a table of PostgreSQL that has a column of the type vector or halfvec.

    url           the address of the database: `postgresql://user@host/database`, or any conninfo of libpq
    table         its name, or `schema.name`
    vectors       the column with the vectors; needed only if there are several
    key           the column that names a row; the default is the primary key. Numbers, texts, UUIDs, …
    text          the column with the text; the default is `text`, `content`, `document` or `page_content`, if there
    metadata      a column of JSON with metadata; the default is `metadata`, `cmetadata` or `langchain_metadata`, if
                  there. The other columns are metadata as well.
    metric        "inner product", "cosine" or "l2"; the default is that of the index, or the inner product. With
                  "cosine" rows of any length are served: they are divided by their lengths as they are read.
    exact         True: scan, even if there is an index
    ef_search     how far an HNSW index searches at least. It always goes as far as the number of rows that are asked
                  for, up to 1000, which is the most that pgvector takes; then it searches on.
    probes        the lists that an IVFFlat index looks into; the default is the server's
    where         a filter; see `breadth.filters`
    timeout       seconds that an answer may take
    connections   the most connections that are open at a time
    """
    from breadth.engines.pgvector.collection import Effort
    from breadth.engines.pgvector.driver import Limits
    from breadth.engines.pgvector.oracle import PgvectorOracle
    from breadth.engines.pgvector.table import Names

    limits = Limits(
        f"PostgreSQL, table {table}",  # not the address: it may hold a password
        check_number(timeout, "timeout", 0.001, 1e6),
        check_count(connections, "connections"),
    )
    effort = Effort(
        exact,
        None if ef_search is None else check_count(ef_search, "ef_search"),
        None if probes is None else check_count(probes, "probes"),
    )
    opened = PgvectorOracle.open(url, limits, Names(table, vectors, key, text, metadata), metric, effort)
    try:
        return opened if where is None else opened.filtered(where)
    except BaseException:
        opened.close()
        raise


async def apgvector(url: str, table: str, **settings: Any) -> AsyncPgvectorOracle:
    """Open a table for `breadth.aselect`. The arguments are those of `pgvector`."""
    opened = await asyncio.to_thread(pgvector, url, table, **settings)
    opened.close()
    return opened.asynchronous()
