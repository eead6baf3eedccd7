"""Run a solver against an oracle: one query, many in lockstep, or asynchronously (protocol: `breadth.requests`)."""

from __future__ import annotations

import inspect
import time
from collections.abc import Sequence
from typing import Any, Generic, TypeVar, cast

import numpy as np

from breadth.clock import Clock
from breadth.errors import OracleError
from breadth.oracles.protocol import AsyncOracle, Oracle
from breadth.requests import Asking, Request, Rows, Top, TopRows, count_bytes

Result = TypeVar("Result")
_PLAIN = (tuple, list, np.ndarray)
"""Most answers. To ask whether something can be awaited takes longer."""


def run(solver: Asking[Result], oracle: Oracle) -> Result:
    """One query: put every question to the oracle until the solver returns."""
    task = Task(solver)
    while task.request is not None:
        answer = task.request.ask(oracle)
        if not isinstance(answer, _PLAIN) and inspect.isawaitable(answer):
            if inspect.iscoroutine(answer):
                answer.close()
            raise OracleError(f"{type(oracle).__name__} answers asynchronously; use `await breadth.aselect(…)`")
        task.resume(answer)
    return task.result()


async def arun(solver: Asking[Result], oracle: AsyncOracle | Oracle) -> Result:
    """One query on an oracle whose methods are coroutines (plain ones are accepted as well)."""
    task = Task(solver)
    while task.request is not None:
        answer = task.request.ask(oracle)
        task.resume(await answer if inspect.isawaitable(answer) else answer)
    return task.result()


def run_many(solvers: Sequence[Asking[Result]], oracle: Oracle, clocks: Sequence[Clock] | None = None) -> list[Result]:
    """Many queries in lockstep: questions of one kind go to the oracle as one batch, one scan for all of them.

    `clocks`: the clock of each solver. It then counts the time of its own solver alone.
    """
    timers = [Clock() for _ in solvers] if clocks is None else list(clocks)
    for timer in timers:
        timer.pause()
    tasks = []
    for solver, timer in zip(solvers, timers, strict=True):
        timer.resume()
        tasks.append(Task(solver))
        timer.pause()
    while waiting := [place for place, task in enumerate(tasks) if task.request is not None]:
        kinds: dict[type, list[int]] = {}
        for place in waiting:
            kinds.setdefault(type(tasks[place].request), []).append(place)
        for kind, places in kinds.items():
            started = time.perf_counter()
            answers = kind.ask_together([tasks[place].request for place in places], oracle)  # type: ignore[attr-defined]
            share = (time.perf_counter() - started) / len(places)
            for place, answer in zip(places, answers, strict=True):
                timers[place].resume(share)
                tasks[place].resume(answer)
                timers[place].pause()
    return [task.result(timer.spent) for task, timer in zip(tasks, timers, strict=True)]


class Task(Generic[Result]):
    """A solver on its way: its open question, and what it has cost so far."""

    def __init__(self, solver: Asking[Result]) -> None:
        self._solver = solver
        self._outcome: Any = None
        self._cost = {"scans": 0, "requests": 0, "rows": 0, "bytes": 0}
        self._lacking = 0
        self._started = time.perf_counter()
        self.request: Request[Any] | None = None
        self._go_on(None)

    def resume(self, answer: Any) -> None:
        """Check the answer to the open question, and hand it to the solver."""
        assert self.request is not None
        self._cost["bytes"] += self.request.size + count_bytes(answer)
        received = self.request.receive(answer)
        if isinstance(self.request, (Top, TopRows)):
            self._lacking = max(self._lacking, self.request.m - received.ids.shape[1])
            self._cost["rows"] += received.ids.size if isinstance(self.request, TopRows) else 0
        self._go_on(received)

    def result(self, seconds: float | None = None) -> Result:
        """What the solver returned. A selection or a frontier also learns what it cost."""
        outcome: Any = self._outcome
        if not hasattr(outcome, "with_stats"):
            return cast(Result, outcome)
        if self._lacking:
            outcome = outcome.after_lacking_rows(self._lacking)
        spent = time.perf_counter() - self._started if seconds is None else seconds
        return cast(Result, outcome.with_stats(**self._cost, seconds=spent))

    def _go_on(self, answer: Any) -> None:
        try:
            self.request = self._solver.send(answer)
        except StopIteration as stop:
            self.request, self._outcome = None, stop.value
            return
        self._cost["scans"] += self.request.scans
        self._cost["requests"] += 1
        if isinstance(self.request, Rows):
            self._cost["rows"] += len(self.request.ids)
