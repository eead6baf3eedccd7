"""What a solver may ask of a collection of vectors. An adapter for a new engine implements `Oracle`, no more."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from breadth.checks import UNIT_TOLERANCE
from breadth.problem import Array, Ids, Vector


@runtime_checkable
class Oracle(Protocol):
    """Maximum inner product search over `size` unit rows of `dim` coordinates.

    `top` returns the m rows with the largest inner product with each direction, largest first. Directions are
    not of unit length. `exact` says whether `top` is guaranteed to miss nothing. Rows are checked (finite,
    unit length) when the oracle is made, not at every call.
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


@runtime_checkable
class RelevanceOracle(Oracle, Protocol):
    """Optional: the same collection with outside relevance scores as one more coordinate of every row."""

    def with_scores(self, scores: Vector) -> Oracle: ...


@runtime_checkable
class BoundedOracle(Oracle, Protocol):
    """Optional: the largest squared length of a row, for certificates as tight as the rows allow."""

    @property
    def max_squared_norm(self) -> float: ...


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
    max_squared_norm: float


def facts(oracle: Oracle | AsyncOracle) -> Facts:
    """The facts of an oracle; rows of unknown length are taken to be as long as the tolerance allows."""
    longest = (1.0 + UNIT_TOLERANCE) ** 2
    if isinstance(oracle, BoundedOracle):
        longest = oracle.max_squared_norm
    return Facts(
        size=oracle.size,
        dim=oracle.dim,
        exact=oracle.exact,
        scores_all=isinstance(oracle, ScoringOracle),
        max_squared_norm=longest,
    )
