"""A directory on disk with documents and their vectors, made for diverse search."""

from breadth.index.bm25 import BM25, PER_QUERY
from breadth.index.documents import Document, Hit, Results
from breadth.index.index import Index

__all__ = ["BM25", "PER_QUERY", "Document", "Hit", "Index", "Results"]
