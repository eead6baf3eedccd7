"""Aspect recall on judged news (TREC Temporal Summarization 2015): plain top-k, MMR and ours inside each engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import breadth
from benchmarks.engines.measure import FETCHED, choose_by_mmr
from benchmarks.serve.collection import Collection, Source, load_collection
from benchmarks.serve.judged import HALVES
from tests.engines.stores import Store

KS = (10, 20)


def load_news(data: Path, folder: Path) -> Collection:
    """The news with the vectors of the built-in encoder."""
    collection = load_collection(data, folder / "serve", Source("trec", "potion"))
    assert collection is not None
    return collection


def measure_news(store: Store | None, oracle: Any, news: Collection) -> dict[str, dict[str, float]]:
    """The mean aspect recall over the reporting events: for each way to choose, by k."""
    asked = [number for number, half in enumerate(news.judged.halves) if half == HALVES[1]]
    found: dict[str, dict[str, float]] = {}
    for k in KS:
        sets: dict[str, list[list[int]]] = {}
        for number in asked:
            query = np.asarray(news.queries[number], dtype=np.float32)
            for name, names in _choose(store, oracle, query, k).items():
                sets.setdefault(name, []).append([int(one) for one in names])
        for name, chosen in sets.items():
            recalls = [
                news.evidence.recall(news.judged.questions[number].id, rows)
                for number, rows in zip(asked, chosen, strict=True)
            ]
            found.setdefault(name, {})[str(k)] = float(np.mean(recalls))
    return found


def _choose(store: Store | None, oracle: Any, query: np.ndarray, k: int) -> dict[str, Any]:
    def name_all(ids: np.ndarray) -> Any:
        return oracle.keys(ids) if hasattr(oracle, "keys") else ids

    unit = query / np.linalg.norm(query.astype(np.float64))
    sets = {
        "top-k": name_all(oracle.top(query[None], k)[0][0]),
        "MMR": name_all(choose_by_mmr(oracle, query, k)[0]),
        "select": breadth.select(oracle, unit, k=k).ids,
    }
    if store is not None and store.mmr is not None:
        sets["own MMR"] = store.mmr(oracle, query, k, FETCHED * k)
    return sets
