"""Diversity-aware retrieval: the k passages that are together relevant to the query and different."""

from breadth import metrics, oracles
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
from breadth.frontier import Frontier
from breadth.index import Document, Index
from breadth.opening import open
from breadth.oracles import ArrayOracle, CachingOracle, CompactOracle, CountingOracle, Oracle
from breadth.packing import pack
from breadth.problem import Problem
from breadth.selection import Certificate, Selection

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
