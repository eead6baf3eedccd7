"""What a worker holds: some of the rows, scanned with the compact kernel."""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np

from breadth.arrays import Array, Ids, Vector
from breadth.engines.ray.source import Part
from breadth.errors import BreadthError, InputError
from breadth.oracles.compact import CompactOracle
from breadth.oracles.protocol import Reached


@dataclass(frozen=True)
class ShardFacts:
    """What the oracle must know of a shard. `process` is the worker, for those who look after the cluster."""

    size: int
    dim: int
    length_error: float
    process: int


class Shard:
    """Rows of one worker. Its ids count these rows from 0.

    Rows that cannot be served are an error of every answer, not of the constructor: Ray would start the worker again.
    """

    def __init__(self, part: Part, rows: Array | None, threads: int) -> None:
        os.environ["BREADTH_NUM_THREADS"] = str(threads)
        self._held: CompactOracle | None = None
        self._problem = ""
        try:
            self._held = part.open(rows)
        except (BreadthError, OSError, ValueError) as error:
            self._problem = f"the shard of the rows {part.start} to {part.stop - 1}: {error}"

    @property
    def _oracle(self) -> CompactOracle:
        if self._held is None:
            raise InputError(self._problem)
        return self._held

    def facts(self) -> ShardFacts:
        return ShardFacts(self._oracle.size, self._oracle.dim, self._oracle.length_error, os.getpid())

    def top(self, directions: Array, m: int) -> tuple[Ids, Vector]:
        return self._oracle.top(directions, min(m, self._oracle.size))

    def top_rows(self, directions: Array, m: int, most: int) -> tuple[Ids, Vector, Array]:
        """The m best rows for each direction, with the vectors of the best `most` of them."""
        ids, scores = self.top(directions, m)
        sent = ids[:, :most]
        return ids, scores, self._oracle.rows(sent.ravel()).reshape(*sent.shape, self._oracle.dim)

    def above(self, directions: Array, thresholds: Vector, most: Ids, within: Ids | None) -> list[Reached]:
        return self._oracle.above(directions, thresholds, most, within)

    def rows(self, ids: Ids) -> Array:
        return self._oracle.rows(np.asarray(ids))

    def mean(self) -> Vector:
        return self._oracle.mean()
