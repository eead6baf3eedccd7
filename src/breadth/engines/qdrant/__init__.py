"""Qdrant: a server, the client's local mode, or a shard of Qdrant Edge in a folder (extras `qdrant`, `qdrant-edge`).

oracle.py    the oracle, whichever way leads to the points
door.py      what a way to the points must offer
client.py    the way through qdrant-client, and its only importer
edge.py      the way through qdrant-edge-py, and its only importer
filters.py   filters in Qdrant's words
"""

from breadth.engines.qdrant.client import qdrant
from breadth.engines.qdrant.edge import qdrant_edge

__all__ = ["qdrant", "qdrant_edge"]
