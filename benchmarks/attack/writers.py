"""Processes that are killed while they write, and processes that make the same index at once."""

from __future__ import annotations

import multiprocessing
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.timing import progress
from breadth.errors import BreadthError, StoreError
from breadth.index import Index
from tests.index.kills import create, kill_while
from tests.index.letters import Letters, documents

KILLS, ROUNDS, PROCESSES = 80, 25, 6
_AGAIN = 40
"""Kills after which a new index is taken: it grows with every round."""


def kill(folder: Path) -> dict[str, Any]:
    """Kill a process with SIGKILL while it adds, updates, deletes and optimizes."""
    rng = np.random.default_rng(4)
    counts: dict[str, int] = {}
    problems: list[str] = []
    for what in ("add", "update", "delete", "optimize"):
        counts[what] = 0
        for round_ in progress(list(range(KILLS)), f"kill during {what}"):
            path = folder / f"{what}{round_ // _AGAIN}.index"
            if not path.exists():
                create(path)
            try:
                problems += kill_while(path, what, round_ + 1, float(rng.uniform(0.0, 0.2)))
            except (AssertionError, BreadthError) as error:
                problems.append(f"{what}: {error}")
            counts[what] += 1
    return {"kills": counts, "problems": len(problems), "examples": problems[:3]}


def create_at_once(folder: Path) -> dict[str, Any]:
    """Several processes make an index in one folder at the same moment; the one that made it adds documents."""
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(PROCESSES)
    rounds = [folder / f"{round_}.index" for round_ in range(ROUNDS)]
    with context.Manager() as manager:
        seen: Any = manager.list()
        workers = [context.Process(target=_create_all, args=(rounds, barrier, seen)) for _ in range(PROCESSES)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        outcomes = Counter(seen)
    usable = 0
    for path in rounds:
        try:
            with Index.open(path, Letters()) as index:
                usable += index.check().ok and len(index) == 20
        except BreadthError as error:
            outcomes[f"unusable: {error}"] += 1
    return {"rounds": ROUNDS, "processes": PROCESSES, "outcomes": dict(outcomes), "usable": usable}


def _create_all(rounds: list[Path], barrier: Any, seen: Any) -> None:
    for path in rounds:
        barrier.wait()
        try:
            with Index.create(path, Letters()) as index:
                index.add(documents(20))
            seen.append("made it")
        except StoreError:
            seen.append("told that it is there")
        except Exception as error:  # any other error is a finding
            seen.append(f"another error: {type(error).__name__}")
