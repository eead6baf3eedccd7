"""What a solver may ask of a collection of vectors. An adapter for a new engine implements `Oracle`, no more."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from breadth.arrays import Array, Ids, Vector
from breadth.checks import UNIT_TOLERANCE


@runtime_checkable
class Oracle(Protocol):
    """Maximum inner product search over `size` unit rows of `dim` coordinates.

    `top(directions (b, dim), m)` returns ids (b, m), int64 and different from each other in a row, and scores (b, m):
    the m rows with the largest inner product with each direction, largest first. Directions are not of unit length.
    `rows(ids)` returns (len(ids), dim) in the order of the ids. `exact` says whether `top` is guaranteed to miss
    nothing. Rows are checked (finite, unit length) when the oracle is made, not at every call.
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
    """Optional: the inner products of *all* rows, for methods that need them (MMR, DPP). Ids are 0 … size-1."""

    def scores(self, directions: Array) -> Array: ...


@dataclass(frozen=True, eq=False)
class Reached:
    """What a search by threshold found: `ids`, and for each of them a number that its score does not exceed.

    No other row scores above `ceiling`.
    """

    ids: Ids
    at_most: Array
    ceiling: float

    def above(self, threshold: float) -> Ids:
        """Every row that scores above a threshold, if that is not below the ceiling; perhaps some that come close."""
        return self.ids[self.at_most > threshold]


@runtime_checkable
class ReachingOracle(Oracle, Protocol):
    """Optional: searches by threshold, which settle in one pass whether any row outside a set could improve it. Ids are
    0 … size-1.

    `above(directions (b, dim), thresholds (b,), most (b,), within=None)`: for each direction all rows above its
    threshold; where they are more than `most`, about the better half of that number (and a ceiling above the
    threshold). `within`: among these ids only.
    """

    def above(self, directions: Array, thresholds: Vector, most: Ids, within: Ids | None = None) -> list[Reached]: ...


@runtime_checkable
class RelevanceOracle(Oracle, Protocol):
    """Optional: the same collection with outside relevance scores as one more coordinate of every row."""

    def with_scores(self, scores: Vector) -> Oracle: ...


@runtime_checkable
class BoundedOracle(Oracle, Protocol):
    """Optional: the largest |‖e_i‖² - 1| of all rows, for certificates as tight as the rows allow."""

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
    """What a solver knows of the collection before it asks anything."""

    size: int
    dim: int
    exact: bool
    scores_all: bool
    reaches: bool
    length_error: float

    @property
    def max_squared_norm(self) -> float:
        """The longest a row can be, squared."""
        return 1.0 + self.length_error


def describe(oracle: Oracle | AsyncOracle) -> Facts:
    """The facts of an oracle; rows of unknown length are taken to be as long as the tolerance allows."""
    # By name: asking a runtime protocol takes longer than some searches.
    error: float = getattr(oracle, "length_error", (1.0 + UNIT_TOLERANCE) ** 2 - 1.0)
    return Facts(
        size=oracle.size,
        dim=oracle.dim,
        exact=oracle.exact,
        scores_all=hasattr(oracle, "scores"),
        reaches=hasattr(oracle, "above"),
        length_error=error,
    )
