"""Tables of LanceDB, without an index and with one."""

from __future__ import annotations

import lancedb
import numpy as np
import pyarrow as pa

import breadth
from tests.engines.stores.store import Place, Store


def fill_with(index=None, scale=1.0, **settings):
    def fill(place: Place, rows, keys=None, metadata=None, texts=None):
        flat = pa.array(scale * rows.ravel(), type=pa.float32())
        columns = {"vector": pa.FixedSizeListArray.from_arrays(flat, rows.shape[1])}
        if keys is not None:
            columns["id"] = pa.array(keys, type=pa.string() if keys and isinstance(keys[0], str) else None)
        if texts is not None:
            columns["text"] = pa.array(texts, type=pa.string())
        for name in dict.fromkeys(name for entry in metadata or [] for name in entry):
            columns[name] = pa.array([entry.get(name) for entry in metadata])
        table = lancedb.connect(place.folder).create_table(place.name, pa.table(columns))
        few = len(rows) < 256  # LanceDB trains no index on so few
        if index is not None and not few:
            table.create_index("vector", config=index(len(rows)))
        return breadth.oracles.lancedb(
            place.folder, place.name, **settings, **({"metric": "cosine"} if few and scale != 1.0 else {})
        )

    return fill


def ivf_flat(n):
    return lancedb.index.IvfFlat(distance_type="dot", num_partitions=max(2, n // 400))


def hnsw_sq(n):
    return lancedb.index.HnswSq(distance_type="cosine", num_partitions=1)


def plain_top(oracle, query, k):
    """One search as a user of LanceDB writes it, for ids alone."""
    search = oracle._table.search(np.asarray(query, dtype=np.float32)).distance_type("dot").limit(k)
    return search.select(["id", "_distance"]).to_arrow()


NORMALISED = {"checks_lengths": False, "row_error": 2e-7}
STORES = (
    Store(
        "lancedb", "scan", fill_with(), exact=True, keys=("text", "number", None), measured=True, plain_top=plain_top
    ),
    Store("lancedb", "scan-l2", fill_with(metric="l2"), exact=True),
    Store("lancedb", "ivf-flat", fill_with(ivf_flat), exact=False, keys=("text",), measured=True, plain_top=plain_top),
    Store("lancedb", "hnsw-cosine", fill_with(hnsw_sq, scale=3.0), exact=False, keys=("text",), options=NORMALISED),
)
