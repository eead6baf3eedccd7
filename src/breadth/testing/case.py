"""What a check gets: how to open an oracle on given rows, and what may be asked of it."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import numpy as np

from breadth.arrays import Array, Ids
from breadth.testing.promises import SLACK

SIZE, DIM = 700, 24

MAKE_KEY: dict[str, Callable[[int], Any]] = {
    "text": lambda i: f"doc {i}/ä'\"%",
    "uuid": lambda i: UUID(int=(i + 1) * 0x1234567890ABCDEF1234567890ABCDEF % (1 << 128)),
    "number": lambda i: 1_000_003 * i + 17,
}
"""Keys as difficult as an engine may meet, by their kind."""


class NotApplicableError(Exception):
    """A check does not apply to this oracle; the message says why."""


@dataclass(frozen=True)
class Case:
    """An engine under test: see `check_oracle` for the fields."""

    open: Callable[..., Any]
    keys: str | None = None
    metadata: bool = False
    recall: float = 0.9
    tolerance: float = SLACK
    row_error: float = 0.0
    takes_empty: bool = True
    checks_lengths: bool = True
    kill: Callable[[], None] | None = None
    time_limit: float = 30.0

    @property
    def rng(self) -> np.random.Generator:
        return np.random.default_rng(7)

    def rows(self, n: int = SIZE, d: int = DIM) -> Array:
        """Unit rows in topics, as embeddings are."""
        rng = self.rng
        centres = rng.standard_normal((max(2, n // 50), d)) + 0.5 * rng.standard_normal(d)
        rows = centres[rng.integers(len(centres), size=n)] + 0.7 * rng.standard_normal((n, d))
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)

    def queries(self, rows: Array, count: int) -> Array:
        """Unit vectors that some rows are relevant to."""
        near = rows[self.rng.integers(len(rows), size=count)]
        noisy = near + 0.8 * self.rng.standard_normal(near.shape) / np.sqrt(rows.shape[1])
        return np.asarray(noisy / np.linalg.norm(noisy, axis=1, keepdims=True))

    @contextmanager
    def opened(self, rows: Array, metadata: Sequence[dict[str, Any]] | None = None) -> Iterator[Opened]:
        """An oracle over these rows. It is closed afterwards, if it can be."""
        names = None if self.keys is None else [MAKE_KEY[self.keys](place) for place in range(len(rows))]
        arguments = ({} if names is None else {"keys": names}) | ({} if metadata is None else {"metadata": metadata})
        oracle = await_answers(self.open(rows, **arguments))
        try:
            yield Opened(oracle, names)
        finally:
            if hasattr(oracle, "close"):
                oracle.close()


class Opened:
    """An oracle whose ids are the numbers of the rows it was given: 0, 1, …. `oracle` is the oracle itself."""

    def __init__(self, oracle: Any, names: list[Any] | None) -> None:
        self.oracle, self.names = oracle, names
        self.size, self.dim, self.exact = oracle.size, oracle.dim, oracle.exact
        self._handles: Ids = _read_handles(oracle, names)
        self._numbers = {handle: number for number, handle in enumerate(self._handles.tolist())}

    def handles(self, numbers: Ids) -> Ids:
        """The oracle's ids of rows."""
        return np.asarray(numbers, dtype=np.int64) if self.names is None else self._handles[numbers]

    def numbers(self, ids: Ids) -> Ids:
        """The numbers of rows, from the oracle's ids; -1 for those that are not there."""
        ids = np.asarray(ids, dtype=np.int64)
        if self.names is None:
            return ids
        return np.array([self._numbers.get(i, -1) for i in ids.ravel().tolist()], dtype=np.int64).reshape(ids.shape)

    def over(self, oracle: Any) -> Opened:
        """Another oracle with the same ids, for example a filtered one."""
        return Opened(oracle, self.names)

    def top(self, directions: Array, m: int) -> tuple[Ids, Any]:
        ids, scores = self.oracle.top(directions, m)
        return self.numbers(ids), scores

    def rows(self, numbers: Ids) -> Any:
        return self.oracle.rows(self.handles(numbers))

    def mean(self) -> Any:
        return self.oracle.mean()


def _read_handles(oracle: Any, names: list[Any] | None) -> Ids:
    if names is None:
        return np.empty(0, dtype=np.int64)
    if not hasattr(oracle, "handles"):  # its ids are numbers, and used as they are
        return np.array(names, dtype=np.int64)
    return np.asarray(oracle.handles(names), dtype=np.int64)


class Awaited:
    """An oracle with coroutines, asked as one without: each call runs on one event loop until it is answered."""

    def __init__(self, oracle: Any, loop: asyncio.AbstractEventLoop) -> None:
        self._oracle, self._loop = oracle, loop

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._oracle, name)
        if not callable(found):
            return found

        def call(*arguments: Any) -> Any:
            answer = found(*arguments)
            if inspect.isawaitable(answer):
                answer = self._loop.run_until_complete(answer)
            return Awaited(answer, self._loop) if hasattr(answer, "top") else answer

        return call

    def close(self) -> None:
        answer = self._oracle.close() if hasattr(self._oracle, "close") else None
        if inspect.isawaitable(answer):
            self._loop.run_until_complete(answer)
        self._loop.close()


def await_answers(oracle: Any) -> Any:
    """The oracle itself, or one that waits for the answers of an asynchronous one."""
    if inspect.isawaitable(oracle):
        loop = asyncio.new_event_loop()
        try:
            return Awaited(loop.run_until_complete(oracle), loop)
        except BaseException:
            loop.close()
            raise
    return Awaited(oracle, asyncio.new_event_loop()) if inspect.iscoroutinefunction(oracle.top) else oracle
