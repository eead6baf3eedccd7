"""The questions a solver can yield. Each knows how to put itself, alone or many at once, to an oracle."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np

from breadth.errors import OracleError
from breadth.oracles.protocol import ScoringOracle
from breadth.problem import Array, Ids

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

    @staticmethod
    def ask_many(requests: Sequence[Mean], oracle: Any) -> list[Any]:
        return [oracle.mean()] * len(requests)


@dataclass(frozen=True, eq=False)
class Scores:
    """Inner products of all rows with each direction. Answer: (b, n). One scan; needs a `ScoringOracle`."""

    directions: Array
    scans: ClassVar[int] = 1

    def ask(self, oracle: Any) -> Any:
        if not isinstance(oracle, ScoringOracle):
            raise OracleError(
                f"this method needs the scores of all rows, which {type(oracle).__name__} does not give; "
                "pass pool=1000 to run it on the 1000 most relevant rows, or use an array"
            )
        return oracle.scores(self.directions)

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


Request: TypeAlias = "Top | Rows | Mean | Scores"
Asking: TypeAlias = Generator[Request, Any, Any]
"""A computation that asks an oracle on its way."""
