"""How much of the relevant material the sets of an index stand for."""

from __future__ import annotations

from typing import Any

import numpy as np

from breadth.coverage.worth import TARGETS
from breadth.index import Index, Results
from breadth.metrics import coverage


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
    pool = opened.search(query, k=count, theta=1.0, method="topk", **asked).selection
    added = np.isin(found.selection.ids, pool.ids, invert=True)
    ids = np.concatenate((pool.ids, found.selection.ids[added]))
    scores = np.concatenate((pool.scores, found.selection.scores[added]))
    rows = opened.oracle(asked.get("where")).rows(ids)
    chosen = np.flatnonzero(np.isin(ids, found.selection.ids))
    top = np.arange(len(found))
    share = coverage(rows, scores, chosen)
    return share, None if np.array_equal(chosen, top) else coverage(rows, scores, top)
