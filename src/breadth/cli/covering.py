"""The vectors behind results, and how much of the relevant material a set stands for."""

from __future__ import annotations

from typing import Any

import numpy as np

from breadth.arrays import Array
from breadth.coverage.worth import TARGETS
from breadth.index import Index, Results
from breadth.metrics import coverage


def find_rows(opened: Index, where: dict[str, Any] | None, *found: Results) -> Array | None:
    """The vectors of the documents of several results, one after the other.

    None if another process has just changed the index, so that the rows of these results are no longer known.
    """
    oracle = opened.oracle(where)
    rows = np.concatenate([results.selection.ids for results in found])
    if len(rows) == 0 or rows.max() >= oracle.size:
        return None
    ids = [document.id for document in opened.documents(oracle.numbers[rows])]
    return oracle.rows(rows) if ids == [hit.id for results in found for hit in results] else None


def measure_coverage(
    opened: Index, query: Any, found: Results, asked: dict[str, Any]
) -> tuple[float, float | None] | None:
    """The share of the relevant material that a set stands for, and that as many of the most relevant passages do.

    The latter is None if the set is these passages. There is no share of an empty set, or of passages that only have
    scores from outside. `asked` holds the arguments of the search that say what there is to choose from.
    """
    if not len(found) or asked.get("scores") is not None:
        return None
    count = max(min(TARGETS, found.searched), len(found))
    pool = opened.search(query, k=count, method="topk", **asked)
    rows = find_rows(opened, asked.get("where"), pool, found)
    if rows is None:
        return None
    ids = np.concatenate((pool.selection.ids, found.selection.ids))
    _, first = np.unique(ids, return_index=True)
    kept = np.sort(first)  # the pool, then what the set has beside it
    scores = np.concatenate((pool.selection.scores, found.selection.scores))[kept]
    chosen = np.flatnonzero(np.isin(ids[kept], found.selection.ids))
    top = np.arange(len(found))
    share = coverage(rows[kept], scores, chosen)
    return share, None if np.array_equal(chosen, top) else coverage(rows[kept], scores, top)
