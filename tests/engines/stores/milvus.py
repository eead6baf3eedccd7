"""Collections of Milvus Lite and of a Milvus server."""

from __future__ import annotations

import pickle
from functools import partial

from pymilvus import DataType, MilvusClient

import breadth
from tests.engines.servers.milvus import milvus
from tests.engines.stores.store import MAIN_CHECKS, Place, Store


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


_MADE: dict[bytes, tuple[str, str]] = {}
"""The collections that were made, by their contents: making one takes Milvus seconds, and oracles do not write."""


def fill_with(kind: str, metric: str, scale: float = 1.0, **parameters):
    index = {"index_type": kind, "metric_type": metric, "params": parameters}

    def fill(place: Place, rows, keys=None, metadata=None, texts=None):
        uri = str(place.folder / "milvus.db") if place.server is None else place.server.url
        contents = pickle.dumps((place.server and uri, index, scale, rows.tobytes(), keys, metadata, texts))
        if contents not in _MADE:
            client = MilvusClient(uri)
            make_collection(client, place.name, scale * rows, keys, metadata, texts, index)
            client.query(place.name, "", ["count(*)"])  # strongly consistent: the rows can be seen from now on
            client.close()
            _MADE[contents] = uri, place.name
        return breadth.oracles.milvus(*_MADE[contents], timeout=20.0, consistency="Eventually")

    return fill


NORMALISED = {"checks_lengths": False, "row_error": 1e-7, "only": MAIN_CHECKS}
lite = partial(Store, "milvus", exact=True)
server = partial(Store, "milvus", serve=serve)
STORES = (
    lite("lite", fill_with("FLAT", "IP"), keys=(None, "text"), measured=True),
    lite("lite-cosine", fill_with("FLAT", "COSINE", scale=3.0), options=NORMALISED),
    server("server-flat", fill_with("FLAT", "IP"), exact=True, measured=True),
    server(
        "server-hnsw",
        fill_with("HNSW", "COSINE", scale=3.0, M=16, efConstruction=100),
        exact=False,
        options=NORMALISED,
        measured=True,
    ),
)
