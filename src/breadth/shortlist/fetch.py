"""The shortlist: the most relevant rows that may be in a set, and what is known of all others."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from breadth.arrays import Array, Ids, Vector
from breadth.oracles.protocol import Facts
from breadth.problem import Problem
from breadth.requests import Asking, Rows, Top, TopRows


@dataclass(frozen=True, eq=False)
class Shortlist:
    """Rows that may be in a set: the pinned ones first, then the others, most relevant first.

    ids, rows    the rows
    scores       their relevance, to the precision of the engine
    pins         how many of them are pinned
    ceiling      no other row that may be in a set is more relevant than this; -∞ if there is none
    is_cut       whether the engine returned as many rows as it can, so that asking for more brings none
    """

    ids: Ids
    rows: Array
    scores: Vector
    pins: int
    ceiling: float
    is_cut: bool = False

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def is_complete(self) -> bool:
        """Whether there is no other row that may be in a set."""
        return self.ceiling == -np.inf

    @property
    def is_final(self) -> bool:
        """Whether asking for more rows brings none."""
        return self.is_complete or self.is_cut


def fetch_shortlist(problem: Problem, facts: Facts, count: int) -> Asking[Shortlist]:
    """Ask for the `count` most relevant rows of the collection, and for the pinned ones."""
    count = min(max(count, problem.k), facts.most_rows)
    rows: Array | None = None
    if facts.gives_rows:
        found = yield from TopRows(problem.query[None], count)
        ids, line, rows = found.ids[0], found.scores[0], found.rows[0]
    else:
        ids, line = (array[0] for array in (yield from Top(problem.query[None], count)))
    scores = np.asarray(line, dtype=np.float64)
    constraints = problem.constraints.fix(float(scores[min(problem.k, len(ids)) - 1]))
    ceiling, is_cut = float(scores[-1]), len(ids) < count or count == facts.most_rows < facts.size
    if len(ids) == facts.size or ceiling < constraints.floor:
        ceiling = -np.inf
    pins, kept = constraints.pinned, constraints.admit(ids, scores)
    if len(pins):
        kept &= np.isin(ids, pins, invert=True)
    if not kept.all():
        ids, scores = ids[kept], scores[kept]
        rows = None if rows is None else rows[kept]
    if rows is not None:
        if len(pins):
            rows = np.concatenate(((yield from Rows(pins)), rows))
    else:
        rows = yield from Rows(np.concatenate((pins, ids)) if len(pins) else ids)
    if len(pins):
        pinned_scores = np.asarray(rows[: len(pins)], dtype=np.float64) @ problem.query
        ids, scores = np.concatenate((pins, ids)), np.concatenate((pinned_scores, scores))
    return Shortlist(ids, rows, scores, len(pins), ceiling, is_cut)


def fix_constraints(problem: Problem, facts: Facts) -> Asking[Problem]:
    """The problem with constraints that know the k-th largest relevance, which may take a search."""
    if not problem.constraints.needs_kth:
        return problem
    found = yield from Top(problem.query[None], min(problem.k, facts.most_rows))
    return replace(problem, constraints=problem.constraints.fix(float(found.scores[0, -1])))
