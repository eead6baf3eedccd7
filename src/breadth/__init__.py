"""Diversity-aware retrieval: the k passages that are together relevant to the query and different."""

from breadth import metrics
from breadth.api import aselect, frontier, methods, select, select_many
from breadth.errors import BreadthError, InputError, MissingExtraError, OracleError, TooLargeError
from breadth.explanation import Explanation, Reason
from breadth.frontier import Frontier
from breadth.oracles import ArrayOracle, CachingOracle, CountingOracle, Oracle
from breadth.problem import Problem
from breadth.selection import Certificate, Selection

__version__ = "0.1.0"

__all__ = [
    "ArrayOracle",
    "BreadthError",
    "CachingOracle",
    "Certificate",
    "CountingOracle",
    "Explanation",
    "Frontier",
    "InputError",
    "MissingExtraError",
    "Oracle",
    "OracleError",
    "Problem",
    "Reason",
    "Selection",
    "TooLargeError",
    "__version__",
    "aselect",
    "frontier",
    "methods",
    "metrics",
    "select",
    "select_many",
]
