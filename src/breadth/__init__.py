"""Diversity-aware retrieval: the k passages that are together relevant to the query and different."""

from typing import TYPE_CHECKING

from breadth.api import aselect, frontier, methods, select, select_many
from breadth.errors import (
    BreadthError,
    ContractError,
    EncoderError,
    EngineError,
    InputError,
    MissingExtraError,
    OracleError,
    StoreError,
    TooLargeError,
)
from breadth.explanation import Explanation, Reason
from breadth.lazy import look_up
from breadth.oracles.array import ArrayOracle
from breadth.problem import Problem
from breadth.selection import Certificate, Selection

if TYPE_CHECKING:
    from breadth import metrics, oracles
    from breadth.curve import Frontier
    from breadth.index import Document, Index
    from breadth.opening import open
    from breadth.oracles.compact import CompactOracle
    from breadth.oracles.protocol import Oracle
    from breadth.oracles.wrappers import CachingOracle, CountingOracle
    from breadth.packing import pack

__version__ = "0.2.0"

__all__ = [
    "ArrayOracle",
    "BreadthError",
    "CachingOracle",
    "Certificate",
    "CompactOracle",
    "ContractError",
    "CountingOracle",
    "Document",
    "EncoderError",
    "EngineError",
    "Explanation",
    "Frontier",
    "Index",
    "InputError",
    "MissingExtraError",
    "Oracle",
    "OracleError",
    "Problem",
    "Reason",
    "Selection",
    "StoreError",
    "TooLargeError",
    "__version__",
    "aselect",
    "frontier",
    "methods",
    "metrics",
    "open",
    "oracles",
    "pack",
    "select",
    "select_many",
]

# What `select` does not need is imported when it is used.
__getattr__ = look_up(
    __name__,
    {
        "CachingOracle": "breadth.oracles.wrappers",
        "CompactOracle": "breadth.oracles.compact",
        "CountingOracle": "breadth.oracles.wrappers",
        "Document": "breadth.index",
        "Frontier": "breadth.curve",
        "Index": "breadth.index",
        "Oracle": "breadth.oracles.protocol",
        "metrics": "breadth.metrics",
        "open": "breadth.opening",
        "oracles": "breadth.oracles",
        "pack": "breadth.packing",
    },
)


def __dir__() -> list[str]:
    return __all__
