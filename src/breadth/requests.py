"""What a solver may ask of a collection, and how it asks.

A solver holds no engine. It is a generator: it yields a request, is sent the answer, and returns its result. Each
request knows the type of its answer, and `yield from` hands it over with that type:

    def most_relevant(problem: Problem) -> Asking[Vector]:
        found = yield from Top(problem.query[None], problem.k)      # found is a Found: ids and scores
        rows = yield from Rows(found.ids[0])                        # rows is an Array
        return rows @ problem.query

A driver (`breadth.drivers`) runs it against an oracle:

    scores = run(most_relevant(problem), ArrayOracle(vectors))

or runs many solvers in lockstep, so that requests of one kind share a scan, or awaits an asynchronous engine. So the
mathematics can be tested without an engine, and no engine can change the mathematics. By hand, the protocol is:

    solver = most_relevant(problem)
    request = next(solver)                                          # a Top
    request = solver.send(request.receive(request.ask(oracle)))     # a Rows
    solver.send(request.receive(request.ask(oracle)))               # raises StopIteration; its value is the result
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, NamedTuple, TypeAlias, TypeVar

import numpy as np

from breadth.arrays import Array, Ids, Vector
from breadth.errors import OracleError
from breadth.oracles.protocol import Reached

Answer = TypeVar("Answer")
Result = TypeVar("Result")

_BATCH_SCORES = 1 << 25
"""At most this many scores (128 MiB of float32) are held at once when `Scores` requests are batched."""


_MOSTLY = 0.75
"""Batched `Rows` requests fetch each row once unless more than this share of the rows differ from each other."""


class Found(NamedTuple):
    """What `Top` found: ids (b, m) and scores (b, m), largest score first. An engine may find fewer than m."""

    ids: Ids
    scores: Vector


class FoundRows(NamedTuple):
    """What `TopRows` found: as `Found`, with the rows (b, m, d)."""

    ids: Ids
    scores: Vector
    rows: Array


class Request(ABC, Generic[Answer]):
    """One question. `scans` says how often the whole collection is read for it."""

    scans: ClassVar[int] = 0

    @property
    def size(self) -> int:
        """The bytes of the question."""
        return count_bytes(tuple(self.__dict__.values()))

    def __iter__(self) -> Generator[Request[Any], Any, Answer]:
        """Ask: yield the request, return the answer that is sent."""
        answer: Answer = yield self
        return answer

    @abstractmethod
    def ask(self, oracle: Any) -> Any:
        """Put the question to an oracle. What it answers (an asynchronous one: an awaitable) goes to `receive`."""

    @abstractmethod
    def receive(self, answer: Any) -> Answer:
        """The engine's answer with its type, or an `OracleError` if it came back short, padded or in another shape."""

    @classmethod
    def ask_together(cls, requests: Sequence[Any], oracle: Any) -> list[Any]:
        """Put several questions of this kind at once."""
        return [request.ask(oracle) for request in requests]


Asking: TypeAlias = Generator[Request[Any], Any, Result]
"""A computation that asks an oracle on its way."""


@dataclass(frozen=True, eq=False)
class Top(Request[Found]):
    """The m best rows for each direction (b, d). One scan. An engine may find fewer, but not fewer than `least`."""

    directions: Array
    m: int
    least: int = 1
    scans: ClassVar[int] = 1

    def ask(self, oracle: Any) -> Any:
        return oracle.top(self.directions, self.m)

    def receive(self, answer: Any) -> Found:
        ids, scores = answer
        width = _count_found(self, "top", ids, scores, self.least)
        return Found(ids[:, :width], scores[:, :width])

    @classmethod
    def ask_together(cls, requests: Sequence[Top], oracle: Any) -> list[Any]:
        most = max(request.m for request in requests)
        ids, scores = oracle.top(np.concatenate([request.directions for request in requests]), most)
        parts = _parts([len(request.directions) for request in requests])
        return [(ids[p, : r.m], scores[p, : r.m]) for r, p in zip(requests, parts, strict=True)]


@dataclass(frozen=True, eq=False)
class TopRows(Request[FoundRows]):
    """The m best rows for each direction with their vectors, in one request. One scan. Needs a `RowsOracle`."""

    directions: Array
    m: int
    scans: ClassVar[int] = 1

    def ask(self, oracle: Any) -> Any:
        return oracle.top_rows(self.directions, self.m)

    def receive(self, answer: Any) -> FoundRows:
        ids, scores, rows = answer
        width = _count_found(self, "top_rows", ids, scores, 1)
        if np.ndim(rows) != 3 or np.shape(rows)[:2] != np.shape(ids):
            raise OracleError(
                f"the oracle's top_rows() answered with ids of shape {np.shape(ids)}, but rows of shape "
                f"{np.shape(rows)}"
            )
        return FoundRows(ids[:, :width], scores[:, :width], rows[:, :width])

    @classmethod
    def ask_together(cls, requests: Sequence[TopRows], oracle: Any) -> list[Any]:
        most = max(request.m for request in requests)
        answer = oracle.top_rows(np.concatenate([request.directions for request in requests]), most)
        parts = _parts([len(request.directions) for request in requests])
        return [tuple(array[p, : r.m] for array in answer) for r, p in zip(requests, parts, strict=True)]


@dataclass(frozen=True, eq=False)
class Rows(Request[Array]):
    """The rows with these ids: (len(ids), d)."""

    ids: Ids

    def ask(self, oracle: Any) -> Any:
        return oracle.rows(self.ids)

    def receive(self, answer: Any) -> Array:
        if np.ndim(answer) != 2 or len(answer) != len(self.ids):
            raise OracleError(f"the oracle's rows() was asked for {len(self.ids)} rows, got shape {np.shape(answer)}")
        received: Array = answer
        return received

    @classmethod
    def ask_together(cls, requests: Sequence[Rows], oracle: Any) -> list[Any]:
        first = requests[0].ids
        if all(np.array_equal(request.ids, first) for request in requests[1:]):
            return [oracle.rows(first)] * len(requests)
        every, parts = np.concatenate([request.ids for request in requests]), _parts([len(r.ids) for r in requests])
        unique, inverse = np.unique(every, return_inverse=True)
        if len(unique) > _MOSTLY * len(every):  # to fetch some rows twice takes less time than to copy all of them
            rows = oracle.rows(every)
            return [rows[part] for part in parts]
        rows = oracle.rows(unique)
        return [rows[inverse[part]] for part in parts]


@dataclass(frozen=True, eq=False)
class Mean(Request[Vector]):
    """The mean row (d,). Oracles keep it, so it is not counted as a scan."""

    def ask(self, oracle: Any) -> Any:
        return oracle.mean()

    def receive(self, answer: Any) -> Vector:
        if np.ndim(answer) != 1:
            raise OracleError(f"the oracle's mean() must return one vector, got shape {np.shape(answer)}")
        received: Vector = answer
        return received


@dataclass(frozen=True, eq=False)
class Scores(Request[Array]):
    """Inner products of all rows with each direction: (b, n). One scan. Needs a `ScoringOracle`."""

    directions: Array
    scans: ClassVar[int] = 1

    def ask(self, oracle: Any) -> Any:
        if not hasattr(oracle, "scores"):
            raise OracleError(
                f"this method needs the scores of all rows, which {type(oracle).__name__} does not give; "
                "pass pool= to run it on that many most relevant rows, or use an array"
            )
        return oracle.scores(self.directions)

    def receive(self, answer: Any) -> Array:
        if np.ndim(answer) != 2 or len(answer) != len(self.directions):
            raise OracleError(
                f"the oracle's scores() was asked for {len(self.directions)} directions, got shape {np.shape(answer)}"
            )
        received: Array = answer
        return received

    @classmethod
    def ask_together(cls, requests: Sequence[Scores], oracle: Any) -> list[Any]:
        answers: list[Any] = []
        together = max(1, _BATCH_SCORES // max(1, oracle.size))
        while len(answers) < len(requests):
            batch = requests[len(answers) : len(answers) + together]
            scores = Scores(np.concatenate([request.directions for request in batch])).ask(oracle)
            answers += [scores[part] for part in _parts([len(request.directions) for request in batch])]
        return answers


@dataclass(frozen=True, eq=False)
class Above(Request[list[Reached]]):
    """Every row above a threshold, for each direction: a `Reached` each. One scan. Needs a `ReachingOracle`.

    Where these are more than `most`, the better ones. `within` restricts the search to these ids; that is no scan.
    """

    directions: Array
    thresholds: Vector
    most: Ids
    within: Ids | None = None

    @property
    def scans(self) -> int:  # type: ignore[override]
        return 1 if self.within is None else 0

    def ask(self, oracle: Any) -> Any:
        return oracle.above(self.directions, self.thresholds, self.most, self.within)

    def receive(self, answer: Any) -> list[Reached]:
        if len(answer) != len(self.directions):
            raise OracleError(
                f"the oracle's above() was asked for {len(self.directions)} directions, got {len(answer)} answers"
            )
        received: list[Reached] = answer
        return received

    @classmethod
    def ask_together(cls, requests: Sequence[Above], oracle: Any) -> list[Any]:
        whole = [request for request in requests if request.within is None]
        shared = iter(())
        if whole:
            answers = Above(
                np.concatenate([request.directions for request in whole]),
                np.concatenate([request.thresholds for request in whole]),
                np.concatenate([request.most for request in whole]),
            ).ask(oracle)
            shared = iter([answers[part] for part in _parts([len(request.directions) for request in whole])])
        return [next(shared) if request.within is None else request.ask(oracle) for request in requests]


def count_bytes(value: Any) -> int:
    """The bytes of all arrays in a question or an answer."""
    if isinstance(value, np.ndarray):
        return int(value.nbytes)
    if isinstance(value, (tuple, list)):
        return sum(map(count_bytes, value))
    return count_bytes((value.ids, value.at_most)) if isinstance(value, Reached) else 0


def search_with_rows(directions: Array, m: int, gives_rows: bool) -> Asking[FoundRows]:
    """The m best rows for a single direction (1, d) with their vectors: one request if the engine has that, or two."""
    if gives_rows:
        return (yield from TopRows(directions, m))
    found = yield from Top(directions, m)
    rows = yield from Rows(found.ids[0])
    return FoundRows(found.ids, found.scores, rows[None])


def _count_found(request: Top | TopRows, name: str, ids: Any, scores: Any, least: int) -> int:
    """How many rows the engine found for every direction, at most m. An error if ids or scores are not well formed."""
    b, m = len(request.directions), request.m
    shape = np.shape(ids)
    if shape != np.shape(scores) or len(shape) != 2 or shape[0] != b or shape[1] > m:
        raise OracleError(
            f"the oracle's {name}() was asked for {m} rows for each of {b} directions, "
            f"but answered with ids of shape {shape} and scores of shape {np.shape(scores)}"
        )
    width = shape[1]
    ordered = np.sort(ids, axis=1)
    if ordered.size and (ordered.item(0) if b == 1 else ordered[:, 0].min()) < 0:
        missing = np.asarray(ids) < 0
        width = int(shape[1] - missing.sum(axis=1).max())
        if missing[:, :width].any():
            raise OracleError(f"the oracle's {name}() answered with a negative id; -1 may only fill the end of a line")
    repeated = ordered[:, 1:] == ordered[:, :-1]
    if repeated.any() and (repeated & (ordered[:, 1:] >= 0)).any():
        raise OracleError(f"the oracle's {name}() answered with the same id twice for one direction")
    if b and width < min(least, m):
        raise OracleError(
            f"the oracle's {name}() found {width} of the {m} rows it was asked for, and at least {min(least, m)} are "
            "needed; let the engine search further (nprobe, ef_search), or use the default method"
        )
    return int(width)


def _parts(lengths: Sequence[int]) -> list[slice]:
    """Where each of several pieces stands when they are put one after the other."""
    ends = np.cumsum(lengths).tolist()
    return [slice(end - length, end) for end, length in zip(ends, lengths, strict=True)]
