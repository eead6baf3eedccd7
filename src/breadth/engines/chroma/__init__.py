"""Chroma, in a folder or on a server (extra `chroma`).

oracle.py    opens a collection and asks it; the only importer of chromadb
filters.py   filters in Chroma's own form
"""

from breadth.engines.chroma.oracle import ChromaOracle, chroma

__all__ = ["ChromaOracle", "chroma"]
