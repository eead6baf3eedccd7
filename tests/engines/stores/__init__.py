"""How rows get into each engine: what the contract suite and `python -m benchmarks engines` need to know of it.

Each engine has a file here, which lists its stores: the engine with one kind of index. A store that needs a server has
`serve`, which starts it on loopback, yields what `fill` needs to reach it, and stops it.
"""

from __future__ import annotations

from tests.engines.stores import chroma, faiss, lancedb, milvus, pgvector, qdrant, ray, usearch
from tests.engines.stores.store import Place, Store

_MODULES = (faiss, usearch, lancedb, chroma, pgvector, milvus, qdrant, ray)

STORES: dict[str, Store] = {store.name: store for module in _MODULES for store in module.STORES}

__all__ = ["STORES", "Place", "Store"]
