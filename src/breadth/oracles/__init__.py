"""Collections of vectors that can be searched: the protocol, the exact NumPy oracle, and wrappers."""

from breadth.oracles.array import ArrayOracle
from breadth.oracles.compact import CompactOracle
from breadth.oracles.protocol import AsyncOracle, Facts, Oracle, RelevanceOracle, ScoringOracle, facts
from breadth.oracles.requests import Mean, Rows, Scores, Top
from breadth.oracles.wrappers import CachingOracle, CountingOracle

__all__ = [
    "ArrayOracle",
    "AsyncOracle",
    "CachingOracle",
    "CompactOracle",
    "CountingOracle",
    "Facts",
    "Mean",
    "Oracle",
    "RelevanceOracle",
    "Rows",
    "Scores",
    "ScoringOracle",
    "Top",
    "facts",
]
