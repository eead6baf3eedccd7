"""USearch indexes with several metrics and types of numbers, saved to a file and opened from it."""

from __future__ import annotations

import numpy as np
from usearch.index import Index

import breadth
from tests.engines.stores.faiss import LOSSY, gather_documents
from tests.engines.stores.store import Place, Store


def fill_with(dtype="f32", metric="ip", scale=1.0, **settings):
    def fill(place: Place, rows, keys=None, metadata=None, texts=None):
        index = Index(ndim=rows.shape[1], metric=metric, dtype=dtype)
        if len(rows):
            index.add(np.arange(len(rows)) if keys is None else np.array(keys), scale * rows)
        path = place.folder / "index.usearch"
        index.save(str(path))
        return breadth.oracles.usearch(path, documents=gather_documents(rows, keys, metadata, texts), **settings)

    return fill


HALF = {"tolerance": 6e-4, "row_error": 5e-4}
NORMALISED = {"checks_lengths": False, "row_error": 2e-7}
ROUNDED = {**LOSSY, "takes_empty": True}
STORES = (
    Store("usearch", "hnsw", fill_with(), exact=False, keys=(None, "number"), measured=True),
    Store("usearch", "half-scan", fill_with("f16", exact=True), exact=True, options=HALF, measured=True),
    Store("usearch", "bf16", fill_with(None), exact=False, options=ROUNDED),
    Store("usearch", "cosine", fill_with(metric="cos", scale=3.0), exact=False, options=NORMALISED),
    Store("usearch", "l2-scan", fill_with(metric="l2sq", exact=True), exact=True),
)
