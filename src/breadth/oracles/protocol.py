"""What a solver may ask of a collection of vectors.

An adapter for a new engine implements `Oracle`. Each of the other protocols is one optional ability: an oracle has it
if it has the method. `breadth.testing.check_oracle` checks these promises; the tests run it on every oracle in
`registry.py` and on every engine in `breadth/engines/registry.py`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

from breadth.arrays import Array, Ids, Vector
from breadth.checks import UNIT_TOLERANCE

Keys: TypeAlias = npt.NDArray[np.object_]
"""The ids that an engine itself gives its rows: texts, UUIDs, numbers of any size."""


@runtime_checkable
class Oracle(Protocol):
    """Maximum inner product search over `size` unit rows of `dim` coordinates.

    `top(directions (b, dim), m)` finds, for each direction, the m rows with the largest inner products. It returns
    their ids, an int64 array (b, m) in which no line repeats an id, and their scores (b, m), largest first.
    Directions may have any length, zero included. Where an engine finds fewer than m rows, the arrays have fewer
    columns, or the id -1 fills the rest of a line. No row has a negative id.
    `rows(ids)` returns the rows (len(ids), dim) in the order of the ids; an id may occur more than once.
    `mean()` returns the mean row (dim,).
    `exact` says whether `top` is guaranteed to miss nothing.

    An oracle checks its rows (finite, unit length) when it is built, not at every call. Several threads may ask it at
    the same time.
    """

    @property
    def size(self) -> int: ...
    @property
    def dim(self) -> int: ...
    @property
    def exact(self) -> bool: ...
    def top(self, directions: Array, m: int) -> tuple[Ids, Vector]: ...
    def rows(self, ids: Ids) -> Array: ...
    def mean(self) -> Vector: ...


@runtime_checkable
class ScoringOracle(Oracle, Protocol):
    """Optional: `scores(directions (b, dim))` returns the inner products of *all* rows (b, size). Ids are 0 … size-1.

    Some methods need them (MMR, DPP).
    """

    def scores(self, directions: Array) -> Array: ...


@dataclass(frozen=True, eq=False)
class Reached:
    """The result of a search by threshold for one direction.

    ids       the rows that were found
    at_most   for each of these rows, an upper bound on its score
    ceiling   no other row scores above this
    """

    ids: Ids
    at_most: Array
    ceiling: float

    def above(self, threshold: float) -> Ids:
        """Return every row that scores above a threshold, provided that this is not below the ceiling.

        Some rows that score slightly less may be among them.
        """
        return self.ids[self.at_most > threshold]


@runtime_checkable
class ReachingOracle(Oracle, Protocol):
    """Optional: search by threshold. One pass then settles whether any row outside a set could improve it.

    `above(directions (b, dim), thresholds (b,), most (b,), within=None)` finds, for each direction, all rows that score
    above its threshold; the ceiling is then the threshold. Where their number comes close to `most` or exceeds it, only
    the better ones are returned, about half of `most`, and the ceiling is higher. `within` restricts the search to
    these ids, given in increasing order. Ids are 0 … size-1.
    """

    def above(self, directions: Array, thresholds: Vector, most: Ids, within: Ids | None = None) -> list[Reached]: ...


@runtime_checkable
class RelevanceOracle(Oracle, Protocol):
    """Optional: `with_scores(scores (size,))` returns an oracle over the same rows with one more coordinate.

    That coordinate is the relevance of each row as given from outside, for example by a reranker. Calling it again
    replaces the coordinate.
    """

    def with_scores(self, scores: Vector) -> Oracle: ...


@runtime_checkable
class RowsOracle(Oracle, Protocol):
    """Optional: the rows come with the ids in one request.

    `top_rows(directions (b, dim), m)` returns what `top` returns, and the rows (b, m, dim).
    """

    def top_rows(self, directions: Array, m: int) -> tuple[Ids, Vector, Array]: ...


@runtime_checkable
class LimitedOracle(Oracle, Protocol):
    """Optional: `limit`, the most rows that one search returns; None if there is no limit."""

    @property
    def limit(self) -> int | None: ...


@runtime_checkable
class KeyedOracle(Oracle, Protocol):
    """Optional: the engine's own ids ("keys") are not whole numbers from 0 on, so its rows have handles as well.

    Solvers see handles alone, which are int64 numbers from 0 on. `breadth.select` takes and returns keys.
    `keys(ids)` returns the keys of rows that the oracle has returned or was asked for, as an array of objects.
    `handles(keys)` returns the handles of rows, whether they are in the collection or not. The handle of a key never
    changes.
    """

    def keys(self, ids: Ids) -> Keys: ...
    def handles(self, keys: Iterable[Any]) -> Ids: ...


@dataclass(frozen=True)
class Payload:
    """What an engine holds beside a vector: the text, if there is one, and metadata."""

    text: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


@runtime_checkable
class PayloadOracle(Oracle, Protocol):
    """Optional: `documents(ids)` returns the text and the metadata of rows, in the order of the ids."""

    def documents(self, ids: Ids) -> Sequence[Payload]: ...


@runtime_checkable
class FilteredOracle(Oracle, Protocol):
    """Optional: `filtered(where)` returns an oracle over the rows whose metadata fulfil a condition.

    `where` is a filter as `breadth.filters` describes it. `size` of the new oracle is the number of these rows, which
    can be 0, and its own `where` is the filter. Filtering again adds a condition to the first. Where fewer than k rows
    are left, `breadth.select` chooses all of them.
    """

    def filtered(self, where: Mapping[str, Any]) -> Oracle: ...


@runtime_checkable
class AuditedOracle(Oracle, Protocol):
    """Optional, for an engine that is not exact: `exact_top` is `top` by a scan of the engine that misses nothing.

    `select(…, audit=True)` measures with it what the searches of a query missed.
    """

    def exact_top(self, directions: Array, m: int) -> tuple[Ids, Vector]: ...


@runtime_checkable
class BoundedOracle(Oracle, Protocol):
    """Optional: `length_error`, the largest |‖e_i‖² - 1| of all rows. Certificates are then as tight as rows allow."""

    @property
    def length_error(self) -> float: ...


@runtime_checkable
class AsyncOracle(Protocol):
    """`Oracle` with coroutines, for engines with an asynchronous client."""

    @property
    def size(self) -> int: ...
    @property
    def dim(self) -> int: ...
    @property
    def exact(self) -> bool: ...
    def top(self, directions: Array, m: int) -> Awaitable[tuple[Ids, Vector]]: ...
    def rows(self, ids: Ids) -> Awaitable[Array]: ...
    def mean(self) -> Awaitable[Vector]: ...


@dataclass(frozen=True)
class Facts:
    """What a solver knows about a collection before it asks anything.

    scores_all     the oracle is a `ScoringOracle`
    reaches        the oracle is a `ReachingOracle`
    length_error   no |‖e_i‖² - 1| is larger than this
    gives_rows     the oracle is a `RowsOracle`
    limit          the most rows that one search returns, or None
    """

    size: int
    dim: int
    exact: bool
    scores_all: bool
    reaches: bool
    length_error: float
    gives_rows: bool = False
    limit: int | None = None

    @property
    def most_rows(self) -> int:
        """How many rows a search can return."""
        return self.size if self.limit is None else min(self.limit, self.size)

    @property
    def max_squared_norm(self) -> float:
        """An upper bound on ‖e_i‖² over all rows."""
        return 1.0 + self.length_error


def describe(oracle: Oracle | AsyncOracle) -> Facts:
    """Return the facts of an oracle. If it has no `length_error`, assume the largest that the checks let through."""
    # The attributes are looked up by name: isinstance with a runtime protocol takes longer than some searches.
    error: float = getattr(oracle, "length_error", (1.0 + UNIT_TOLERANCE) ** 2 - 1.0)
    return Facts(
        size=oracle.size,
        dim=oracle.dim,
        exact=oracle.exact,
        scores_all=hasattr(oracle, "scores"),
        reaches=hasattr(oracle, "above"),
        length_error=error,
        gives_rows=hasattr(oracle, "top_rows"),
        limit=getattr(oracle, "limit", None),
    )
