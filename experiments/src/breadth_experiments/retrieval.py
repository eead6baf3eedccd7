"""The stage `retrieve`: the set that every method finds at every θ and k for every question.

Sets are found for many questions at once, by several processes. Latency is measured apart from that (`latency`).
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

import breadth
from breadth import metrics
from breadth.errors import InputError, WorkerError
from breadth_experiments import encoding
from breadth_experiments.engine import Engine, Rows, load_collection, record_origin
from breadth_experiments.evidence import Evidence
from breadth_experiments.grid import KEY, Grid
from breadth_experiments.progress import Progress, report_nothing
from breadth_experiments.records import Records
from breadth_experiments.run import Run

NESTED = frozenset({"topk", "mmr", "dpp", "vrsd"})
"""Methods whose set of 25 is the first 25 of their set of 100: they pick one row after the other, whatever k is."""
_BATCH = 32
"""Questions that are solved together."""
_DPP_NUMBERS = 1 << 29
"""Numbers that DPP may hold at a time: 2 GiB."""
_SMALL = 1 << 28
"""Numbers of a collection that every process may hold a copy of."""


def retrieve(
    run: Run,
    grid: Grid,
    *,
    engine: Engine | None = None,
    workers: int | None = None,
    limit: int | None = None,
    progress: Progress = report_nothing,
) -> int:
    """Find the sets that retrieved.jsonl does not have yet, and return how many were found.

    `limit`: only the first questions. `workers`: processes (default: as many as cores, one if the collection is large).
    """
    engine = engine or Engine()
    rows, _ = encoding.load_vectors(run)
    questions = run.questions()[:limit]
    if max(grid.ks) > len(rows):
        raise InputError(f"k must be at most the number of passages ({len(rows)}), got {max(grid.ks)}; choose with -k")
    evidence = Evidence(questions, run.passages())
    record_origin(run, "retrieved", engine)
    total = len(grid.cells()) * len(questions)
    found = 0
    with Records(run.path("retrieved.jsonl"), KEY) as records:
        units = list(_missing_units(grid, [q.id for q in questions], records, len(rows)))
        done = total - sum(unit.size for unit in units)
        progress(done, total)
        for sets in _solve_all(run, engine, units, _worker_count(workers, rows, len(units), engine)):
            for one in sets:
                if tuple(one[name] for name in KEY) in records:
                    continue  # an interruption left this unit half written
                one["recall"] = evidence.recall(one["question"], one["rows"])
                records.append(one)
                found += 1
            records.flush()
            done += len(sets)
            progress(done, total)
    return found


@dataclass(frozen=True)
class Unit:
    """Sets that are found together: one method and θ, some questions (by number and id), some k."""

    method: str
    theta: float | None
    ks: tuple[int, ...]
    questions: tuple[tuple[int, str], ...]

    @property
    def size(self) -> int:
        return len(self.ks) * len(self.questions)


def _missing_units(grid: Grid, ids: Sequence[str], records: Records, size: int) -> Iterator[Unit]:
    """What is still to be found. Long units come first, so that no process is left alone with one at the end."""
    # DPP holds k numbers for every passage and question.
    dpp_batch = max(1, min(_BATCH, _DPP_NUMBERS // (size * max(grid.ks))))
    for method in sorted(grid.methods, key=lambda name: name != "certified"):
        batch_size = dpp_batch if method == "dpp" else _BATCH
        groups = [tuple(grid.ks)] if method in NESTED else [(k,) for k in sorted(grid.ks, reverse=True)]
        for theta in grid.thetas_of(method):
            for ks in groups:
                missing = [(n, i) for n, i in enumerate(ids) if any((method, k, theta, i) not in records for k in ks)]
                for start in range(0, len(missing), batch_size):
                    batch = missing[start : start + batch_size]
                    rest = tuple(k for k in ks if any((method, k, theta, i) not in records for _, i in batch))
                    yield Unit(method, theta, rest, tuple(batch))


def _solve_all(run: Run, engine: Engine, units: list[Unit], workers: int) -> Iterator[list[dict[str, Any]]]:
    """The sets of each unit, in the order in which the units are done."""
    if workers == 1:
        for unit in units:
            yield _solve(str(run.folder), engine, unit)
        return
    context = get_context("spawn")
    with _one_thread_each(), ProcessPoolExecutor(workers, context, initializer=_ignore_interrupts) as pool:
        waiting = [pool.submit(_solve, str(run.folder), engine, unit) for unit in units]
        try:
            for done in as_completed(waiting):
                yield done.result()
        except BrokenProcessPool as error:
            raise WorkerError(
                "a worker process was ended from outside, perhaps for lack of memory; try again with fewer --workers"
            ) from error
        finally:  # an interruption waits for the units that are being solved, not for all that are planned
            pool.shutdown(wait=True, cancel_futures=True)


def _ignore_interrupts() -> None:
    """Leave Ctrl-C to the parent process: it keeps what is done and ends the workers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _solve(folder: str, engine: Engine, unit: Unit) -> list[dict[str, Any]]:
    """The sets of a unit, as lines of retrieved.jsonl without their recall."""
    collection = load_collection(Path(folder), engine)
    queries = collection.queries[[number for number, _ in unit.questions]]
    largest = max(unit.ks)
    options = collection.options(unit.method, unit.theta)
    selections = breadth.select_many(collection.oracle, queries, k=largest, method=unit.method, **options, sharpness=1)
    lines = []
    for (_, question), query, selection in zip(unit.questions, queries, selections, strict=True):
        for k in unit.ks:
            ids = selection.ids[:k] if k < largest else selection.ids
            line = {"method": unit.method, "k": k, "theta": unit.theta, "question": question, "rows": ids.tolist()}
            rows = np.asarray(collection.rows[ids], dtype=np.float64)
            line["relevance"] = round(metrics.mean_relevance(rows, query), 9)
            line["ilad"] = round(metrics.ilad(rows), 9)
            if selection.certificate is not None:
                line["bound"] = round(selection.certificate.bound, 9)
            lines.append(line)
    return lines


def _worker_count(wanted: int | None, rows: Rows, units: int, engine: Engine) -> int:
    """How many processes to use. Each holds an oracle: one if that is large, or if they would share a device."""
    if wanted is None:
        wanted = (os.cpu_count() or 1) if rows.size <= _SMALL and engine.kind != "torch" else 1
    if wanted < 1:
        raise InputError(f"workers must be at least 1, got {wanted}")
    return max(1, min(wanted, units))


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Processes that start inside the block use one thread each: together they use the machine."""
    names = ("BREADTH_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(dict.fromkeys(names, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
