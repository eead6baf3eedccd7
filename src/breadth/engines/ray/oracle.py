"""Ask all shards of a matrix, and join their answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from breadth.arrays import Array, Ids, Vector
from breadth.checks import check_count, check_number
from breadth.engines.ray.shard import Shard, ShardFacts
from breadth.engines.ray.source import Part, plan_parts
from breadth.errors import BreadthError, EngineError, InputError, MissingExtraError
from breadth.oracles.joining import Numbering, join_above, join_means, join_rows, join_top
from breadth.oracles.protocol import Reached

_STARTING_SECONDS = 300.0
"""The least time that workers have to start and to read their rows."""
_SPARE = 16
"""Vectors that a shard sends beyond its share of the best rows, so that rows seldom have to be asked for again."""


def ray(
    vectors: Any,
    *,
    shards: int | None = None,
    cpus: float = 1.0,
    restarts: int = 3,
    timeout: float = 60.0,
    address: str | None = None,
) -> RayOracle:
    """Divide an (n, d) matrix of unit rows among the workers of a Ray cluster.

    vectors    an array; or a file that every worker can read, `.npy` or of a `CompactOracle`; or a list of such files,
               one for each shard. An array is sent to the workers, and must fit the cluster's memory.
    shards     how many workers hold a part each; the default is one for each CPU of the cluster, or for each file
    cpus       CPUs that a worker reserves, and threads that it scans with
    restarts   how often a worker that has died is started again. It reads its rows again, and the searches that it
               owed are asked again.
    timeout    seconds that an answer may take, with restarts
    address    the cluster to join, for example "auto"; the default is the one that this process has joined with
               `ray.init()`. breadth never starts a cluster, because Ray's ports listen on every address.
    """
    package = _import_ray()
    limit = check_number(timeout, "timeout", 0.001, 1e6)
    if not package.is_initialized():
        if address is None:
            raise InputError("address: this process has joined no Ray cluster; call ray.init(), or pass address='auto'")
        try:
            package.init(address=address)
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise EngineError(f"Ray: cannot join the cluster at {address!r}: {error}") from error
    share = check_number(cpus, "cpus", 0.001)
    workers = max(1, int(package.cluster_resources().get("CPU", 1) // share))
    parts, array = plan_parts(vectors, shards, workers)
    sent = [None if array is None else package.put(np.asarray(array[part.start : part.stop])) for part in parts]
    attempts = 0 if restarts == 0 else check_count(restarts, "restarts")
    started = _start(package, parts, sent, share, attempts)
    try:
        return RayOracle(package, started, sent, limit)
    except BaseException:
        for shard in started:
            package.kill(shard)
        raise


class RayOracle:
    """A matrix over the workers of a Ray cluster. Searches are exact. Threads may ask at the same time.

    If a worker dies, the search is answered after it has been started again, or ends with an `EngineError`: an answer
    is never without the rows of one shard.
    """

    exact = True
    limit = None

    def __init__(self, package: Any, shards: Sequence[Any], sent: Sequence[Any], timeout: float) -> None:
        self._package, self._shards, self._timeout, self._closed = package, shards, timeout, False
        self._sent = sent  # Ray forgets rows that nobody holds, and a worker that is started again needs its own
        facts = self._read_facts(max(timeout, _STARTING_SECONDS))
        dims = {fact.dim for fact in facts}
        if len(dims) > 1:
            raise InputError(f"vectors: the files have rows of different dimensions: {sorted(dims)}")
        self.dim = dims.pop()
        self.length_error = max(fact.length_error for fact in facts)
        self._numbering = Numbering.of([fact.size for fact in facts])
        self._mean: Vector | None = None

    @property
    def size(self) -> int:
        return self._numbering.size

    def close(self) -> None:
        """End the workers. The cluster goes on."""
        if not self._closed:
            self._closed = True
            self._sent = ()
            for shard in self._shards:
                self._package.kill(shard)

    def __enter__(self) -> RayOracle:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def top(self, directions: Array, m: int) -> tuple[Ids, Vector]:
        """Return the m best rows for each direction: the best among the best of all shards. Ties go to the lower id."""
        found = self._ask([shard.top.remote(directions, m) for shard in self._shards])
        return join_top(found, self._numbering, m)

    def top_rows(self, directions: Array, m: int) -> tuple[Ids, Vector, Array]:
        """Return the m best rows for each direction with their vectors.

        Each shard sends the vectors of the rows that are probably among the m best of all. What is missing then takes
        a second round.
        """
        most = share_of_vectors(m, len(self._shards))
        found = self._ask([shard.top_rows.remote(directions, m, most) for shard in self._shards])
        ids, scores = join_top([answer[:2] for answer in found], self._numbering, m)
        sent = np.concatenate([answer[0][:, :most] + start for answer, start in self._with_starts(found)], axis=1)
        vectors = np.concatenate([answer[2] for answer in found], axis=1)
        return ids, scores, self._pick(ids, sent, vectors)

    def above(self, directions: Array, thresholds: Vector, most: Ids, within: Ids | None = None) -> list[Reached]:
        """Return what all shards find together; see `ReachingOracle`."""
        inside = [self._numbering.inside(number, within) for number in range(len(self._shards))]
        asked = zip(self._shards, inside, strict=True)
        answers = self._ask([shard.above.remote(directions, thresholds, most, own) for shard, own in asked])
        return join_above(answers, self._numbering)

    def rows(self, ids: Ids) -> Array:
        """Return the rows with these ids in full precision, in the order of the ids."""

        def fetch(asked: list[tuple[int, Ids]]) -> list[Array]:
            rows: list[Array] = self._ask([self._shards[part].rows.remote(own) for part, own in asked])
            return rows

        return join_rows(ids, self._numbering, self.dim, fetch)

    def mean(self) -> Vector:
        """Return the mean row."""
        if self._mean is None:
            self._mean = join_means(self._ask([shard.mean.remote() for shard in self._shards]), self._numbering)
        return self._mean

    def processes(self) -> list[int]:
        """Return the process of each worker, for those who look after the cluster."""
        return [fact.process for fact in self._read_facts(self._timeout)]

    def _read_facts(self, seconds: float) -> list[ShardFacts]:
        facts: list[ShardFacts] = self._ask([shard.facts.remote() for shard in self._shards], seconds)
        return facts

    def _with_starts(self, found: list[Any]) -> list[tuple[Any, int]]:
        return list(zip(found, self._numbering.starts[:-1].tolist(), strict=True))

    def _pick(self, ids: Ids, sent: Ids, vectors: Array) -> Array:
        """The vectors of rows (b, m), among those that were sent; the others are asked for."""
        out = np.empty((*ids.shape, self.dim), dtype=np.float32)
        missing = np.zeros(ids.shape, dtype=bool)
        for line, (wanted, known, rows) in enumerate(zip(ids, sent, vectors, strict=True)):
            order = np.argsort(known)
            places = order[np.minimum(np.searchsorted(known, wanted, sorter=order), len(known) - 1)]
            missing[line] = known[places] != wanted
            out[line] = rows[places]
        if missing.any():
            out[missing] = self.rows(ids[missing])
        return out

    def _ask(self, asked: list[Any], seconds: float | None = None) -> Any:
        """Wait for the answers of all shards. One that is missing is an error."""
        limit = self._timeout if seconds is None else seconds
        if self._closed:
            raise EngineError("Ray: this oracle was closed")
        errors = self._package.exceptions
        try:
            return self._package.get(asked, timeout=limit)
        except errors.GetTimeoutError as error:
            free = self._package.available_resources().get("CPU", 0)
            raise EngineError(
                f"Ray: {len(asked)} shards did not all answer within {limit:g} seconds; {free:g} CPUs are free now"
            ) from error
        except errors.RayTaskError as error:
            raise error.cause if isinstance(error.cause, BreadthError) else EngineError(f"Ray: {error}") from error
        except errors.RayError as error:
            raise EngineError(f"Ray: a shard is lost, so the search has no complete answer: {error}") from error


def share_of_vectors(m: int, shards: int) -> int:
    """Return how many vectors each shard sends with its m best rows: twice its share of them, and some more."""
    return min(m, 2 * -(-m // shards) + _SPARE)


def _start(package: Any, parts: list[Part], sent: Sequence[Any], cpus: float, restarts: int) -> list[Any]:
    """Start a worker for each part. A search that a dead worker owed is asked of it again once it is back."""
    worker = package.remote(Shard).options(
        num_cpus=cpus,
        max_restarts=restarts,
        max_task_retries=restarts,
    )
    threads = max(1, round(cpus))
    return [worker.remote(part, rows, threads) for part, rows in zip(parts, sent, strict=True)]


def _import_ray() -> Any:
    try:
        import ray as package
    except ImportError:
        raise MissingExtraError("ray", "ray") from None
    return package
