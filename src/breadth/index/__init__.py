"""A directory on disk with documents and their vectors, made for diverse search."""

from breadth.index.documents import Document, Hit, Results
from breadth.index.index import Index

__all__ = ["Document", "Hit", "Index", "Results"]
