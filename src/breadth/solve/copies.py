"""The near-copies that chosen rows stand for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from breadth.arrays import Array, Ids
from breadth.oracles.protocol import Facts
from breadth.problem import Problem
from breadth.requests import Asking, Rows, Top
from breadth.selection import Selection
from breadth.solve.pick import first_count


def find_copies(distinct: float, ids: Ids, chosen: Ids, cosines: Array) -> tuple[Ids, ...]:
    """For each chosen row the rows that are too close to it to be chosen too, from their `cosines` (ids, chosen).

    A row that is too close to several belongs to the closest.
    """
    nobody = (ids[:0],) * len(chosen)
    pairs = cosines > distinct
    if not pairs.any():
        return nobody
    close = np.flatnonzero(pairs.any(axis=1))
    close = close[(ids[close, None] != chosen).all(axis=1)]
    if len(close) == 0:
        return nobody
    nearest = np.argmax(cosines[close], axis=1)
    return tuple(ids[close[nearest == place]] for place in range(len(chosen)))


def add_copies(solver: Asking[Selection], problem: Problem, facts: Facts) -> Asking[Selection]:
    """Run a solver; where it does not say which copies its rows stand for, look among the most relevant rows."""
    selection = yield from solver
    distinct = problem.constraints.distinct
    if distinct is None or selection.copies:
        return selection
    ids = (yield from Top(problem.query[None], min(first_count(problem), facts.size))).ids[0]
    rows = yield from Rows(ids)
    members = yield from Rows(selection.ids)
    return replace(selection, copies=find_copies(distinct, ids, selection.ids, problem.cosines(rows, members)))
