"""The only importer of psycopg: connections with a time limit, and batches of statements that take one trip.

What is asked is written once, as generators (a `Talk`) that yield a `Batch` and are sent its answers. `Pool` and
`AsyncPool` carry a talk out.
"""

from __future__ import annotations

import asyncio
import os
import socket
import threading
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

from breadth.errors import BreadthError, EngineError, InputError, MissingExtraError

try:
    import psycopg
    from psycopg import sql
except ImportError:
    raise MissingExtraError("psycopg", "pgvector") from None


__all__ = ["Answers", "AsyncPool", "Batch", "Limits", "Pool", "Statement", "Talk", "identify", "sql"]


Result = TypeVar("Result")

_GRACE = 0.5
"""Seconds that the server has to say itself that the time is up, before the client hangs up."""


def identify(*names: str) -> sql.Identifier:
    """Return a quoted name. The driver reads a percent sign as a placeholder, unless it is doubled."""
    return sql.Identifier(*(name.replace("%", "%%") for name in names))


@dataclass(frozen=True)
class Statement:
    """A statement and its bound parameters, by name."""

    text: sql.SQL | sql.Composed
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Batch:
    """Statements that take one trip to the server, with settings that hold for them alone."""

    statements: Sequence[Statement]
    settings: Mapping[str, str] = field(default_factory=dict)


Answers: TypeAlias = list[list[tuple[Any, ...]]]
"""The rows of each statement of a batch."""
Talk: TypeAlias = Generator[Batch, Answers, Result]
"""A computation that asks the server on its way."""

_SET = sql.SQL("SELECT set_config(%(name)s, %(value)s, true)")


@dataclass(frozen=True)
class Limits:
    """How long an answer may take, in seconds, and how many connections there may be. `name` is for messages."""

    name: str
    seconds: float
    connections: int

    def settings(self, batch: Batch) -> list[tuple[str, str]]:
        return [("statement_timeout", str(max(1, round(1000 * self.seconds)))), *batch.settings.items()]

    def translate(self, error: psycopg.Error, hung_up: bool = False) -> BreadthError:
        """Return the error of this package for one of the driver."""
        if hung_up or isinstance(error, (psycopg.errors.QueryCanceled, psycopg.errors.ConnectionTimeout)):
            return EngineError(
                f"{self.name}: no answer within {self.seconds:g} seconds; raise `timeout`, or add an index"
            )
        message = f"{self.name}: {str(error).strip() or type(error).__name__}"
        return InputError(message) if isinstance(error, psycopg.DataError) else EngineError(message)


class _Connection(psycopg.Connection[tuple[Any, ...]]):
    """A connection that hangs up at a deadline: the server may have stopped answering altogether."""

    deadline = float("inf")
    hung_up = False

    def wait(self, gen: Any, *args: Any, **options: Any) -> Any:
        return super().wait(self._limit(gen), *args, **options)

    def _limit(self, steps: Generator[Any, Any, Any]) -> Generator[Any, Any, Any]:
        """Pass a generator of the driver on. The driver resumes it ten times a second."""
        try:
            state = next(steps)
            while True:
                ready = yield state
                if time.monotonic() > self.deadline:
                    self.deadline, self.hung_up = float("inf"), True
                    _hang_up(self)
                state = steps.send(ready)
        except StopIteration as stop:
            return stop.value


class _AsyncConnection(psycopg.AsyncConnection[tuple[Any, ...]]):
    """The same for tasks; `AsyncPool` sets the timer."""

    hung_up = False

    def hang_up(self) -> None:
        self.hung_up = True
        _hang_up(self)


def _hang_up(connection: psycopg.BaseConnection[Any]) -> None:
    """End the conversation at once. The driver then finds the connection broken."""
    with suppress(OSError), socket.socket(fileno=os.dup(connection.pgconn.socket)) as line:
        line.shutdown(socket.SHUT_RDWR)


class Pool:
    """Connections that threads take turns to use; one is opened when none is free."""

    def __init__(self, url: str, limits: Limits) -> None:
        self.url, self.limits = url, limits
        self._free: list[_Connection] = []
        self._places = threading.BoundedSemaphore(limits.connections)
        self._lock = threading.Lock()
        self._closed = False

    def run(self, talk: Talk[Result]) -> Result:
        """Carry a talk out."""
        try:
            batch = next(talk)
            while True:
                batch = talk.send(self._ask(batch))
        except StopIteration as stop:
            result: Result = stop.value
            return result

    def close(self) -> None:
        """Close all connections. Requests that are under way still get their answers."""
        with self._lock:
            self._closed = True
            free, self._free = self._free, []
        for connection in free:
            connection.close()

    def _ask(self, batch: Batch) -> Answers:
        """Ask on a free connection. If the server has closed it meanwhile, ask again on another one."""
        if not self._places.acquire(timeout=self.limits.seconds):
            raise _all_busy(self.limits)
        try:
            while True:
                free = self._take()
                connection = free or self._connect()
                try:
                    return self._answer(connection, batch)
                except psycopg.Error as error:
                    if free is None or connection.hung_up or not connection.broken:
                        raise self.limits.translate(error, connection.hung_up) from error
        finally:
            self._places.release()

    def _take(self) -> _Connection | None:
        with self._lock:
            if self._closed:
                raise EngineError(f"{self.limits.name}: this oracle was closed")
            return self._free.pop() if self._free else None

    def _connect(self) -> _Connection:
        try:
            return _Connection.connect(self.url, **_how(self.limits))
        except psycopg.Error as error:
            raise self.limits.translate(error) from error

    def _answer(self, connection: _Connection, batch: Batch) -> Answers:
        connection.deadline = time.monotonic() + self.limits.seconds + _GRACE
        try:
            with connection.pipeline(), connection.transaction():
                for name, value in self.limits.settings(batch):
                    connection.execute(_SET, {"name": name, "value": value})
                cursors = [connection.execute(one.text, one.parameters, binary=True) for one in batch.statements]
            answers = [cursor.fetchall() for cursor in cursors]
        except BaseException as error:
            if isinstance(error, psycopg.Error) and not connection.broken:
                self._keep(connection)
            else:
                connection.close()
            raise
        self._keep(connection)
        return answers

    def _keep(self, connection: _Connection) -> None:
        with self._lock:
            if not self._closed:
                self._free.append(connection)
                return
        connection.close()


class AsyncPool:
    """Connections that the tasks of one event loop take turns to use."""

    def __init__(self, url: str, limits: Limits) -> None:
        self.url, self.limits = url, limits
        self._free: list[_AsyncConnection] = []
        self._places = asyncio.BoundedSemaphore(limits.connections)
        self._closed = False

    async def run(self, talk: Talk[Result]) -> Result:
        """Carry a talk out."""
        try:
            batch = next(talk)
            while True:
                batch = talk.send(await self._ask(batch))
        except StopIteration as stop:
            result: Result = stop.value
            return result

    async def close(self) -> None:
        """Close all connections. Requests that are under way still get their answers."""
        self._closed = True
        free, self._free = self._free, []
        for connection in free:
            await connection.close()

    async def _ask(self, batch: Batch) -> Answers:
        try:
            await asyncio.wait_for(self._places.acquire(), self.limits.seconds)
        except asyncio.TimeoutError:
            raise _all_busy(self.limits) from None
        try:
            while True:
                free = self._take()
                connection = free or await self._connect()
                try:
                    return await self._answer(connection, batch)
                except psycopg.Error as error:
                    if free is None or connection.hung_up or not connection.broken:
                        raise self.limits.translate(error, connection.hung_up) from error
        finally:
            self._places.release()

    def _take(self) -> _AsyncConnection | None:
        if self._closed:
            raise EngineError(f"{self.limits.name}: this oracle was closed")
        return self._free.pop() if self._free else None

    async def _connect(self) -> _AsyncConnection:
        try:
            return await _AsyncConnection.connect(self.url, **_how(self.limits))
        except psycopg.Error as error:
            raise self.limits.translate(error) from error

    async def _answer(self, connection: _AsyncConnection, batch: Batch) -> Answers:
        limit = self.limits.seconds + _GRACE
        timer = asyncio.get_running_loop().call_later(limit, connection.hang_up)
        try:
            async with connection.pipeline(), connection.transaction():
                for name, value in self.limits.settings(batch):
                    await connection.execute(_SET, {"name": name, "value": value})
                cursors = [await connection.execute(one.text, one.parameters, binary=True) for one in batch.statements]
            answers = [await cursor.fetchall() for cursor in cursors]
        except BaseException as error:
            if isinstance(error, psycopg.Error) and not connection.broken:
                await self._keep(connection)
            else:
                await connection.close()
            raise
        finally:
            timer.cancel()
        await self._keep(connection)
        return answers

    async def _keep(self, connection: _AsyncConnection) -> None:
        if self._closed:
            await connection.close()
        else:
            self._free.append(connection)


def _how(limits: Limits) -> dict[str, Any]:
    """Return how to connect. Statements are not prepared: plans depend on their parameters."""
    return {"autocommit": True, "prepare_threshold": None, "connect_timeout": max(2, round(limits.seconds))}


def _all_busy(limits: Limits) -> EngineError:
    return EngineError(
        f"{limits.name}: all {limits.connections} connections were busy for {limits.seconds:g} seconds; "
        "raise `connections` or `timeout`"
    )
