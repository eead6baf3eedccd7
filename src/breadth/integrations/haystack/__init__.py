"""Haystack (extra `haystack`): a ranker and a retriever, as components.

documents.py   Haystack's documents, and how components are serialised
filters.py     Haystack's filters as filters of breadth
ranker.py      `BreadthRanker`
retriever.py   `BreadthRetriever`
stores.py      the document stores that can be searched as a whole
"""

from breadth.errors import MissingExtraError

try:
    from breadth.integrations.haystack.ranker import BreadthRanker
    from breadth.integrations.haystack.retriever import BreadthRetriever
except ModuleNotFoundError as error:
    if error.name is None or error.name.split(".")[0] != "haystack":
        raise
    raise MissingExtraError("haystack-ai", "haystack") from None

__all__ = ["BreadthRanker", "BreadthRetriever"]
