"""Wrappers around any oracle: one counts what is asked, one caches what was answered, one audits it.

No engine does that itself.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

import numpy as np

from breadth.arrays import Array, Ids, Vector
from breadth.checks import check_count
from breadth.errors import OracleError
from breadth.oracles.protocol import Oracle, Reached, describe

_PASSED_ON = ("keys", "handles", "documents", "exact_top", "close", "where")
"""Abilities that a wrapper hands over as they are."""


class _Wrapper:
    """Passes every question on. It has an optional ability only if the wrapped oracle has it."""

    def __init__(self, oracle: Oracle) -> None:
        self._oracle = oracle
        self._lock = threading.Lock()
        facts = describe(oracle)
        self.length_error = facts.length_error
        if facts.scores_all:
            self.scores = self._scores
        if facts.reaches:
            self.above = self._above
        if facts.gives_rows:
            self.top_rows = self._top_rows
        if hasattr(oracle, "with_scores"):
            self.with_scores = self._with_scores
        if hasattr(oracle, "filtered"):
            self.filtered = self._filtered
        self.limit = facts.limit
        for name in _PASSED_ON:
            if hasattr(oracle, name):
                setattr(self, name, getattr(oracle, name))

    def __getstate__(self) -> dict[str, Any]:
        """Pickle everything but the lock, which cannot be pickled."""
        return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()

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
        answer: list[Reached] = self._oracle.above(directions, thresholds, most, within)  # type: ignore[attr-defined]
        return answer

    def _top_rows(self, directions: Array, m: int) -> tuple[Ids, Vector, Array]:
        answer: tuple[Ids, Vector, Array] = self._oracle.top_rows(directions, m)  # type: ignore[attr-defined]
        return answer

    def _filtered(self, where: Mapping[str, Any]) -> Oracle:
        return self._wrap(self._oracle.filtered(where))  # type: ignore[attr-defined]

    def _with_scores(self, scores: Vector) -> Oracle:
        return self._wrap(self._oracle.with_scores(scores))  # type: ignore[attr-defined]

    def _wrap(self, oracle: Oracle) -> Oracle:
        """Wrap another oracle in the same way."""
        return type(self)(oracle)


class CountingOracle(_Wrapper):
    """Counts what is asked.

    searches       calls of `top`, `top_rows`, `scores` and `above`; not of `above` within given ids, which is no scan
    directions     the directions of these calls
    rows_fetched   the rows asked for
    means          calls of `mean`

    What `with_scores` returns has counts of its own.
    """

    def __init__(self, oracle: Oracle) -> None:
        super().__init__(oracle)
        self.searches = self.directions = self.rows_fetched = self.means = 0

    def top(self, directions: Array, m: int) -> tuple[Ids, Vector]:
        self._count_search(directions)
        return super().top(directions, m)

    def rows(self, ids: Ids) -> Array:
        with self._lock:
            self.rows_fetched += len(ids)
        return super().rows(ids)

    def mean(self) -> Vector:
        with self._lock:
            self.means += 1
        return super().mean()

    def _top_rows(self, directions: Array, m: int) -> tuple[Ids, Vector, Array]:
        self._count_search(directions)
        answer = super()._top_rows(directions, m)
        with self._lock:
            self.rows_fetched += answer[0].size
        return answer

    def _scores(self, directions: Array) -> Array:
        self._count_search(directions)
        return super()._scores(directions)

    def _above(self, directions: Array, thresholds: Vector, most: Ids, within: Ids | None = None) -> list[Reached]:
        if within is None:
            self._count_search(directions)
        return super()._above(directions, thresholds, most, within)

    def _count_search(self, directions: Array) -> None:
        with self._lock:
            self.searches += 1
            self.directions += len(directions)


class CachingOracle(_Wrapper):
    """Keeps the mean, the `max_rows` rows and the `max_searches` searches (`top`) that were used last.

    Use it for engines where a round trip costs more than memory. If the collection changes, call `clear()`.
    """

    def __init__(self, oracle: Oracle, max_rows: int = 100_000, max_searches: int = 64) -> None:
        super().__init__(oracle)
        self._max_rows = check_count(max_rows, "max_rows")
        self._max_searches = check_count(max_searches, "max_searches")
        self.clear()

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._kept_rows: OrderedDict[int, Array] = OrderedDict()
            self._kept_searches: OrderedDict[bytes, tuple[int, tuple[Ids, Vector]]] = OrderedDict()
            self._kept_mean: Vector | None = None

    def top(self, directions: Array, m: int) -> tuple[Ids, Vector]:
        key = _name(directions)
        answer = self._find(key, m)
        if answer is None:
            answer = super().top(directions, m)
            self._keep_search(key, answer)
        return answer[0][:, :m].copy(), answer[1][:, :m].copy()

    def _top_rows(self, directions: Array, m: int) -> tuple[Ids, Vector, Array]:
        key = _name(directions)
        known = self._find(key, m)
        if known is not None:
            ids, scores = known[0][:, :m].copy(), known[1][:, :m].copy()
            return ids, scores, self.rows(ids.ravel()).reshape(*ids.shape, -1)
        ids, scores, rows = super()._top_rows(directions, m)
        self._keep_search(key, (ids, scores))
        with self._lock:
            for i, row in zip(ids.ravel().tolist(), rows.reshape(ids.size, -1), strict=True):
                _keep(self._kept_rows, i, row.copy(), self._max_rows)
        return ids.copy(), scores.copy(), rows

    def _find(self, key: bytes, m: int) -> tuple[Ids, Vector] | None:
        """What was answered to a search for at least so many rows."""
        with self._lock:
            asked, answer = self._kept_searches.get(key, (0, None))
            if answer is None or asked < m:
                return None
            self._kept_searches.move_to_end(key)
            return answer

    def _keep_search(self, key: bytes, answer: tuple[Ids, Vector]) -> None:
        with self._lock:
            _keep(self._kept_searches, key, (answer[0].shape[1], answer), self._max_searches)

    def rows(self, ids: Ids) -> Array:
        wanted = [int(i) for i in ids]
        if not wanted:
            return super().rows(ids)
        found: dict[int, Array] = {}
        with self._lock:
            for i in wanted:
                if i in self._kept_rows:
                    found[i] = self._kept_rows[i]
                    self._kept_rows.move_to_end(i)
        missing = [i for i in dict.fromkeys(wanted) if i not in found]
        if missing:
            fetched = super().rows(np.array(missing, dtype=np.int64))
            found.update(zip(missing, fetched, strict=True))
            with self._lock:
                for i in missing:
                    _keep(self._kept_rows, i, found[i].copy(), self._max_rows)
        return np.array([found[i] for i in wanted])

    def mean(self) -> Vector:
        mean = self._kept_mean
        if mean is None:
            mean = self._kept_mean = super().mean()
        return mean

    def _wrap(self, oracle: Oracle) -> Oracle:
        return CachingOracle(oracle, self._max_rows, self._max_searches)


class AuditingOracle(_Wrapper):
    """Remembers what was searched for, and measures with an exact scan of the engine what these searches missed."""

    def __init__(self, oracle: Oracle) -> None:
        super().__init__(oracle)
        self._searches: list[tuple[Array, int, Vector]] = []

    def top(self, directions: Array, m: int) -> tuple[Ids, Vector]:
        ids, scores = super().top(directions, m)
        self._remember(directions, m, ids, scores)
        return ids, scores

    def _top_rows(self, directions: Array, m: int) -> tuple[Ids, Vector, Array]:
        answer = super()._top_rows(directions, m)
        self._remember(directions, m, answer[0], answer[1])
        return answer

    def check(self) -> None:
        """Raise an error if the engine cannot be audited."""
        if not (self.exact or hasattr(self._oracle, "exact_top")):
            raise OracleError(f"{type(self._oracle).__name__} cannot be audited: it has no exact scan (exact_top)")

    def recall(self) -> float:
        """Return the mean share of the best rows that the searches so far have found; of tied rows any will do."""
        self.check()
        if self.exact or not self._searches:
            return 1.0
        shares = []
        for directions, m, scores in self._searches:
            best = self._oracle.exact_top(directions, m)[1]  # type: ignore[attr-defined]
            within = _ROUNDING * np.linalg.norm(directions, axis=1)
            least = best[:, -1:] - within[:, None]
            shares += ((scores >= least).sum(axis=1) / best.shape[1]).tolist()
        return float(np.mean(shares))

    def _remember(self, directions: Array, m: int, ids: Ids, scores: Vector) -> None:
        with self._lock:
            self._searches.append((directions.copy(), m, np.where(ids >= 0, scores, -np.inf)))


_ROUNDING = 1e-5
"""What float32 arithmetic may change in a score, for a direction of length 1."""


def _name(directions: Array) -> bytes:
    """A key for directions: their numbers, shape and type."""
    directions = np.ascontiguousarray(directions)
    return directions.tobytes() + str((directions.shape, directions.dtype)).encode()


def _keep(store: OrderedDict[Any, Any], key: Any, value: Any, most: int) -> None:
    """Store a value and drop the oldest ones beyond `most`."""
    store[key] = value
    store.move_to_end(key)
    while len(store) > most:
        store.popitem(last=False)
