"""The methods of the table. A setting is a plain dictionary: add a line to `SETTINGS` and run the benchmark again.

`by` names a chooser of `benchmarks.serve.peers`. Without it the setting has the keywords of `breadth.select`; `texts`
says that the passages are compared by their texts.
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
    "different texts": {"by": "texts"},
    "MMR 0.7": {"method": "mmr", "theta": 0.7, "pool": POOL},
    "MMR 0.5": {"method": "mmr", "theta": 0.5, "pool": POOL},
    "cosine < 0.85": {"by": "filter", "threshold": 0.85},
    "cosine < 0.9": {"by": "filter", "threshold": 0.9},
    "cosine < 0.95": {"by": "filter", "threshold": 0.95},
    "DPP": {"by": "pyversity", "strategy": "dpp", "diversity": 0.5},
    "DPP 0.9": {"by": "pyversity", "strategy": "dpp", "diversity": 0.1},
    "COVER": {"by": "pyversity", "strategy": "cover", "diversity": 0.5},
    "Dartboard": {"by": "dartboard", "sigma": 0.1},
    "AdaGReS": {"by": "adagres"},
    "paper 0.7": {"sharpness": 1, "theta": 0.7},
    "paper 0.8": {"sharpness": 1, "theta": 0.8},
    "coverage": {"method": "coverage"},
    "by vectors": {},
    "default": {"texts": True},
    "default, θ = 0.7": {"texts": True, "theta": 0.7},
}
REFERENCES = ("top-k", "MMR 0.7", "paper 0.7", "paper 0.8")
"""The methods that all others are compared with, question by question."""
_WIDE = 2000
_ONE_SET_FOR_EACH_K = {"adagres"}
"""Choosers whose set for a smaller k is not the beginning of the set for a larger one."""


class Asker:
    """One question to a collection: chooses the set of any setting."""

    def __init__(self, collection: Collection, number: int) -> None:
        self._collection = collection
        self._number, self._query = number, collection.queries[number]

    @cached_property
    def relevance(self) -> np.ndarray:
        """The relevance of every row of the collection."""
        return self._collection.rate(self._number)

    @cached_property
    def _pool(self) -> np.ndarray:
        """The rows that choosers of `peers` choose from, most relevant first."""
        return np.argsort(-self.relevance, kind="stable")[:POOL]

    def choose(self, setting: dict[str, Any], k: int) -> list[int]:
        """The rows that a setting chooses: in the order of the picks, or else most relevant first."""
        options = dict(setting)
        name = options.pop("by", None)
        if name is None:
            return [int(row) for row in self._select(k, options)]
        if name == "texts":
            options["texts"] = [self._collection.texts[row] for row in self._pool]
        picks = CHOOSERS[name](self._collection.rows[self._pool], self.relevance[self._pool], k, **options)
        return [int(row) for row in self._pool[picks]]

    def _select(self, k: int, options: dict[str, Any]) -> np.ndarray:
        """What `select` chooses; with words from the `_WIDE` most relevant passages."""
        collection, texts = self._collection, self._collection.texts
        if collection.word_weight == 0.0:
            if options.get("texts"):
                options["texts"] = lambda ids: [texts[row] for row in ids]
            return select(collection.oracle, self._query, k=k, **options).ids
        wide = np.argsort(-self.relevance, kind="stable")[:_WIDE]
        if options.get("texts"):
            options["texts"] = [texts[row] for row in wide]
        return np.asarray(wide[select(collection.rows[wide], scores=self.relevance[wide], k=k, **options).ids])


def is_nested(setting: dict[str, Any]) -> bool:
    """Whether the set for a smaller k is the beginning of the set for a larger one."""
    if "by" in setting:
        return setting["by"] not in _ONE_SET_FOR_EACH_K
    method = setting.get("method", "certified")
    return method == "topk" or METHODS[method].in_order
