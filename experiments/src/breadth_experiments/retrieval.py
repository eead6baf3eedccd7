"""The stage `retrieve`: every method at every θ and k for every question, and how long one query takes.

The sets are found with many queries at once and several processes; latency is measured apart from that, one query at a
time, with nothing else running, on some of the questions.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from breadth.api import methods as known_methods
from breadth.api import select, select_many
from breadth.checks import check_choice, check_count, check_number
from breadth.errors import InputError, WorkerError
from breadth.methods.muss import cluster
from breadth.metrics.distance import mean_pairwise_distance
from breadth.oracles import ArrayOracle, CompactOracle
from breadth.arrays import Array, Vector
from breadth_experiments import encoding
from breadth_experiments.evidence import Evidence
from breadth_experiments.records import Records
from breadth_experiments.run import Run, read_json, write_json

METHODS = ("topk", "mmr", "dpp", "greedy", "msd", "vrsd", "muss", "frank_wolfe", "certified")
THETAS = tuple(round(0.1 * step, 1) for step in range(1, 10))
KS = (25, 50, 100)
WITHOUT_THETA = frozenset({"topk", "vrsd"})
NESTED = frozenset({"topk", "mmr", "dpp", "vrsd"})
"""Methods whose set of 25 is the first 25 of their set of 100: they pick one row after the other, whatever k is."""
_TOGETHER = 32
_FACTORS = 1 << 29
"""Numbers that DPP may hold at a time: 2 GiB."""
_SMALL = 1 << 28
"""Numbers of a collection that every process may hold."""
KEY = ("method", "k", "theta", "question")


@dataclass(frozen=True)
class Engine:
    """How the collection is searched: array, compact, or torch on a device."""

    kind: str = "array"
    device: str | None = None

    def __post_init__(self) -> None:
        check_choice(self.kind, "engine", ("array", "compact", "torch"))
        if self.device is not None and self.kind != "torch":
            raise InputError(f"device goes with engine torch, got device {self.device!r} with {self.kind!r}")

    def oracle(self, rows: Array) -> Any:
        if self.kind == "array":
            return ArrayOracle(rows)
        if self.kind == "compact":
            return CompactOracle.build(rows)
        else:
            from breadth.oracles.torch import TorchOracle

            try:
                return TorchOracle(rows, device=self.device)
            except RuntimeError as error:
                raise InputError(f"device {self.device!r} cannot be used: {error}") from error


@dataclass(frozen=True)
class Grid:
    """What is swept."""

    methods: tuple[str, ...] = METHODS
    thetas: tuple[float, ...] = THETAS
    ks: tuple[int, ...] = KS

    def __post_init__(self) -> None:
        for method in self.methods:
            if method not in known_methods() or method == "exact":
                allowed = ", ".join(m for m in known_methods() if m != "exact")
                raise InputError(f"method must be one of {allowed}; got {method!r}")
        for theta in self.thetas:
            check_number(theta, "theta", 0.0, 1.0)
        for k in self.ks:
            check_count(k, "k")

    def settings(self, method: str) -> list[float | None]:
        """The values of θ of a method: one, None, if it has no such parameter."""
        return [None] if method in WITHOUT_THETA else list(self.thetas)

    def cells(self) -> list[tuple[str, int, float | None]]:
        return [(m, k, theta) for m in self.methods for k in self.ks for theta in self.settings(m)]


def retrieve(
    run: Run,
    grid: Grid,
    *,
    engine: Engine | None = None,
    workers: int | None = None,
    limit: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> int:
    """Find the sets that are not in retrieved.jsonl yet; how many there were to find. `limit`: the first questions."""
    engine = engine or Engine()
    rows, _ = encoding.vectors(run)
    questions = run.questions()[:limit]
    if max(grid.ks) > len(rows):
        raise InputError(f"k must be at most the number of passages ({len(rows)}), got {max(grid.ks)}; choose with -k")
    evidence = Evidence(questions, run.passages())
    _same(run, "retrieved", engine)
    total = len(grid.cells()) * len(questions)
    found = 0
    with Records(run.path("retrieved.jsonl"), KEY) as records:
        units = list(_units(grid, [q.id for q in questions], records, len(rows)))
        before = total - sum(unit.size for unit in units)
        if progress is not None:
            progress(before, total)
        workers = _workers(workers, rows, len(units), engine)
        for sets in _computed(run, engine, units, workers):
            for one in sets:
                if tuple(one[name] for name in KEY) in records:
                    continue  # an interruption left this unit half written
                one["recall"] = evidence.recall(one["question"], one["rows"])
                records.append(one)
                found += 1
            records.flush()
            before += len(sets)
            if progress is not None:
                progress(before, total)
    return found


def _same(run: Run, name: str, engine: Engine) -> None:
    """Sets and times of one file belong to the same passages, vectors and engine: note which, or refuse."""
    mark = {"vectors": encoding.marks(run), "engine": engine.kind, "device": engine.device}
    notes, lines = run.path(f"{name}.json"), run.path(f"{name}.jsonl")
    known = read_json(notes)
    if known and known != mark and lines.exists() and lines.stat().st_size:
        what = next(key for key in mark if known.get(key) != mark[key])
        raise InputError(
            f"{lines} was made with other {what} ({_short(known.get(what))}, not {_short(mark[what])}); take another "
            "folder, or delete it to begin anew"
        )
    write_json(notes, mark)
    run.note(engine=engine.kind if engine.device is None else f"{engine.kind} on {engine.device}")


def _short(value: Any) -> str:
    """An engine or device by name, vectors by their encoder and precision."""
    if isinstance(value, dict):
        return " ".join(str(value["passages"].get(key)) for key in ("encoder", "dtype"))
    return str(value)


@dataclass(frozen=True)
class Unit:
    """Sets that are found together: one method and θ, some questions (by number), some k."""

    method: str
    theta: float | None
    ks: tuple[int, ...]
    questions: tuple[tuple[int, str], ...]

    @property
    def size(self) -> int:
        return len(self.ks) * len(self.questions)


def _units(grid: Grid, ids: Sequence[str], records: Records, size: int) -> Iterator[Unit]:
    """What is missing: the long ones first, so that no process is left with one at the end."""
    # DPP holds k numbers for every passage and question.
    few = max(1, min(_TOGETHER, _FACTORS // (size * max(grid.ks))))
    for method in sorted(grid.methods, key=lambda name: name != "certified"):
        for theta in grid.settings(method):
            groups = [tuple(grid.ks)] if method in NESTED else [(k,) for k in sorted(grid.ks, reverse=True)]
            for ks in groups:
                missing = [(n, i) for n, i in enumerate(ids) if any((method, k, theta, i) not in records for k in ks)]
                together = few if method == "dpp" else _TOGETHER
                for start in range(0, len(missing), together):
                    batch = missing[start : start + together]
                    rest = tuple(k for k in ks if any((method, k, theta, i) not in records for _, i in batch))
                    yield Unit(method, theta, rest, tuple(batch))


def _computed(run: Run, engine: Engine, units: list[Unit], workers: int) -> Iterator[list[dict[str, Any]]]:
    if workers == 1:
        for unit in units:
            yield _solve(str(run.folder), engine, unit)
        return
    context = get_context("spawn")
    with _one_thread_each(), ProcessPoolExecutor(workers, context, initializer=_without_interrupts) as pool:
        waiting = [pool.submit(_solve, str(run.folder), engine, unit) for unit in units]
        try:
            for done in as_completed(waiting):
                yield done.result()
        except BrokenProcessPool as error:
            raise WorkerError("a worker process was ended, maybe for lack of memory; run again with fewer") from error
        finally:  # an interruption waits for what is being computed, not for all that is planned
            pool.shutdown(wait=True, cancel_futures=True)


def _without_interrupts() -> None:
    """Ctrl-C is the parent's business: it keeps what is done and ends the others."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _solve(folder: str, engine: Engine, unit: Unit) -> list[dict[str, Any]]:
    """The sets of a unit, measured in float64."""
    rows, queries, oracle = _loaded(Path(folder), engine, _version(Path(folder)))
    asked = queries[[number for number, _ in unit.questions]]
    largest = max(unit.ks)
    chosen = select_many(oracle, asked, k=largest, method=unit.method, **_options(unit.method, unit.theta, oracle))
    found = []
    for (_, question), query, selection in zip(unit.questions, asked, chosen, strict=True):
        for k in unit.ks:
            ids = selection.ids[:k] if k < largest else selection.ids
            record = {"method": unit.method, "k": k, "theta": unit.theta, "question": question, "rows": ids.tolist()}
            record |= _measured(np.asarray(rows[ids], dtype=np.float64), query)
            if selection.certificate is not None:
                record["bound"] = round(selection.certificate.bound, 9)
            found.append(record)
    return found


def _options(method: str, theta: float | None, oracle: Any) -> dict[str, Any]:
    options: dict[str, Any] = {} if theta is None else {"theta": theta}
    if method == "muss":
        options["clustering"] = _clusters(oracle)
    return options


def _measured(rows: Array, query: Vector) -> dict[str, float]:
    relevance = float((rows @ query.astype(np.float64)).mean())
    return {"relevance": round(relevance, 9), "ilad": round(mean_pairwise_distance(rows), 9)}


def _version(folder: Path) -> str:
    """Changes when the vectors of a run do."""
    return "".join(Run(folder).path(f"{part}.vectors.json").read_text("utf-8") for part in ("passages", "questions"))


@lru_cache(maxsize=1)
def _loaded(folder: Path, engine: Engine, version: str) -> tuple[Array, Array, Any]:
    """Vectors and oracle, once in a process for each version of the vectors."""
    rows, queries = encoding.vectors(Run(folder))
    return rows, queries, engine.oracle(rows)


@lru_cache(maxsize=1)
def _clusters(oracle: Any) -> Any:
    """MUSS clusters a collection once, not for every query."""
    return cluster(oracle)


def _workers(wanted: int | None, rows: Array, units: int, engine: Engine) -> int:
    """Every process holds an oracle of its own: one process where that is large, or would share a device."""
    if wanted is None:
        wanted = (os.cpu_count() or 1) if rows.size <= _SMALL and engine.kind != "torch" else 1
    if wanted < 1:
        raise InputError(f"workers must be at least 1, got {wanted}")
    return max(1, min(wanted, units))


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Processes that start meanwhile use one thread each: together they use the machine."""
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


def latency(
    run: Run,
    grid: Grid,
    *,
    engine: Engine | None = None,
    sample: int = 10,
    progress: Callable[[int, int], None] | None = None,
) -> int:
    """Time one query after the other, methods in turn, on `sample` questions spread over the run; how many were timed.

    What does not depend on the query (the clusters of MUSS) is made before.
    """
    engine = engine or Engine()
    _same(run, "latency", engine)
    _, queries, oracle = _loaded(run.folder, engine, _version(run.folder))
    questions = run.questions()
    places = np.unique(np.linspace(0, len(questions) - 1, min(sample, len(questions))).round().astype(int))
    plan = [(k, theta, place) for k in grid.ks for theta in grid.thetas for place in places]
    done = 0
    with Records(run.path("latency.jsonl"), KEY) as records:
        for method in grid.methods:  # once each, so that nothing is compiled or loaded while time is taken
            select(oracle, queries[0], k=min(grid.ks), method=method, **_options(method, grid.thetas[0], oracle))
        for number, (k, theta, place) in enumerate(plan):
            for method in grid.methods:
                value = None if method in WITHOUT_THETA else theta
                key = (method, k, value, questions[place].id)
                if key in records:
                    continue
                options = _options(method, value, oracle)
                start = time.perf_counter()
                select(oracle, queries[place], k=k, method=method, **options)
                seconds = time.perf_counter() - start
                records.append({**dict(zip(KEY, key, strict=True)), "seconds": round(seconds, 7)})
                done += 1
            records.flush()
            if progress is not None:
                progress(number + 1, len(plan))
    return done
