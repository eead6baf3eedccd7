"""The reasons behind a selection, by one batched search: the best replacement of each member."""

from __future__ import annotations

import numpy as np

from breadth.arrays import Ids, Vector
from breadth.explanation import Explanation, Reason
from breadth.oracles.protocol import Facts
from breadth.problem import Problem
from breadth.requests import Asking, Rows, Top


def explain(problem: Problem, facts: Facts, ids: Ids) -> Asking[Explanation]:
    """An `Explanation` of the set `ids`.

    Without member j the best row to put in is the one with the largest e_i·w(v - e_j), for F(S - j + i) is a constant
    plus that. The members themselves can take k - 1 of the best places, so the k + 1 best are asked for.
    """
    rows = np.asarray((yield from Rows(ids)), dtype=np.float64)
    found = yield from Top(problem.replacement_directions(rows), min(facts.size, problem.k + 1))
    best: list[int | None] = []
    for member, candidates in zip(ids, found.ids, strict=True):
        fitting = candidates[problem.allowed.may_replace(candidates, ids, int(member))]
        best.append(int(fitting[0]) if len(fitting) else None)
    known = np.array([i for i in best if i is not None], dtype=np.int64)
    fetched = dict(zip(known.tolist(), np.asarray((yield from Rows(known)), dtype=np.float64), strict=True))
    others = [None if other is None else fetched[other] for other in best]
    return Explanation(tuple(_give_reasons(problem, ids, rows, best, others)))


def _give_reasons(
    problem: Problem, ids: Ids, rows: Vector, best: list[int | None], others: list[Vector | None]
) -> list[Reason]:
    """One reason for each member; `others` are the rows of the best replacements."""
    relevance = rows @ problem.query
    similarity = problem.similar(rows) @ problem.similar(rows).T
    np.fill_diagonal(similarity, -np.inf)
    value = problem.objective(rows)
    reasons = []
    for place, (own, replacement, other) in enumerate(zip(ids.tolist(), best, others, strict=True)):
        nearest = int(np.argmax(similarity[place])) if problem.k > 1 else None
        changed = rows.copy()
        changed[place] = rows[place] if other is None else other
        reasons.append(
            Reason(
                id=own,
                relevance=float(relevance[place]),
                neighbour=None if nearest is None else int(ids[nearest]),
                similarity=None if nearest is None else float(similarity[place, nearest]),
                loss=None if other is None else value - problem.objective(changed),
                replacement=replacement,
            )
        )
    return reasons
