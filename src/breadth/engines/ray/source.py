"""Where a worker gets its rows from: an array that it is sent, or a file that it reads itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from breadth.arrays import Array
from breadth.checks import check_count, check_vectors
from breadth.errors import InputError
from breadth.oracles.compact import CompactOracle


@dataclass(frozen=True)
class Part:
    """Rows `start` … `stop` of an array, or of the file at `path`."""

    start: int
    stop: int
    path: str | None = None

    def open(self, rows: Array | None) -> CompactOracle:
        """Make an oracle of these rows; `rows` are they themselves, if they were sent."""
        if rows is not None:
            return CompactOracle.build(rows)
        assert self.path is not None
        if self.path.endswith(".npy"):
            return CompactOracle.build(np.load(self.path, mmap_mode="r")[self.start : self.stop])
        return CompactOracle.open(self.path).restricted(np.arange(self.start, self.stop))


def plan_parts(vectors: Any, shards: int | None, workers: int) -> tuple[list[Part], Array | None]:
    """Divide rows among shards. Return the parts, and the array that they are parts of unless they are in files.

    shards    how many; None for one for each worker, or for each file if there are several
    workers   how many workers the cluster has
    """
    if isinstance(vectors, (str, PathLike)):
        path = str(Path(vectors).resolve())
        return [Part(start, stop, path) for start, stop in _divide(_count_rows(path), shards, workers)], None
    if isinstance(vectors, Sequence) and vectors and all(isinstance(one, (str, PathLike)) for one in vectors):
        if shards not in (None, len(vectors)):
            raise InputError(f"shards: {len(vectors)} files are as many shards, got shards={shards}; leave it out")
        paths = [str(Path(one).resolve()) for one in vectors]
        return [Part(0, _count_rows(path), path) for path in paths], None
    array = check_vectors(vectors, "vectors")
    return [Part(start, stop) for start, stop in _divide(len(array), shards, workers)], array


def _divide(rows: int, shards: int | None, workers: int) -> list[tuple[int, int]]:
    count = min(workers, rows) if shards is None else check_count(shards, "shards")
    if count > rows:
        raise InputError(f"shards must be at most the number of rows ({rows}), got {count}")
    ends = [rows * number // count for number in range(count + 1)]
    return list(pairwise(ends))


def _count_rows(path: str) -> int:
    if not Path(path).is_file():
        raise InputError(f"vectors: there is no file {path}")
    if path.endswith(".npy"):
        return len(check_vectors(np.load(path, mmap_mode="r"), "vectors"))
    return CompactOracle.open(path).size
