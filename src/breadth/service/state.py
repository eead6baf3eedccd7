"""What routes work with: the collection, the batcher, the settings."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Request

from breadth.service.batching import Batcher
from breadth.service.board import Board
from breadth.service.collections.opening import open_collection
from breadth.service.collections.protocol import Served
from breadth.service.failures import BusyError
from breadth.service.logs import log_event, note
from breadth.service.metrics import Metrics
from breadth.service.settings import Settings
from breadth.service.shelf import Shelf

T = TypeVar("T")


class Service:
    """Everything that lives as long as the service does."""

    def __init__(
        self, settings: Settings, opened: Callable[[], Served] | None = None, board: Board | None = None
    ) -> None:
        self.settings = settings
        self.metrics = Metrics()
        self.board = board
        self.shelf = Shelf(opened or (lambda: open_collection(settings.collection, settings.encoder)))
        self.threads = ThreadPoolExecutor(settings.threads, "breadth-search")
        self.batcher = Batcher(self.shelf, settings, self.metrics, self.threads)
        self.stopping = False

    async def ask(self, question: Callable[[Served], T]) -> T:
        """Put a question to the collection in a thread of its own."""

        def answer() -> T:
            with self.shelf.lend() as served:
                return question(served)

        try:
            return await asyncio.wait_for(asyncio.to_thread(answer), self.settings.limits.patience)
        except asyncio.TimeoutError:
            patience = self.settings.limits.patience
            raise BusyError(f"there was no answer within {patience:g} seconds; try again later") from None

    def admit(self, queries: Sequence[Any], k: int) -> None:
        """Note for the log what is asked. Raise an error if it can be seen without searching that a query is wrong."""
        with self.shelf.lend() as served:
            for query in queries:
                served.check(query)
        note(queries=len(queries), k=k)
        if self.settings.log_queries:
            note(texts=[query if isinstance(query, str) else "a vector" for query in queries])

    def reload(self) -> None:
        """Open the collection again; requests go on meanwhile. A failure is logged, and the old one stays."""
        try:
            self.shelf.reload()
        except Exception:  # whatever is wrong with the new one, the old one can still be served
            log_event("reload failed", level="error", exc_info=True)
        else:
            self.metrics.reloads.add()
            log_event("reloaded")

    def render_metrics(self) -> str:
        """What this process and the others of the service have counted, for Prometheus."""
        return self.metrics.render(() if self.board is None else self.board.read_others())

    def post_metrics(self) -> None:
        """Tell the other processes of the service what this one has counted."""
        if self.board is not None:
            self.board.post(self.metrics.read())

    async def close(self) -> None:
        """Answer what was accepted, then let go of everything."""
        await self.batcher.drain()
        self.post_metrics()
        self.threads.shutdown()
        self.shelf.close()


async def _get_service(request: Request) -> Service:  # as a coroutine it needs no thread
    service: Service = request.app.state.service
    return service


ServiceNow = Annotated[Service, Depends(_get_service)]
"""The service, as an argument of a route."""
