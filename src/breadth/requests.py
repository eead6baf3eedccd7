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


class Found(NamedTuple):
    """What `Top` found: ids (b, m) and scores (b, m), largest score first."""

    ids: Ids
    scores: Vector


class Request(ABC, Generic[Answer]):
    """One question. `scans` says how often the whole collection is read for it."""

    scans: ClassVar[int] = 0

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
    """The m best rows for each direction (b, d). One scan."""

    directions: Array
    m: int
    scans: ClassVar[int] = 1

    def ask(self, oracle: Any) -> Any:
        return oracle.top(self.directions, self.m)

    def receive(self, answer: Any) -> Found:
        ids, scores = answer
        wanted = (len(self.directions), self.m)
        if np.shape(ids) != wanted or np.shape(scores) != wanted:
            raise OracleError(
                f"the oracle's top() was asked for {wanted[1]} rows for each of {wanted[0]} directions, "
                f"but answered with ids of shape {np.shape(ids)} and scores of shape {np.shape(scores)}"
            )
        ordered = np.sort(ids, axis=1)
        if ordered.size and (ordered[:, 0].min() < 0 or (ordered[:, 1:] == ordered[:, :-1]).any()):
            raise OracleError(
                "the oracle's top() answered with a negative id, or with the same id twice for one direction; "
                "does its engine hold fewer rows than it says, or return fewer than it was asked for?"
            )
        return Found(ids, scores)

    @classmethod
    def ask_together(cls, requests: Sequence[Top], oracle: Any) -> list[Any]:
        most = max(request.m for request in requests)
        ids, scores = oracle.top(np.concatenate([request.directions for request in requests]), most)
        parts = _parts([len(request.directions) for request in requests])
        return [(ids[p, : r.m], scores[p, : r.m]) for r, p in zip(requests, parts, strict=True)]


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
        unique, inverse = np.unique(np.concatenate([request.ids for request in requests]), return_inverse=True)
        rows = oracle.rows(unique)
        return [rows[inverse[part]] for part in _parts([len(request.ids) for request in requests])]


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


def _parts(lengths: Sequence[int]) -> list[slice]:
    """Where each of several pieces stands when they are put one after the other."""
    ends = np.cumsum(lengths).tolist()
    return [slice(end - length, end) for end, length in zip(ends, lengths, strict=True)]
