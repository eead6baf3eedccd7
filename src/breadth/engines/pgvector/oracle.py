"""PostgreSQL with pgvector as an oracle, and as an asynchronous one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from breadth.arrays import Array, Ids, Vector
from breadth.engines.pgvector.collection import Collection, Effort, open_collection
from breadth.engines.pgvector.driver import AsyncPool, Limits, Pool
from breadth.engines.pgvector.table import Names
from breadth.oracles.protocol import Keys, Payload


class _Described:
    """What is known of a collection without asking the server."""

    def __init__(self, collection: Collection) -> None:
        self._collection = collection
        self._mean: Vector | None = None
        if collection.book is not None:
            self.keys = self._keys
            self.handles = self._handles

    @property
    def size(self) -> int:
        return self._collection.size

    @property
    def dim(self) -> int:
        return self._collection.dim

    @property
    def exact(self) -> bool:
        return self._collection.exact

    @property
    def limit(self) -> int | None:
        return self._collection.limit

    @property
    def where(self) -> Mapping[str, Any] | None:
        """The filter, or None."""
        return self._collection.where

    def _keys(self, ids: Ids) -> Keys:
        assert self._collection.book is not None
        return self._collection.book.keys(ids)

    def _handles(self, keys: Iterable[Any]) -> Ids:
        return self._collection.handles(keys)


class PgvectorOracle(_Described):
    """A table of PostgreSQL. Threads may ask at the same time; they share a few connections."""

    def __init__(self, pool: Pool, collection: Collection) -> None:
        super().__init__(collection)
        self._pool = pool

    @classmethod
    def open(cls, url: str, limits: Limits, names: Names, metric: str | None, effort: Effort) -> PgvectorOracle:
        """Connect, and read what there is to know about the table."""
        pool = Pool(url, limits)
        try:
            return cls(pool, pool.run(open_collection(names, metric, effort)))
        except BaseException:
            pool.close()
            raise

    def asynchronous(self) -> AsyncPgvectorOracle:
        """Return an oracle over the same rows that is asked asynchronously, with connections of its own."""
        return AsyncPgvectorOracle(AsyncPool(self._pool.url, self._pool.limits), self._collection)

    def __enter__(self) -> PgvectorOracle:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections, also those of oracles that were made with `filtered`."""
        self._pool.close()

    def top(self, directions: Array, m: int) -> tuple[Ids, Vector]:
        """Return the m best rows for each direction, largest score first."""
        return self._pool.run(self._collection.search(directions, m, rows=False))[:2]

    def top_rows(self, directions: Array, m: int) -> tuple[Ids, Vector, Array]:
        """Return the m best rows for each direction with their vectors."""
        return self._pool.run(self._collection.search(directions, m, rows=True))

    def exact_top(self, directions: Array, m: int) -> tuple[Ids, Vector]:
        """Return what `top` returns, by a scan that misses nothing."""
        return self._pool.run(self._collection.search(directions, m, rows=False, scan=True))[:2]

    def rows(self, ids: Ids) -> Array:
        """Return the rows with these ids, in their order."""
        return self._pool.run(self._collection.fetch(ids))

    def mean(self) -> Vector:
        """Return the mean row, which the server computes."""
        if self._mean is None:
            self._mean = self._pool.run(self._collection.average())
        return self._mean

    def documents(self, ids: Ids) -> Sequence[Payload]:
        """Return the texts and the metadata of rows."""
        return self._pool.run(self._collection.describe(ids))

    def filtered(self, where: Mapping[str, Any]) -> PgvectorOracle:
        """Return an oracle over the rows that fulfil a filter. It shares the connections."""
        return PgvectorOracle(self._pool, self._pool.run(self._collection.restrict(where)))


class AsyncPgvectorOracle(_Described):
    """A table of PostgreSQL, asked asynchronously: many selections can be under way at the same time."""

    def __init__(self, pool: AsyncPool, collection: Collection) -> None:
        super().__init__(collection)
        self._pool = pool

    async def __aenter__(self) -> AsyncPgvectorOracle:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections, also those of oracles that were made with `filtered`."""
        await self._pool.close()

    async def top(self, directions: Array, m: int) -> tuple[Ids, Vector]:
        """Return the m best rows for each direction, largest score first."""
        return (await self._pool.run(self._collection.search(directions, m, rows=False)))[:2]

    async def top_rows(self, directions: Array, m: int) -> tuple[Ids, Vector, Array]:
        """Return the m best rows for each direction with their vectors."""
        return await self._pool.run(self._collection.search(directions, m, rows=True))

    async def exact_top(self, directions: Array, m: int) -> tuple[Ids, Vector]:
        """Return what `top` returns, by a scan that misses nothing."""
        return (await self._pool.run(self._collection.search(directions, m, rows=False, scan=True)))[:2]

    async def rows(self, ids: Ids) -> Array:
        """Return the rows with these ids, in their order."""
        return await self._pool.run(self._collection.fetch(ids))

    async def mean(self) -> Vector:
        """Return the mean row, which the server computes."""
        if self._mean is None:
            self._mean = await self._pool.run(self._collection.average())
        return self._mean

    async def documents(self, ids: Ids) -> Sequence[Payload]:
        """Return the texts and the metadata of rows."""
        return await self._pool.run(self._collection.describe(ids))

    async def filtered(self, where: Mapping[str, Any]) -> AsyncPgvectorOracle:
        """Return an oracle over the rows that fulfil a filter. It shares the connections."""
        return AsyncPgvectorOracle(self._pool, await self._pool.run(self._collection.restrict(where)))
