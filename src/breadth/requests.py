"""The questions a solver can yield. Each knows how to put itself, alone or many at once, to an oracle."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np

from breadth.errors import OracleError
from breadth.oracles.protocol import Reached
from breadth.problem import Array, Ids, Vector

_BATCH_SCORES = 1 << 25
"""At most this many scores (128 MiB of float32) are held at once when `Scores` requests are batched."""


@dataclass(frozen=True, eq=False)
class Top:
    """The m best rows for each direction (b, d). Answer: ids (b, m), scores (b, m). One scan."""

    directions: Array
    m: int
    scans: ClassVar[int] = 1

    def ask(self, oracle: Any) -> Any:
        return oracle.top(self.directions, self.m)

    def check(self, answer: Any) -> None:
        """Ids and scores of the right shape, ids different from each other: engines can come back short or padded."""
        ids, scores = answer
        wanted = (len(self.directions), self.m)
        if np.shape(ids) != wanted or np.shape(scores) != wanted:
            raise OracleError(
                f"the oracle's top() was asked for {wanted[1]} rows for each of {wanted[0]} directions, "
                f"but answered with ids of shape {np.shape(ids)} and scores of shape {np.shape(scores)}"
            )
        ordered = np.sort(ids, axis=1)
        if ordered.size and (ordered[:, 0].min() < 0 or (ordered[:, 1:] == ordered[:, :-1]).any()):
            raise OracleError("the oracle's top() answered with an id that is negative or stands twice in a row")

    @staticmethod
    def ask_many(requests: Sequence[Top], oracle: Any) -> list[Any]:
        ids, scores = oracle.top(np.concatenate([r.directions for r in requests]), max(r.m for r in requests))
        ends = np.cumsum([len(r.directions) for r in requests])
        return [
            (ids[end - len(r.directions) : end, : r.m], scores[end - len(r.directions) : end, : r.m])
            for r, end in zip(requests, ends, strict=True)
        ]


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows with these ids. Answer: (len(ids), d)."""

    ids: Ids
    scans: ClassVar[int] = 0

    def ask(self, oracle: Any) -> Any:
        return oracle.rows(self.ids)

    def check(self, answer: Any) -> None:
        """One row for each id."""
        if np.ndim(answer) != 2 or len(answer) != len(self.ids):
            raise OracleError(f"the oracle's rows() was asked for {len(self.ids)} rows, got shape {np.shape(answer)}")

    @staticmethod
    def ask_many(requests: Sequence[Rows], oracle: Any) -> list[Any]:
        unique, inverse = np.unique(np.concatenate([r.ids for r in requests]), return_inverse=True)
        rows = oracle.rows(unique)
        ends = np.cumsum([len(r.ids) for r in requests])
        return [rows[inverse[end - len(r.ids) : end]] for r, end in zip(requests, ends, strict=True)]


@dataclass(frozen=True, eq=False)
class Mean:
    """The mean row. Answer: (d,). Oracles keep it, so it is not counted as a scan."""

    scans: ClassVar[int] = 0

    def ask(self, oracle: Any) -> Any:
        return oracle.mean()

    def check(self, answer: Any) -> None:
        """One vector."""
        if np.ndim(answer) != 1:
            raise OracleError(f"the oracle's mean() must return one vector, got shape {np.shape(answer)}")

    @staticmethod
    def ask_many(requests: Sequence[Mean], oracle: Any) -> list[Any]:
        return [oracle.mean()] * len(requests)


@dataclass(frozen=True, eq=False)
class Scores:
    """Inner products of all rows with each direction. Answer: (b, n). One scan; needs a `ScoringOracle`."""

    directions: Array
    scans: ClassVar[int] = 1

    def ask(self, oracle: Any) -> Any:
        if not hasattr(oracle, "scores"):
            raise OracleError(
                f"this method needs the scores of all rows, which {type(oracle).__name__} does not give; "
                "pass pool= to run it on that many most relevant rows, or use an array"
            )
        return oracle.scores(self.directions)

    def check(self, answer: Any) -> None:
        """One row of scores for each direction."""
        if np.ndim(answer) != 2 or len(answer) != len(self.directions):
            raise OracleError(
                f"the oracle's scores() was asked for {len(self.directions)} directions, got shape {np.shape(answer)}"
            )

    @staticmethod
    def ask_many(requests: Sequence[Scores], oracle: Any) -> list[Any]:
        answers: list[Any] = []
        together = max(1, _BATCH_SCORES // max(1, oracle.size))
        while len(answers) < len(requests):
            batch = list(requests[len(answers) : len(answers) + together])
            scores = Scores(np.concatenate([r.directions for r in batch])).ask(oracle)
            ends = np.cumsum([len(r.directions) for r in batch])
            answers += [scores[end - len(r.directions) : end] for r, end in zip(batch, ends, strict=True)]
        return answers


@dataclass(frozen=True, eq=False)
class Above:
    """Every row above a threshold, for each direction. Answer: a list of `Reached`. One scan; needs a `ReachingOracle`.

    Where they are more than `most`, the better ones. `within`: only among these ids.
    """

    directions: Array
    thresholds: Vector
    most: Ids
    within: Ids | None = None

    @property
    def scans(self) -> int:
        return 1 if self.within is None else 0

    def ask(self, oracle: Any) -> list[Reached]:
        found: list[Reached] = oracle.above(self.directions, self.thresholds, self.most, self.within)
        return found

    def check(self, answer: Any) -> None:
        """One answer for each direction."""
        if len(answer) != len(self.directions):
            raise OracleError(
                f"the oracle's above() was asked for {len(self.directions)} directions, got {len(answer)} answers"
            )

    @staticmethod
    def ask_many(requests: Sequence[Above], oracle: Any) -> list[Any]:
        whole = [r for r in requests if r.within is None]
        shared: list[Reached] = []
        if whole:
            shared = Above(
                np.concatenate([r.directions for r in whole]),
                np.concatenate([r.thresholds for r in whole]),
                np.concatenate([r.most for r in whole]),
            ).ask(oracle)
        ends = dict(zip(map(id, whole), np.cumsum([len(r.directions) for r in whole]).tolist(), strict=True))
        return [
            r.ask(oracle) if r.within is not None else shared[ends[id(r)] - len(r.directions) : ends[id(r)]]
            for r in requests
        ]


def answered(asking: Asking, oracle: Any) -> Any:
    """What a computation returns when an oracle at hand answers all its questions."""
    answer = None
    while True:
        try:
            request = asking.send(answer)
        except StopIteration as stop:
            return stop.value
        answer = request.ask(oracle)


def answered_together(askings: Sequence[Asking], oracle: Any) -> list[Any]:
    """`answered` for several, in lockstep: questions of one kind share a scan."""
    results: list[Any] = [None] * len(askings)
    waiting: dict[int, Any] = dict.fromkeys(range(len(askings)))
    while waiting:
        kinds: dict[type, list[tuple[int, Any]]] = {}
        for place, answer in waiting.items():
            try:
                request = askings[place].send(answer)
                kinds.setdefault(type(request), []).append((place, request))
            except StopIteration as stop:
                results[place] = stop.value
        waiting = {}
        for kind, group in kinds.items():
            answers = kind.ask_many([request for _, request in group], oracle)  # type: ignore[attr-defined]
            waiting.update(zip((place for place, _ in group), answers, strict=True))
    return results


Request: TypeAlias = "Top | Rows | Mean | Scores | Above"
Asking: TypeAlias = Generator[Request, Any, Any]
"""A computation that asks an oracle on its way."""
