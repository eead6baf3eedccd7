"""A folder on disk with documents and their vectors, made for diverse search."""

from breadth.index.bm25 import BM25, PER_QUERY
from breadth.index.checking import Check
from breadth.index.diagnosis import Diagnosis, diagnose
from breadth.index.documents import Document, Hit
from breadth.index.index import Index
from breadth.index.judging import Question
from breadth.index.results import Results
from breadth.index.writer import Added

__all__ = [
    "BM25",
    "PER_QUERY",
    "Added",
    "Check",
    "Diagnosis",
    "Document",
    "Hit",
    "Index",
    "Question",
    "Results",
    "diagnose",
]
