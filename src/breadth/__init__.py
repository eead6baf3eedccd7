"""Diversity-aware retrieval: the k passages that are together relevant to the query and different from each other."""

from breadth import metrics
from breadth.api import methods, select
from breadth.errors import BreadthError, InputError, MissingExtraError, OracleError, TooLargeError
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
    "InputError",
    "MissingExtraError",
    "Oracle",
    "OracleError",
    "Problem",
    "Selection",
    "TooLargeError",
    "__version__",
    "methods",
    "metrics",
    "select",
]
