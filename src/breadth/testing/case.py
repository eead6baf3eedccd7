"""What a check gets: how to open an oracle on given rows, and what may be asked of it."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from breadth.arrays import Array, Ids
from breadth.testing.promises import SLACK

SIZE, DIM = 700, 24


@dataclass(frozen=True)
class Case:
    """An engine under test: see `check_oracle` for the fields."""

    open: Callable[..., Any]
    keys: str | None = None
    metadata: bool = False
    recall: float = 0.9
    tolerance: float = SLACK
    row_error: float = 0.0
    seed: int = 0
    takes_empty: bool = True
    kill: Callable[[], None] | None = None
    time_limit: float = 30.0
    notes: dict[str, str] = field(default_factory=dict)

    @property
    def rng(self) -> np.random.Generator:
        return np.random.default_rng(self.seed)

    def rows(self, n: int = SIZE, d: int = DIM) -> Array:
        """Unit rows in topics, as embeddings are."""
        rng = self.rng
        centres = rng.standard_normal((max(2, n // 50), d)) + 0.5 * rng.standard_normal(d)
        rows = centres[rng.integers(len(centres), size=n)] + 0.7 * rng.standard_normal((n, d))
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)

    @contextmanager
    def opened(self, rows: Array, metadata: Sequence[dict[str, Any]] | None = None) -> Iterator[Opened]:
        """An oracle over these rows. It is closed afterwards, if it can be."""
        names = make_keys(self.keys, len(rows))
        arguments = ({} if names is None else {"keys": names}) | ({} if metadata is None else {"metadata": metadata})
        oracle = self.open(rows, **arguments)
        found = Opened(await_all(oracle), names)
        try:
            yield found
        finally:
            if hasattr(oracle, "close"):
                found.oracle.close()


class Opened:
    """An oracle whose ids are those of the rows it was given: 0, 1, …."""

    def __init__(self, oracle: Any, names: list[Any] | None) -> None:
        self.oracle, self.names = oracle, names
        handles = np.arange(0) if names is None else np.asarray(oracle.handles(names))
        self._places = {int(handle): place for place, handle in enumerate(handles)}
        self._handles = handles
        for name in ("size", "dim", "exact"):
            setattr(self, name, getattr(oracle, name))

    def handles(self, ids: Ids) -> Ids:
        """The handles of rows."""
        return np.asarray(ids, dtype=np.int64) if self.names is None else self._handles[ids].astype(np.int64)

    def numbers(self, handles: Ids) -> Ids:
        """The numbers of rows, from their handles; -1 stays -1."""
        if self.names is None:
            return np.asarray(handles)
        flat = [self._places.get(int(handle), -1) for handle in np.asarray(handles).ravel()]
        return np.array(flat, dtype=np.int64).reshape(np.shape(handles))

    def top(self, directions: Array, m: int) -> tuple[Ids, Any]:
        ids, scores = self.oracle.top(directions, m)
        return self.numbers(ids), scores

    def rows(self, ids: Ids) -> Any:
        return self.oracle.rows(self.handles(ids))

    def mean(self) -> Any:
        return self.oracle.mean()


def make_keys(kind: str | None, n: int) -> list[Any] | None:
    """So many keys of a kind: "text", "uuid", "number" (large and sparse), or None for 0, 1, …."""
    from uuid import UUID

    makers: dict[str, Callable[[int], Any]] = {
        "text": lambda i: f"doc {i}/ä'\"%",
        "uuid": lambda i: UUID(int=(i + 1) * 0x1234567890ABCDEF1234567890ABCDEF % (1 << 128)),
        "number": lambda i: 1_000_003 * i + 17,
    }
    return None if kind is None else [makers[kind](i) for i in range(n)]


class _Awaited:
    """An oracle with coroutines, asked as one without: each call runs on one event loop until it is answered."""

    def __init__(self, oracle: Any, loop: asyncio.AbstractEventLoop) -> None:
        self._oracle, self._loop = oracle, loop

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._oracle, name)
        if not callable(found):
            return found

        def call(*arguments: Any, **named: Any) -> Any:
            answer = found(*arguments, **named)
            return self._loop.run_until_complete(answer) if inspect.isawaitable(answer) else answer

        return call


def await_all(oracle: Any) -> Any:
    """The oracle itself, or one that waits for the answers of an asynchronous oracle."""
    if inspect.isawaitable(oracle):
        loop = asyncio.new_event_loop()
        return _Awaited(loop.run_until_complete(oracle), loop)
    if inspect.iscoroutinefunction(oracle.top):
        return _Awaited(oracle, asyncio.new_event_loop())
    return oracle
