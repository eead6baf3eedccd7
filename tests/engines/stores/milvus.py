"""Collections of Milvus Lite and of a Milvus server."""

from __future__ import annotations

from functools import partial

from pymilvus import DataType, MilvusClient

import breadth
from tests.engines.servers.milvus import milvus
from tests.engines.stores.store import Place, Store


def serve(_folder):
    return milvus()


def make_collection(client, name, rows, keys, metadata, texts, index) -> None:
    schema = client.create_schema(auto_id=False, enable_dynamic_field=True)
    if keys and isinstance(keys[0], str):
        schema.add_field("key", DataType.VARCHAR, is_primary=True, max_length=100)
    else:
        schema.add_field("key", DataType.INT64, is_primary=True)
    schema.add_field("text", DataType.VARCHAR, max_length=1000)
    schema.add_field("embedding", DataType.FLOAT_VECTOR, dim=rows.shape[1])
    parameters = client.prepare_index_params()
    parameters.add_index("embedding", **index)
    client.create_collection(name, schema=schema, index_params=parameters, consistency_level="Strong")
    entries = [
        {
            "key": place if keys is None else keys[place],
            "text": f"text {place}" if texts is None else texts[place],
            "embedding": row,
            **({} if metadata is None else metadata[place]),
        }
        for place, row in enumerate(rows)
    ]
    for start in range(0, len(entries), 5000):
        client.insert(name, entries[start : start + 5000])


def fill_with(kind: str, metric: str, scale: float = 1.0, **parameters):
    def fill(place: Place, rows, keys=None, metadata=None, texts=None):
        uri = str(place.folder / "milvus.db") if place.server is None else place.server.url
        client = MilvusClient(uri)
        index = {"index_type": kind, "metric_type": metric, "params": parameters}
        make_collection(client, place.name, scale * rows, keys, metadata, texts, index)
        client.close()
        return breadth.oracles.milvus(uri, place.name, timeout=20.0)

    return fill


NORMALISED = {"checks_lengths": False, "row_error": 1e-7}
lite = partial(Store, "milvus", exact=True)
server = partial(Store, "milvus", serve=serve)
STORES = (
    lite("lite", fill_with("FLAT", "IP"), keys=(None, "text")),
    lite("lite-cosine", fill_with("FLAT", "COSINE", scale=3.0), options=NORMALISED),
    server("server-flat", fill_with("FLAT", "IP"), exact=True),
    server("server-hnsw", fill_with("HNSW", "COSINE", scale=3.0, M=16, efConstruction=100), exact=False, options=NORMALISED),
)  # fmt: skip
