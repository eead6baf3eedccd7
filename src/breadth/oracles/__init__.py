"""Collections of vectors that can be searched: the protocols, the oracles and the registry that lists them."""

from typing import TYPE_CHECKING

from breadth.lazy import look_up

if TYPE_CHECKING:
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

# An engine is imported when it is used.
__getattr__ = look_up(
    __name__,
    {
        "ArrayOracle": "breadth.oracles.array",
        "AsyncOracle": "breadth.oracles.protocol",
        "AuditedOracle": "breadth.oracles.protocol",
        "AuditingOracle": "breadth.oracles.wrappers",
        "BoundedOracle": "breadth.oracles.protocol",
        "CachingOracle": "breadth.oracles.wrappers",
        "CompactOracle": "breadth.oracles.compact",
        "CountingOracle": "breadth.oracles.wrappers",
        "Facts": "breadth.oracles.protocol",
        "FilteredOracle": "breadth.oracles.protocol",
        "KeyedOracle": "breadth.oracles.protocol",
        "LimitedOracle": "breadth.oracles.protocol",
        "ORACLES": "breadth.oracles.registry",
        "Oracle": "breadth.oracles.protocol",
        "OracleKind": "breadth.oracles.registry",
        "Payload": "breadth.oracles.protocol",
        "PayloadOracle": "breadth.oracles.protocol",
        "Reached": "breadth.oracles.protocol",
        "ReachingOracle": "breadth.oracles.protocol",
        "RelevanceOracle": "breadth.oracles.protocol",
        "RowsOracle": "breadth.oracles.protocol",
        "ScoringOracle": "breadth.oracles.protocol",
        "SegmentedOracle": "breadth.oracles.segmented",
        "TorchOracle": "breadth.oracles.torch",
        "WRAPPERS": "breadth.oracles.registry",
        "WrapperKind": "breadth.oracles.registry",
        "apgvector": "breadth.engines.pgvector",
        "chroma": "breadth.engines.chroma",
        "describe": "breadth.oracles.protocol",
        "faiss": "breadth.engines.faiss",
        "lancedb": "breadth.engines.lancedb",
        "milvus": "breadth.engines.milvus",
        "pgvector": "breadth.engines.pgvector",
        "qdrant": "breadth.engines.qdrant",
        "qdrant_edge": "breadth.engines.qdrant",
        "ray": "breadth.engines.ray",
        "usearch": "breadth.engines.usearch",
    },
)


def __dir__() -> list[str]:
    return __all__
