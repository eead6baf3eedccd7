"""Every oracle of this package, by name, with its traits.

The contract suite (`tests/oracles/test_contract.py`) tests everything that is listed here, and fails if a trait does
not match what the oracle can do. To add an oracle, write its file and list it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from breadth.arrays import Array
from breadth.oracles.array import ArrayOracle
from breadth.oracles.compact import CompactOracle
from breadth.oracles.protocol import Oracle
from breadth.oracles.segmented import SegmentedOracle
from breadth.oracles.torch import TorchOracle
from breadth.oracles.wrappers import AuditingOracle, CachingOracle, CountingOracle

_SEGMENTS = 3


@dataclass(frozen=True)
class OracleKind:
    """An oracle that can be built from an array, and what it can do.

    build          builds it from an (n, d) float32 array of unit rows
    description    what it is for, in one line
    exact          a search misses nothing
    scores_all     it has `scores`; see `ScoringOracle`
    reaches        it has `above`; see `ReachingOracle`
    takes_scores   it has `with_scores`; see `RelevanceOracle`
    extra          the extra to install, or None if NumPy is enough
    dtypes         the types of rows that it takes; it refuses others with an `InputError`
    """

    name: str
    build: Callable[[Array], Oracle]
    description: str
    exact: bool
    scores_all: bool
    reaches: bool
    takes_scores: bool
    extra: str | None = None
    dtypes: tuple[str, ...] = ("float16", "float32", "float64")


@dataclass(frozen=True)
class WrapperKind:
    """An oracle around another one. It is exact and has an ability if the other one is and has."""

    name: str
    wrap: Callable[[Oracle], Oracle]
    description: str


def _build_segmented(vectors: Array) -> SegmentedOracle:
    whole = CompactOracle.build(vectors)
    numbers = np.arange(whole.size, dtype=np.int64)
    return SegmentedOracle([whole.restricted(part) for part in np.array_split(numbers, _SEGMENTS)], numbers)


ORACLES: dict[str, OracleKind] = {
    kind.name: kind
    for kind in (
        OracleKind(
            name="array",
            build=ArrayOracle,
            description="an array in memory or memory-mapped; `select` builds it for an array",
            exact=True,
            scores_all=True,
            reaches=False,
            takes_scores=True,
        ),
        OracleKind(
            name="compact",
            build=CompactOracle.build,
            description="millions of rows, in memory or in a file: scans int8 codes, and answers exactly",
            exact=True,
            scores_all=False,
            reaches=True,
            takes_scores=True,
        ),
        OracleKind(
            name="segmented",
            build=_build_segmented,
            description="several compact oracles, or some of their rows, as one collection; an index uses it",
            exact=True,
            scores_all=False,
            reaches=True,
            takes_scores=True,
        ),
        OracleKind(
            name="torch",
            build=TorchOracle,
            description="a tensor on any device that PyTorch supports",
            exact=True,
            scores_all=True,
            reaches=False,
            takes_scores=True,
            extra="torch",
        ),
    )
}
"""The oracles that hold rows."""

WRAPPERS: dict[str, WrapperKind] = {
    kind.name: kind
    for kind in (
        WrapperKind("counting", CountingOracle, "counts what is asked of another oracle"),
        WrapperKind("caching", CachingOracle, "keeps what another oracle answered"),
        WrapperKind("auditing", AuditingOracle, "measures what the searches of an approximate engine missed"),
    )
}
"""The oracles that wrap another one."""
