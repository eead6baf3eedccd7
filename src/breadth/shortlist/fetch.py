"""The shortlist: the most relevant rows that may be in a set, and what is known of all others."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from breadth.arrays import Array, Ids, Vector
from breadth.oracles.protocol import Facts
from breadth.problem import Problem
from breadth.requests import Asking, Rows, Top


@dataclass(frozen=True, eq=False)
class Shortlist:
    """Rows that may be in a set: the pinned ones first, then the others, most relevant first.

    ids, rows    the rows
    scores       their relevance, to the precision of the engine
    pins         how many of them are pinned
    ceiling      no other row that may be in a set is more relevant than this; -∞ if there is none
    """

    ids: Ids
    rows: Array
    scores: Vector
    pins: int
    ceiling: float

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def is_complete(self) -> bool:
        """Whether there is no other row that may be in a set."""
        return self.ceiling == -np.inf


def fetch_shortlist(problem: Problem, facts: Facts, count: int) -> Asking[Shortlist]:
    """Ask for the `count` most relevant rows of the collection, and for the pinned ones."""
    count = min(max(count, problem.k), facts.size)
    found = yield from Top(problem.query[None], count)
    ids, scores = found.ids[0], np.asarray(found.scores[0], dtype=np.float64)
    constraints = problem.constraints.fix(float(scores[min(problem.k, count) - 1]))
    ceiling = -np.inf if count == facts.size else float(scores[-1])
    if ceiling < constraints.floor:
        ceiling = -np.inf
    if constraints.is_free:
        return Shortlist(ids, (yield from Rows(ids)), scores, 0, ceiling)
    pins = constraints.pinned
    kept = constraints.admit(ids, scores)
    if len(pins):
        kept &= np.isin(ids, pins, invert=True)
    elif kept.all():
        return Shortlist(ids, (yield from Rows(ids)), scores, 0, ceiling)
    rows = yield from Rows(np.concatenate((pins, ids[kept])))
    pinned_scores = np.asarray(rows[: len(pins)], dtype=np.float64) @ problem.query
    return Shortlist(
        np.concatenate((pins, ids[kept])), rows, np.concatenate((pinned_scores, scores[kept])), len(pins), ceiling
    )


def fix_constraints(problem: Problem, facts: Facts) -> Asking[Problem]:
    """The problem with constraints that know the k-th largest relevance, which may take a search."""
    if not problem.constraints.needs_kth:
        return problem
    found = yield from Top(problem.query[None], min(problem.k, facts.size))
    return replace(problem, constraints=problem.constraints.fix(float(found.scores[0, -1])))
