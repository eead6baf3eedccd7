"""Queries that arrive together share one search.

A query waits for `window` seconds. Those that come meanwhile, and that are asked with the same arguments, join it. If
a search is running then, it waits on, and more of them can join: two searches at a time would share the cores, and a
scan uses all of them. Only a search that takes long does not hold up the others, as long as a thread is free.

A query that is wrong does not harm the others: if a search fails, its queries are searched for one by one.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from breadth.errors import BreadthError, InputError
from breadth.index import Results
from breadth.service.failures import BusyError
from breadth.service.limits import Limits
from breadth.service.metrics import Metrics
from breadth.service.settings import Settings
from breadth.service.shelf import Shelf

Answer = Results | BreadthError
_LONG = 0.1
"""Seconds after which the next search begins beside one that still runs."""


@dataclass(eq=False)
class _Group:
    """Queries with the same arguments that wait for their search."""

    arguments: Mapping[str, Any]
    members: list[tuple[Any, asyncio.Future[Results]]] = field(default_factory=list)
    ripe: bool = False


class Batcher:
    """Takes queries one by one and searches for them together. It belongs to one event loop."""

    def __init__(self, shelf: Shelf, settings: Settings, metrics: Metrics, threads: ThreadPoolExecutor) -> None:
        self._shelf, self._metrics, self._threads = shelf, metrics, threads
        self._window, self._together = settings.window, settings.together
        self._limits: Limits = settings.limits
        self._free = self._all = settings.threads
        self._begun = 0.0
        self._waiting = 0
        self._groups: dict[str, _Group] = {}
        self._ripe: deque[_Group] = deque()
        self._tasks: set[asyncio.Task[None]] = set()

    async def select(self, queries: Sequence[Any], arguments: Mapping[str, Any]) -> list[Results]:
        """Choose a set for each of these queries. Arguments are those of `Index.search`."""
        if self._waiting + len(queries) > self._limits.waiting:
            raise BusyError(f"{self._waiting} queries are waiting already; try again a little later")
        key = json.dumps(arguments, sort_keys=True)
        futures = [self._add(key, query, arguments) for query in queries]
        _, late = await asyncio.wait(futures, timeout=self._limits.patience)
        for future in late:
            future.cancel()
        if late:
            raise BusyError(f"there was no answer within {self._limits.patience:g} seconds; try again later")
        errors = [future.exception() for future in futures]
        for place, error in enumerate(errors):
            if error is not None:
                raise _name_place(error, place) if len(errors) > 1 else error
        return [future.result() for future in futures]

    async def drain(self) -> None:
        """Wait until every query that was taken has its answer."""
        while self._groups or self._ripe or self._tasks:
            await asyncio.sleep(self._window or 0.001)

    def _add(self, key: str, query: Any, arguments: Mapping[str, Any]) -> asyncio.Future[Results]:
        loop = asyncio.get_running_loop()
        group = self._groups.get(key)
        if group is None:
            group = self._groups[key] = _Group(arguments)
            loop.call_later(self._window, self._ripen, key, group)
        future: asyncio.Future[Results] = loop.create_future()
        group.members.append((query, future))
        self._waiting += 1
        if len(group.members) >= self._together:
            del self._groups[key]  # the next query begins another group
            self._ripen(key, group)
        return future

    def _ripen(self, key: str, group: _Group) -> None:
        """Let a group be searched for as soon as a thread is free. Until then others may still join it."""
        if not group.ripe:
            group.ripe = True
            self._ripe.append(group)
        self._start()

    def _start(self) -> None:
        loop = asyncio.get_running_loop()
        while self._free and self._ripe:
            rest = self._begun + _LONG - loop.time()
            if self._free < self._all and rest > 0.0:
                loop.call_later(rest, self._start)
                return
            self._begun = loop.time()
            group = self._ripe.popleft()
            self._groups = {key: other for key, other in self._groups.items() if other is not group}
            self._free -= 1
            task = loop.create_task(self._answer(group))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _answer(self, group: _Group) -> None:
        wanted = [(query, future) for query, future in group.members if not future.done()]
        try:
            answers: Sequence[Answer | Exception] = []
            if wanted:
                queries, loop = [query for query, _ in wanted], asyncio.get_running_loop()
                answers = await loop.run_in_executor(self._threads, self._search, queries, group.arguments)
        except Exception as error:
            answers = [error] * len(wanted)
        finally:
            self._free += 1
            self._waiting -= len(group.members)
            self._start()
        for (_, future), answer in zip(wanted, answers, strict=True):
            if not future.done():
                _settle(future, answer)

    def _search(self, queries: list[Any], arguments: Mapping[str, Any]) -> list[Answer]:
        """Search in a thread. Each answer is a result, or what was wrong with the query."""
        with self._shelf.lend() as served:
            try:
                self._count(len(queries))
                return list(served.select(queries, arguments))
            except BreadthError as error:
                if len(queries) == 1:
                    return [error]
        return [answer for query in queries for answer in self._search([query], arguments)]

    def _count(self, queries: int) -> None:
        self._metrics.searches.add()
        self._metrics.queries.add(amount=queries)
        self._metrics.sizes.observe(queries)


def _settle(future: asyncio.Future[Results], answer: Answer | Exception) -> None:
    if isinstance(answer, Exception):
        future.set_exception(answer)
    else:
        future.set_result(answer)


def _name_place(error: BaseException, place: int) -> BaseException:
    """The error of one of several queries, which names its place if the query is to blame."""
    return InputError(f"queries[{place}]: {error}") if isinstance(error, InputError) else error
