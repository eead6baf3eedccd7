"""The reasons behind a selection, by one batched search: the best replacement of each member."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from breadth.arrays import Ids, Vector
from breadth.explanation import Explanation, Reason
from breadth.oracles.protocol import Facts
from breadth.problem import Problem
from breadth.requests import Asking, Rows, Top
from breadth.solve.block import Block
from breadth.solve.partial import Partial
from breadth.solve.pick import MOST, first_count
from breadth.solve.pool import fetch_pool, fix_constraints


def explain(problem: Problem, facts: Facts, ids: Ids) -> Asking[Explanation]:
    """An `Explanation` of the set `ids`.

    Without member j the best row to put in is the one with the largest e_i·w(v - e_j), for F(S - j + i) is a constant
    plus that. The members themselves can take k - 1 of the best places, so the k + 1 best are asked for.
    """
    rows = np.asarray((yield from Rows(ids)), dtype=np.float64)
    if not problem.is_plain:
        best, others = yield from _find_replacements(problem, facts, ids)
        return Explanation(tuple(_give_reasons(problem, ids, rows, best, others)))
    found = yield from Top(problem.replacement_directions(rows), min(facts.size, problem.k + 1))
    best = []
    for member, candidates in zip(ids, found.ids, strict=True):
        fitting = candidates[problem.allowed.may_replace(candidates, ids, int(member))]
        best.append(int(fitting[0]) if len(fitting) else None)
    known = np.array([i for i in best if i is not None], dtype=np.int64)
    fetched = dict(zip(known.tolist(), np.asarray((yield from Rows(known)), dtype=np.float64), strict=True))
    others = [None if other is None else fetched[other] for other in best]
    return Explanation(tuple(_give_reasons(problem, ids, rows, best, others)))


def _find_replacements(
    problem: Problem, facts: Facts, ids: Ids
) -> Asking[tuple[list[int | None], list[Vector | None]]]:
    """The best allowed replacement of each member and its row, on a pool that is long enough to hold it."""
    if problem.sharpness == 1:
        return (yield from _search_replacements(problem, facts, ids))
    count = first_count(problem)
    while True:
        pool = yield from fetch_pool(problem, facts, count)
        members = np.flatnonzero(np.isin(pool.ids, ids))
        block = Block(pool, members)
        block.enter(np.setdiff1d(np.arange(len(pool)), members))
        block.supply = pool.ceiling if pool.is_complete else problem.relevance_weight * pool.ceiling
        block.resize(len(ids))
        found = block.find_replacements(np.arange(len(members)))
        if found is not None or pool.is_final or count >= MOST:
            break
        count *= 2
    places = {} if found is None else found
    best: list[int | None] = [places.get(int(member)) for member in ids]
    where = {int(i): place for place, i in enumerate(pool.ids)}
    others = [None if other is None else np.asarray(pool.rows[where[other]], dtype=np.float64) for other in best]
    return best, others


def _search_replacements(
    problem: Problem, facts: Facts, ids: Ids
) -> Asking[tuple[list[int | None], list[Vector | None]]]:
    """The same for sharpness 1, by a search for each member: the best row for its place that may join the rest."""
    problem = yield from fix_constraints(problem, facts)
    rows = np.asarray((yield from Rows(ids)), dtype=np.float64)
    found = yield from Top(problem.replacement_directions(rows), min(facts.size, len(ids) + _CANDIDATES))
    kept = int(np.argmax(rows @ problem.query)) if problem.constraints.keep_best else -1
    best: list[int | None] = []
    others: list[Vector | None] = []
    for place in range(len(ids)):
        candidates = found.ids[place]
        fetched = np.asarray((yield from Rows(candidates)), dtype=np.float64)
        rest = Partial(problem)
        for identity, row in zip(np.delete(ids, place).tolist(), np.delete(rows, place, axis=0), strict=True):
            rest.add(identity, row)
        fitting = np.flatnonzero(rest.admits(candidates, fetched) & (candidates != ids[place]))
        stays = len(fitting) == 0 or ids[place] in problem.constraints.pinned or place == kept
        best.append(None if stays else int(candidates[fitting[0]]))
        others.append(None if stays else fetched[fitting[0]])
    return best, others


_CANDIDATES = 64
"""Rows that are looked at for each member, beside the members."""


def _give_reasons(
    problem: Problem, ids: Ids, rows: Vector, best: list[int | None], others: list[Vector | None]
) -> list[Reason]:
    """One reason for each member; `others` are the rows of the best replacements."""
    relevance = rows @ problem.query
    problem = replace(problem, k=len(ids))
    similarity = problem.cosines(rows, rows)
    np.fill_diagonal(similarity, -np.inf)
    value = problem.objective(rows, ids)
    reasons = []
    for place, (own, replacement, other) in enumerate(zip(ids.tolist(), best, others, strict=True)):
        nearest = int(np.argmax(similarity[place])) if problem.k > 1 else None
        changed = rows.copy()
        changed[place] = rows[place] if other is None else other
        names = ids.copy()
        names[place] = own if replacement is None else replacement
        reasons.append(
            Reason(
                id=own,
                relevance=float(relevance[place]),
                neighbour=None if nearest is None else int(ids[nearest]),
                similarity=None if nearest is None else float(similarity[place, nearest]),
                loss=None if other is None else value - problem.objective(changed, names),
                replacement=replacement,
            )
        )
    return reasons
