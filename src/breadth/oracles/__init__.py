"""Collections of vectors that can be searched: the protocols, the oracles and the registry that lists them."""

from breadth.engines.faiss import faiss
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
from breadth.oracles.registry import ORACLES, WRAPPERS, OracleKind, WrapperKind
from breadth.oracles.segmented import SegmentedOracle
from breadth.oracles.torch import TorchOracle
from breadth.oracles.wrappers import CachingOracle, CountingOracle

__all__ = [
    "ORACLES",
    "WRAPPERS",
    "ArrayOracle",
    "AsyncOracle",
    "BoundedOracle",
    "CachingOracle",
    "CompactOracle",
    "CountingOracle",
    "Facts",
    "Oracle",
    "OracleKind",
    "Reached",
    "ReachingOracle",
    "RelevanceOracle",
    "ScoringOracle",
    "SegmentedOracle",
    "TorchOracle",
    "WrapperKind",
    "describe",
    "faiss",
]
