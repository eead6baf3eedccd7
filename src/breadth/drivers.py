"""Run any solver against any oracle: one query, many in lockstep, or asynchronously."""

from __future__ import annotations

import inspect
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from breadth.errors import OracleError
from breadth.oracles.protocol import AsyncOracle, Oracle
from breadth.requests import Asking, Request, Rows, answered_together


def run(solver: Asking, oracle: Oracle) -> Any:
    """One query: put every question to the oracle until the solver returns."""
    task = _Task(solver)
    task.resume(None)
    while task.request is not None:
        answer = task.request.ask(oracle)
        if inspect.isawaitable(answer):
            if inspect.iscoroutine(answer):
                answer.close()
            raise OracleError(f"{type(oracle).__name__} answers asynchronously; use `await breadth.aselect(…)`")
        task.resume(answer)
    return task.result()


def run_many(solvers: Iterable[Asking], oracle: Oracle) -> list[Any]:
    """Many queries in lockstep: questions of one kind go to the oracle as one batch, one scan for all."""
    return answered_together([_tracked(solver) for solver in solvers], oracle)


def _tracked(solver: Asking) -> Asking:
    """The same solver, its answers checked and its cost counted."""
    task = _Task(solver)
    task.resume(None)
    while task.request is not None:
        task.resume((yield task.request))
    return task.result()


async def arun(solver: Asking, oracle: AsyncOracle | Oracle) -> Any:
    """One query on an oracle whose methods are coroutines (plain ones are accepted as well)."""
    task = _Task(solver)
    task.resume(None)
    while task.request is not None:
        answer = task.request.ask(oracle)
        task.resume(await answer if inspect.isawaitable(answer) else answer)
    return task.result()


@dataclass
class _Task:
    """A solver on its way: its open question, and what it has cost so far."""

    solver: Asking
    request: Request | None = None
    outcome: Any = None
    scans: int = 0
    rows_fetched: int = 0
    started: float = field(default_factory=time.perf_counter)
    seconds: float = 0.0

    def resume(self, answer: Any) -> None:
        if self.request is not None:
            self.request.check(answer)
        try:
            self.request = self.solver.send(answer)
        except StopIteration as stop:
            self.request, self.outcome = None, stop.value
            self.seconds = time.perf_counter() - self.started
            return
        self.scans += self.request.scans
        if isinstance(self.request, Rows):
            self.rows_fetched += len(self.request.ids)

    def result(self) -> Any:
        """What the solver returned; a selection or frontier also learns what it cost."""
        if not hasattr(self.outcome, "with_stats"):
            return self.outcome
        return self.outcome.with_stats(scans=self.scans, rows=self.rows_fetched, seconds=self.seconds)
