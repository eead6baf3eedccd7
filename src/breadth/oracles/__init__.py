"""Collections of vectors that can be searched: the protocols, the oracles and the registry that lists them."""

from breadth.engines.chroma import chroma
from breadth.engines.faiss import faiss
from breadth.engines.lancedb import lancedb
from breadth.engines.milvus import milvus
from breadth.engines.pgvector import apgvector, pgvector
from breadth.engines.qdrant import qdrant, qdrant_edge
from breadth.engines.ray import ray
from breadth.engines.usearch import usearch
from breadth.oracles.array import ArrayOracle
from breadth.oracles.compact import CompactOracle
from breadth.oracles.protocol import (
    AsyncOracle,
    AuditedOracle,
    BoundedOracle,
    Facts,
    FilteredOracle,
    KeyedOracle,
    LimitedOracle,
    Oracle,
    Payload,
    PayloadOracle,
    Reached,
    ReachingOracle,
    RelevanceOracle,
    RowsOracle,
    ScoringOracle,
    describe,
)
from breadth.oracles.registry import ORACLES, WRAPPERS, OracleKind, WrapperKind
from breadth.oracles.segmented import SegmentedOracle
from breadth.oracles.torch import TorchOracle
from breadth.oracles.wrappers import AuditingOracle, CachingOracle, CountingOracle

__all__ = [
    "ORACLES",
    "WRAPPERS",
    "ArrayOracle",
    "AsyncOracle",
    "AuditedOracle",
    "AuditingOracle",
    "BoundedOracle",
    "CachingOracle",
    "CompactOracle",
    "CountingOracle",
    "Facts",
    "FilteredOracle",
    "KeyedOracle",
    "LimitedOracle",
    "Oracle",
    "OracleKind",
    "Payload",
    "PayloadOracle",
    "Reached",
    "ReachingOracle",
    "RelevanceOracle",
    "RowsOracle",
    "ScoringOracle",
    "SegmentedOracle",
    "TorchOracle",
    "WrapperKind",
    "apgvector",
    "chroma",
    "describe",
    "faiss",
    "lancedb",
    "milvus",
    "pgvector",
    "qdrant",
    "qdrant_edge",
    "ray",
    "usearch",
]
