"""The reasons behind a selection, by one batched search: the best replacement of each member."""

from __future__ import annotations

import numpy as np

from breadth.explanation import Explanation, Reason
from breadth.oracles.protocol import Facts
from breadth.problem import Ids, Problem
from breadth.requests import Asking, Rows, Top


def explain(problem: Problem, facts: Facts, ids: Ids) -> Asking:
    """An `Explanation` of the set `ids`.

    Without member j the best row to put in is the one with the largest e_i·w(v - e_j), for F(S - j + i) is a constant
    plus that. The members themselves can take k - 1 of the best places, so the k + 1 best are asked for.
    """
    rows = np.asarray((yield Rows(ids)), dtype=np.float64)
    relevance = rows @ problem.query
    similarity = problem.similar(rows) @ problem.similar(rows).T
    np.fill_diagonal(similarity, -np.inf)
    total = rows.sum(axis=0)
    directions = np.array([problem.direction(total - row) for row in rows])
    found, _ = yield Top(directions, min(facts.size, problem.k + 1))
    best = [next((int(i) for i in places if i not in ids), None) for places in found]
    known = np.array([i for i in best if i is not None], dtype=np.int64)
    fetched = dict(zip(known.tolist(), np.asarray((yield Rows(known)), dtype=np.float64), strict=True))
    value = problem.objective(rows)
    reasons = []
    for place, (own, other) in enumerate(zip(ids.tolist(), best, strict=True)):
        nearest = int(np.argmax(similarity[place])) if problem.k > 1 else None
        loss = None
        if other is not None:
            changed = rows.copy()
            changed[place] = fetched[other]
            loss = value - problem.objective(changed)
        reasons.append(
            Reason(
                id=own,
                relevance=float(relevance[place]),
                neighbour=None if nearest is None else int(ids[nearest]),
                similarity=None if nearest is None else float(similarity[place, nearest]),
                loss=loss,
                replacement=other,
            )
        )
    return Explanation(tuple(reasons))
