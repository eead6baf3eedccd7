"""The sets that a setting chooses, kept in a file so that a second run does not choose them again."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from benchmarks.serve.collection import Collection
from benchmarks.serve.measures import LADDER, find_fit, measure_set
from benchmarks.serve.settings import Asker, is_nested
from breadth_experiments import records

KS, BUDGETS = (3, 4, 5, 10, 20), (250, 500, 1000, 2000)
"""The numbers of rows, and the budgets of words, at which sets are measured."""
Values = np.ndarray
"""Measures of one setting on one collection, (questions, sizes, measures). The sizes are `KS`, then `BUDGETS`."""


class ChosenSets:
    """The sets of one setting on a collection. The file at `path` has those of earlier runs, and gets the new ones.

    A set belongs to the setting's keywords. So the sets are chosen again if a keyword changes. If the code of a method
    changes, delete the file.
    """

    def __init__(self, collection: Collection, setting: dict[str, Any], path: Path) -> None:
        self._collection, self._setting = collection, setting
        self._mark = hashlib.sha256(json.dumps(setting, sort_keys=True).encode()).hexdigest()[:12]
        self._file = records.Records(path, ("mark", "question", "k"))
        lines = records.read(path)
        self._known = {(line["question"], line["k"]): line["rows"] for line in lines if line["mark"] == self._mark}

    def __enter__(self) -> ChosenSets:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._file.close()

    def measure(self, number: int) -> list[list[float]]:
        """The measures of the sets for a question: a list for each of `KS`, then for each of `BUDGETS`."""
        asker = Asker(self._collection, number)

        def count_words(k: int) -> int:
            return int(self._collection.words[self._take(asker, number, k)].sum())

        sizes = [*KS, *(find_fit(count_words, budget) for budget in BUDGETS)]
        taken = [self._take(asker, number, k) if k else [] for k in sizes]
        pairs = zip(sizes, taken, strict=True)
        return [measure_set(self._collection, number, asker.relevance, rows, k) for k, rows in pairs]

    def _take(self, asker: Asker, number: int, k: int) -> list[int]:
        """The set of at most k rows: of its own, or the beginning of a longer one if the setting's sets are nested."""
        if is_nested(self._setting):
            return self._choose(asker, number, LADDER[-1])[:k]
        return self._choose(asker, number, k)

    def _choose(self, asker: Asker, number: int, k: int) -> list[int]:
        question = self._collection.judged.questions[number].id
        if (question, k) not in self._known:
            rows = asker.choose(self._setting, min(k, len(self._collection.rows)))
            self._known[question, k] = rows
            self._file.append({"mark": self._mark, "question": question, "k": k, "rows": rows})
        return self._known[question, k]


def measure_setting(collection: Collection, setting: dict[str, Any], path: Path) -> Values:
    """The measures of one setting for every question of a collection."""
    with ChosenSets(collection, setting, path) as sets:
        return np.array([sets.measure(number) for number in range(len(collection.judged.questions))])
