"""Chroma in a folder, and on a server."""

from __future__ import annotations

import chromadb
from chromadb.config import Settings

import breadth
from breadth.engines.chroma.oracle import close
from tests.engines.servers.chroma import chroma
from tests.engines.stores.store import Place, Store

BATCH = 5000


def serve(_folder):
    return chroma()


def put(client, name, space, rows, keys, metadata, texts):
    collection = client.create_collection(name, configuration={"hnsw": {"space": space}}, embedding_function=None)
    names = keys or [str(i) for i in range(len(rows))]
    for start in range(0, len(rows), BATCH):
        part = slice(start, start + BATCH)
        collection.add(
            ids=names[part],
            embeddings=rows[part],
            metadatas=None if metadata is None else metadata[part],
            documents=None if texts is None else texts[part],
        )


def in_folder(space):
    def fill(place: Place, rows, keys=None, metadata=None, texts=None):
        client = chromadb.PersistentClient(str(place.folder), settings=Settings(anonymized_telemetry=False))
        put(client, place.name, space, rows, keys, metadata, texts)
        client.close()
        return breadth.oracles.chroma(place.folder, place.name)

    return fill


def on_server(space):
    def fill(place: Place, rows, keys=None, metadata=None, texts=None):
        host, port = place.server.url.removeprefix("http://").split(":")
        client = chromadb.HttpClient(host, int(port), settings=Settings(anonymized_telemetry=False))
        put(client, place.name, space, rows, keys, metadata, texts)
        close(client)
        return breadth.oracles.chroma(place.server.url, place.name, timeout=5.0)

    return fill


NORMALISES = {"checks_lengths": False, "row_error": 2e-7}
STORES = (
    Store("chroma", "ip", in_folder("ip"), exact=False, keys=("text",), measured=True),
    Store("chroma", "l2", in_folder("l2"), exact=False, keys=("text",)),
    Store("chroma", "cosine", in_folder("cosine"), exact=False, keys=("text",), options=NORMALISES),
    Store("chroma", "server", on_server("ip"), exact=False, keys=("text",), serve=serve, measured=True),
)
