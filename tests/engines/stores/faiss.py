"""FAISS indexes of every kind, written to a file and opened from it."""

from __future__ import annotations

from functools import partial

import faiss
import numpy as np

import breadth
from tests.engines.stores.store import Place, Store


def gather_documents(rows, keys, metadata, texts):
    """What an engine that holds vectors alone is given beside them."""
    if metadata is None:
        return None
    texts = texts or [f"text {i}" for i in range(len(rows))]
    ids = range(len(rows)) if keys is None else keys
    return {i: {"text": text, **entry} for i, text, entry in zip(ids, texts, metadata, strict=True)}


def fill_with(factory: str, metric: int = faiss.METRIC_INNER_PRODUCT, **settings):
    def fill(place: Place, rows, keys=None, metadata=None, texts=None):
        lists = max(1, min(int(len(rows) ** 0.5), len(rows) // 8))
        index = faiss.index_factory(rows.shape[1], factory.format(lists=lists), metric)
        if not index.is_trained:
            index.train(rows)
        if keys is None:
            index.add(rows)
        else:
            index.add_with_ids(rows, np.array(keys))
        path = place.folder / "index.faiss"
        faiss.write_index(index, str(path))
        return breadth.oracles.faiss(path, documents=gather_documents(rows, keys, metadata, texts), **settings)

    return fill


TRAINED = {"takes_empty": False}
PROBES_ONE = {**TRAINED, "recall": 0.3}
PROBES_MORE = {**TRAINED, "recall": 0.8}
LOSSY = {**TRAINED, "tolerance": 0.02, "row_error": 0.03, "recall": 0.7}
faiss_store = partial(Store, "faiss")
STORES = (
    faiss_store("flat", fill_with("Flat"), exact=True, measured=True),
    faiss_store("flat-l2", fill_with("Flat", faiss.METRIC_L2), exact=True),
    faiss_store("flat-own-ids", fill_with("IDMap,Flat"), exact=True, keys=("number",)),
    faiss_store("hnsw", fill_with("HNSW32"), exact=False, measured=True),
    faiss_store("ivf", fill_with("IVF{lists},Flat"), exact=False, options=PROBES_ONE),
    faiss_store("ivf-16", fill_with("IVF{lists},Flat", nprobe=16), exact=False, options=PROBES_MORE, measured=True),
    faiss_store("ivf-own-ids", fill_with("IVF{lists},Flat"), exact=False, keys=("number",), options=PROBES_ONE),
    faiss_store("ivf-all-lists", fill_with("IVF{lists},Flat", nprobe=9999), exact=True, options=TRAINED),
    faiss_store("sqfp16", fill_with("SQfp16"), exact=True, options={"tolerance": 6e-4, "row_error": 5e-4}),
    faiss_store("sq8", fill_with("SQ8"), exact=False, options=LOSSY, measured=True),
)
