"""Collections of the local mode of qdrant-client, and shards of Qdrant Edge. No server can be had as a package."""

from __future__ import annotations

from functools import partial

import qdrant_edge as edge
from qdrant_client import QdrantClient, models

import breadth
from tests.engines.stores.store import MAIN_CHECKS, Place, Store


def make_payloads(rows, metadata, texts):
    """The text and the metadata of each row, as one dict."""
    return [
        {"text": f"text {i}" if texts is None else texts[i], **({} if metadata is None else metadata[i])}
        for i in range(len(rows))
    ]


def fill_client(distance: str, in_memory: bool):
    def fill(place: Place, rows, keys=None, metadata=None, texts=None):
        client = QdrantClient(":memory:") if in_memory else QdrantClient(path=str(place.folder))
        shape = models.VectorParams(size=rows.shape[1], distance=models.Distance(distance))
        client.create_collection(place.name, vectors_config=shape)
        payloads = make_payloads(rows, metadata, texts)
        points = [
            models.PointStruct(id=i if keys is None else _write(keys[i]), vector=row.tolist(), payload=payload)
            for i, (row, payload) in enumerate(zip(rows, payloads, strict=True))
        ]
        if points:
            client.upsert(place.name, points)
        if in_memory:
            return breadth.oracles.qdrant(client, place.name)
        client.close()
        return breadth.oracles.qdrant(str(place.folder), place.name)

    return fill


def _write(key):
    return key if isinstance(key, int) else str(key)


def fill_edge(distance: edge.Distance, indexed: bool, **settings):
    def fill(place: Place, rows, keys=None, metadata=None, texts=None):
        optimizers = edge.EdgeOptimizersConfig(indexing_threshold=1) if indexed else None
        index = edge.HnswIndexConfig(m=16, ef_construct=100, full_scan_threshold=1) if indexed else None
        shape = edge.EdgeVectorParams(size=rows.shape[1], distance=distance)
        shard = edge.EdgeShard.create(
            str(place.folder), edge.EdgeConfig(vectors=shape, hnsw_config=index, optimizers=optimizers)
        )
        payloads = make_payloads(rows, metadata, texts)
        points = [
            edge.Point(id=i if keys is None else keys[i], vector=row.tolist(), payload=payload)
            for i, (row, payload) in enumerate(zip(rows, payloads, strict=True))
        ]
        if points:
            shard.update(edge.UpdateOperation.upsert_points(points))
        if indexed:
            shard.optimize()
        shard.flush()
        shard.close()
        return breadth.oracles.qdrant_edge(place.folder, **settings)

    return fill


LAMBDA = 0.5
"""The weight of relevance in MMR, as LangChain has it by default."""


def mmr_of_client(oracle, query, k, fetched):
    """The ids that Qdrant's own MMR chooses."""
    door = oracle._door
    asked = models.NearestQuery(
        nearest=query.tolist(), mmr=models.Mmr(diversity=1.0 - LAMBDA, candidates_limit=fetched)
    )
    return [point.id for point in door._client.query_points(door._collection, query=asked, limit=k).points]


def mmr_of_edge(oracle, query, k, fetched):
    """The ids that the MMR of Qdrant Edge chooses."""
    asked = edge.QueryRequest(limit=k, query=edge.Mmr(query.tolist(), LAMBDA, fetched))
    return [point.id for point in oracle._door._shard.query(asked)]


NORMALISES = {"checks_lengths": False, "row_error": 2e-7}
client_store = partial(Store, "qdrant", exact=True, mmr=mmr_of_client)
edge_store = partial(Store, "qdrant_edge", mmr=mmr_of_edge)
STORES = (
    client_store("memory", fill_client("Dot", True), keys=(None, "uuid"), measured=True),
    client_store("folder", fill_client("Dot", False), options={"only": MAIN_CHECKS}),
    client_store("cosine", fill_client("Cosine", True), options=NORMALISES),
    client_store("euclid", fill_client("Euclid", True), options={"tolerance": 2e-6}),
    edge_store("scan", fill_edge(edge.Distance.Dot, False, exact=True), exact=True, keys=(None, "uuid"), measured=True),
    edge_store("hnsw", fill_edge(edge.Distance.Cosine, True), exact=False, options=NORMALISES, measured=True),
)
