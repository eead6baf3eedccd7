"""Milvus: a server, or Milvus Lite in a file (extra `milvus`).

oracle.py    opens a collection, and asks it; the only importer of pymilvus
schema.py    what Milvus says about a collection: its key, its vectors, its other fields
filters.py   filters as expressions of Milvus
"""

from breadth.engines.milvus.oracle import milvus

__all__ = ["milvus"]
