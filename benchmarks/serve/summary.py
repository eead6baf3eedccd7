"""Means over the questions of a half, and how certain it is that one method beats another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.serve.judged import HALVES
from benchmarks.serve.measures import MEASURES
from benchmarks.serve.sets import Values
from breadth_experiments.statistics import estimate, resamples


@dataclass(frozen=True, eq=False)
class Measured:
    """The measures of every setting on a collection. `dataset` is the judged collection that it was made from."""

    dataset: str
    halves: np.ndarray
    values: Mapping[str, Values]

    def recall(self, name: str, half: str) -> Values:
        """The recall of every question of a half, (questions, sizes)."""
        return self.values[name][self.halves == half][:, :, MEASURES.index("recall")]


def summarise(measured: Measured) -> dict[str, Any]:
    """The questions in each half, and the mean of each measure over them, one number for each size."""
    found: dict[str, Any] = {"questions": {half: int((measured.halves == half).sum()) for half in HALVES}}
    for half in HALVES:
        means = {name: values[measured.halves == half].mean(axis=0) for name, values in measured.values.items()}
        found[half] = {
            name: {measure: _round(mean[:, place]) for place, measure in enumerate(MEASURES)}
            for name, mean in means.items()
        }
    return found


def compare(all_measured: Mapping[str, Measured], reference: str, half: str) -> dict[str, Any]:
    """Recall minus the recall of a reference, with 95 % bootstrap intervals, for each method, collection and size.

    Each entry is a list of [mean, low, high], one for each size. The entry "mean" is of the mean over the collections.
    Collections with the same questions are resampled together.
    """
    found: dict[str, Any] = {}
    datasets = list(dict.fromkeys(measured.dataset for measured in all_measured.values()))
    names = [name for name in next(iter(all_measured.values())).values if name != reference]
    for name in names:
        found[name], means, drawn = {}, [], []
        for collection, measured in all_measured.items():
            gap = measured.recall(name, half) - measured.recall(reference, half)
            weights = resamples(len(gap), seed=datasets.index(measured.dataset))
            ones = [estimate(gap[:, size], weights) for size in range(gap.shape[1])]
            found[name][collection] = [_round(np.array([one.mean, one.low, one.high])) for one in ones]
            means.append(gap.mean(axis=0))
            drawn.append(weights @ gap)
        low, high = np.percentile(np.mean(drawn, axis=0), [2.5, 97.5], axis=0)
        both = np.stack([np.mean(means, axis=0), low, high], axis=1)
        found[name]["mean"] = [_round(one) for one in both]
    return found


def shares_of_best(collections: Mapping[str, Any], half: str) -> dict[str, np.ndarray]:
    """For each method its recall as a share of the best method's, (collections, sizes). `collections`: summaries."""
    recall = {
        name: np.array([one[half][name]["recall"] for one in collections.values()])
        for name in next(iter(collections.values()))[half]
    }
    best = np.maximum(np.max(list(recall.values()), axis=0), 1e-12)
    return {name: values / best for name, values in recall.items()}


def _round(values: np.ndarray) -> list[float]:
    return [round(float(value), 4) for value in values]
