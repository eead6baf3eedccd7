"""The methods of the table. A setting is a plain dictionary: add a line to `SETTINGS` and run the benchmark again.

`by` names a chooser of `benchmarks.serve.peers`. Without it the setting has the keywords of `breadth.select`.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from benchmarks.serve.collection import Collection
from benchmarks.serve.peers import CHOOSERS, POOL
from breadth import select
from breadth.methods.registry import METHODS

SETTINGS: dict[str, dict[str, Any]] = {
    "top-k": {"method": "topk"},
    "MMR 0.7": {"method": "mmr", "theta": 0.7, "pool": POOL},
    "MMR 0.5": {"method": "mmr", "theta": 0.5, "pool": POOL},
    "cosine < 0.85": {"by": "filter", "threshold": 0.85},
    "cosine < 0.9": {"by": "filter", "threshold": 0.9},
    "cosine < 0.95": {"by": "filter", "threshold": 0.95},
    "DPP": {"by": "pyversity", "strategy": "dpp", "diversity": 0.5},
    "DPP 0.9": {"by": "pyversity", "strategy": "dpp", "diversity": 0.1},
    "SSD": {"by": "pyversity", "strategy": "ssd", "diversity": 0.5},
    "COVER": {"by": "pyversity", "strategy": "cover", "diversity": 0.5},
    "MSD": {"by": "pyversity", "strategy": "msd", "diversity": 0.5},
    "Dartboard": {"by": "dartboard", "sigma": 0.1},
    "AdaGReS": {"by": "adagres"},
    "paper 0.7": {"sharpness": 1, "theta": 0.7},
    "paper 0.8": {"sharpness": 1, "theta": 0.8},
    "coverage": {"method": "coverage"},
    "sharp 16, 0.3": {"sharpness": 16, "theta": 0.3},
    "default": {},
}
REFERENCES = ("top-k", "MMR 0.7", "paper 0.7", "paper 0.8")
"""The methods that all others are compared with, question by question."""
_ONE_SET_FOR_EACH_K = {"adagres"}
"""Choosers whose set for a smaller k is not the beginning of the set for a larger one."""


class Asker:
    """One question to a collection: chooses the set of any setting."""

    def __init__(self, collection: Collection, number: int) -> None:
        self._collection = collection
        self._query = collection.queries[number]

    @cached_property
    def relevance(self) -> np.ndarray:
        """The relevance of every row of the collection."""
        scores: np.ndarray = self._collection.rows @ self._query
        return scores

    @cached_property
    def _pool(self) -> np.ndarray:
        """The rows that choosers of `peers` choose from, most relevant first."""
        return np.argsort(-self.relevance, kind="stable")[:POOL]

    def choose(self, setting: dict[str, Any], k: int) -> list[int]:
        """The rows that a setting chooses: in the order of the picks, or else most relevant first."""
        options = dict(setting)
        name = options.pop("by", None)
        if name is None:
            ids = select(self._collection.oracle, self._query, k=k, **options).ids
        else:
            ids = self._pool[CHOOSERS[name](self._collection.rows[self._pool], self._query, k, **options)]
        return [int(row) for row in ids]


def is_nested(setting: dict[str, Any]) -> bool:
    """Whether the set for a smaller k is the beginning of the set for a larger one."""
    if "by" in setting:
        return setting["by"] not in _ONE_SET_FOR_EACH_K
    method = setting.get("method", "certified")
    return method == "topk" or METHODS[method].in_order
