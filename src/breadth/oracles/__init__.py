"""Collections of vectors that can be searched: the protocols and the oracles."""

from breadth.oracles.array import ArrayOracle
from breadth.oracles.compact import CompactOracle
from breadth.oracles.protocol import (
    AsyncOracle,
    BoundedOracle,
    Facts,
    Oracle,
    Reached,
    ReachingOracle,
    RelevanceOracle,
    ScoringOracle,
    describe,
)
from breadth.oracles.segmented import SegmentedOracle
from breadth.oracles.torch import TorchOracle
from breadth.oracles.wrappers import CachingOracle, CountingOracle

__all__ = [
    "ArrayOracle",
    "AsyncOracle",
    "BoundedOracle",
    "CachingOracle",
    "CompactOracle",
    "CountingOracle",
    "Facts",
    "Oracle",
    "Reached",
    "ReachingOracle",
    "RelevanceOracle",
    "ScoringOracle",
    "SegmentedOracle",
    "TorchOracle",
    "describe",
]
