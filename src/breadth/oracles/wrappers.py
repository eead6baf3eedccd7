"""Counting and caching wrap an oracle; no engine counts or caches by itself."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import numpy as np

from breadth.arrays import Array, Ids, Vector
from breadth.checks import check_count
from breadth.oracles.protocol import Oracle, Reached, describe


class _Wrapper:
    """Passes everything on; `scores` only where the wrapped oracle has it."""

    def __init__(self, oracle: Oracle) -> None:
        self._oracle = oracle
        self.length_error = describe(oracle).length_error
        if describe(oracle).scores_all:
            self.scores = self._scores
        if describe(oracle).reaches:
            self.above = self._above
        if hasattr(oracle, "with_scores"):
            self.with_scores = lambda scores: type(self)(oracle.with_scores(scores))

    @property
    def size(self) -> int:
        return self._oracle.size

    @property
    def dim(self) -> int:
        return self._oracle.dim

    @property
    def exact(self) -> bool:
        return self._oracle.exact

    def top(self, directions: Array, m: int) -> tuple[Ids, Vector]:
        return self._oracle.top(directions, m)

    def rows(self, ids: Ids) -> Array:
        return self._oracle.rows(ids)

    def mean(self) -> Vector:
        return self._oracle.mean()

    def _scores(self, directions: Array) -> Array:
        answer: Array = self._oracle.scores(directions)  # type: ignore[attr-defined]
        return answer

    def _above(self, directions: Array, thresholds: Vector, most: Ids, within: Ids | None = None) -> list[Reached]:
        found: list[Reached] = self._oracle.above(directions, thresholds, most, within)  # type: ignore[attr-defined]
        return found


class CountingOracle(_Wrapper):
    """Counts what is asked: `searches` (top, scores or above), `directions`, `rows_fetched`, `means`."""

    def __init__(self, oracle: Oracle) -> None:
        super().__init__(oracle)
        self.searches = self.directions = self.rows_fetched = self.means = 0

    def top(self, directions: Array, m: int) -> tuple[Ids, Vector]:
        self._count(directions)
        return super().top(directions, m)

    def rows(self, ids: Ids) -> Array:
        self.rows_fetched += len(ids)
        return super().rows(ids)

    def mean(self) -> Vector:
        self.means += 1
        return super().mean()

    def _scores(self, directions: Array) -> Array:
        self._count(directions)
        return super()._scores(directions)

    def _above(self, directions: Array, thresholds: Vector, most: Ids, within: Ids | None = None) -> list[Reached]:
        if within is None:
            self._count(directions)
        return super()._above(directions, thresholds, most, within)

    def _count(self, directions: Array) -> None:
        self.searches += 1
        self.directions += len(directions)


class CachingOracle(_Wrapper):
    """Keeps the mean, the last `max_rows` rows and the last `max_searches` searches.

    For engines where a round trip costs more than memory. The collection must not change meanwhile:
    `clear()` after it did.
    """

    def __init__(self, oracle: Oracle, max_rows: int = 100_000, max_searches: int = 64) -> None:
        super().__init__(oracle)
        for name, value in (("max_rows", max_rows), ("max_searches", max_searches)):
            check_count(value, name)
        self._max_rows, self._max_searches = max_rows, max_searches
        self.clear()

    def clear(self) -> None:
        """Forget everything."""
        self._kept_rows: OrderedDict[int, Array] = OrderedDict()
        self._kept_searches: OrderedDict[bytes, tuple[Ids, Vector]] = OrderedDict()
        self._kept_mean: Vector | None = None

    def top(self, directions: Array, m: int) -> tuple[Ids, Vector]:
        directions = np.ascontiguousarray(directions)
        key = directions.tobytes() + str((directions.shape, directions.dtype)).encode()
        kept = self._kept_searches.get(key)
        if kept is None or kept[0].shape[1] < m:
            kept = super().top(directions, m)
            _keep(self._kept_searches, key, kept, self._max_searches)
        else:
            self._kept_searches.move_to_end(key)
        return kept[0][:, :m].copy(), kept[1][:, :m].copy()

    def rows(self, ids: Ids) -> Array:
        wanted = [int(i) for i in ids]
        missing = [i for i in dict.fromkeys(wanted) if i not in self._kept_rows]
        answer = dict(zip(missing, super().rows(np.array(missing, dtype=np.int64)), strict=True)) if missing else {}
        for i in wanted:
            if i in self._kept_rows:
                answer[i] = self._kept_rows[i]
                self._kept_rows.move_to_end(i)
        for i in missing:
            _keep(self._kept_rows, i, answer[i].copy(), self._max_rows)
        return np.array([answer[i] for i in wanted]) if wanted else super().rows(ids)

    def mean(self) -> Vector:
        if self._kept_mean is None:
            self._kept_mean = super().mean()
        return self._kept_mean


def _keep(store: OrderedDict[Any, Any], key: Any, value: Any, most: int) -> None:
    store[key] = value
    while len(store) > most:
        store.popitem(last=False)
