"""Collections of vectors that can be searched: the protocol, the exact oracles and the wrappers."""

from breadth.oracles.array import ArrayOracle
from breadth.oracles.compact import CompactOracle
from breadth.oracles.protocol import (
    AsyncOracle,
    Facts,
    Oracle,
    Reached,
    ReachingOracle,
    RelevanceOracle,
    ScoringOracle,
    describe,
)
from breadth.oracles.torch import TorchOracle
from breadth.oracles.wrappers import CachingOracle, CountingOracle

__all__ = [
    "ArrayOracle",
    "AsyncOracle",
    "CachingOracle",
    "CompactOracle",
    "CountingOracle",
    "Facts",
    "Oracle",
    "Reached",
    "ReachingOracle",
    "RelevanceOracle",
    "ScoringOracle",
    "TorchOracle",
    "describe",
]
