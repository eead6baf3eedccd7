"""Fetch rows and see which of them help."""

from __future__ import annotations

import numpy as np

from breadth.arrays import Array, Ids, Vector
from breadth.certified.pricing.question import Priced, Question
from breadth.products import multiply
from breadth.ranking import best
from breadth.requests import Asking, Rows

_CHUNK = 8192


def examine(question: Question, for_set: Ids, for_bound: Ids, keep_all: bool = False) -> Asking[Priced]:
    """Fetch rows, chunk by chunk, and keep those that gain by a swap or move the bound, or all of them.

    `for_set` may gain by a swap, `for_bound` may move the bound. The answer speaks of these rows alone. Where all are
    kept, nobody looks which of them gain.
    """
    k = question.problem.k
    wanted = question.leave_out_held(np.union1d(for_set, for_bound))
    ids_kept: list[Ids] = []
    rows_kept: list[Array] = []
    scores_kept: list[Vector] = []
    gained = keep_all
    for start in range(0, len(wanted), _CHUNK):
        ids = wanted[start : start + _CHUNK]
        rows = yield from Rows(ids)
        scores = np.asarray(multiply(rows, question.w_dual), dtype=np.float64)
        scores_kept.append(scores[best(scores, min(k, len(scores)))])
        if keep_all:
            ids_kept.append(ids)
            rows_kept.append(rows)
            continue
        candidates = np.flatnonzero(np.isin(ids, for_set, assume_unique=True))
        replacements = candidates[question.find_replacements(rows[candidates])]
        gained |= len(replacements) > 0
        above = np.flatnonzero(scores > question.threshold)
        leading = above[best(scores[above], min(len(above), max(256, 4 * k)))]
        keep = np.union1d(replacements, leading)
        ids_kept.append(ids[keep])
        rows_kept.append(rows[keep])
    if len(wanted) == 0:
        return Priced(wanted, np.empty((0, len(question.problem.query)), dtype=np.float32), np.empty(0), not gained)
    rows = rows_kept[0] if len(rows_kept) == 1 else np.concatenate(rows_kept)  # thousands are not copied without need
    return Priced(np.concatenate(ids_kept), rows, np.concatenate(scores_kept), not gained)
