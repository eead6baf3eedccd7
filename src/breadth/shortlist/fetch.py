"""The shortlist: the most relevant rows that may be in a set, and what is known of all others."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from breadth.arrays import Array, Ids, Vector
from breadth.errors import InputError
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
    constraints = problem.constraints.fix_floor(float(scores[min(problem.k, len(ids)) - 1]))
    ceiling, is_cut = float(scores[-1]), len(ids) < count or count == facts.most_rows < facts.size
    if len(ids) == facts.size or (constraints.floor is not None and ceiling < constraints.floor):
        ceiling = -np.inf
    kept = constraints.admit(ids, scores) & np.isin(ids, constraints.pinned, invert=True)
    pins, ids, scores = constraints.pinned, ids[kept], scores[kept]
    if rows is not None:
        rows = rows[kept] if not kept.all() else rows
        if len(pins):
            rows = np.concatenate(((yield from Rows(pins)), rows))
    else:
        rows = yield from Rows(np.concatenate((pins, ids)))
    if len(pins):
        pinned_scores = np.asarray(rows[: len(pins)], dtype=np.float64) @ problem.query
        ids, scores = np.concatenate((pins, ids)), np.concatenate((pinned_scores, scores))
    return Shortlist(ids, rows, scores, len(pins), ceiling, is_cut)


def fix_floor(problem: Problem, facts: Facts) -> Asking[Problem]:
    """The problem with a floor instead of `on_topic`, which takes a search for the k most relevant rows."""
    if problem.constraints.on_topic is None:
        return problem
    found = yield from Top(problem.query[None], min(problem.k, facts.most_rows))
    return replace(problem, constraints=problem.constraints.fix_floor(float(found.scores[0, -1])))


def say_nothing_fits(problem: Problem, seen: int) -> InputError:
    """The error where no row at all may be in a set."""
    reasons = []
    constraints = problem.constraints
    if constraints.floor is not None:
        reasons.append(f"floor={constraints.floor:g} is above the relevance of every row")
    if len(constraints.excluded):
        reasons.append(f"excluded names {len(constraints.excluded)} rows")
    if constraints.costs is not None:
        reasons.append(f"no single row costs at most budget={constraints.budget:g}")
    return InputError(f"no row of the collection may be in a set ({seen} looked at): {'; '.join(reasons)}")
