"""The shortlist: the most relevant rows that may be in a set, and what is known of all others."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from breadth.arrays import Array, Ids, Vector
from breadth.errors import InputError
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
    constraints = problem.constraints.fix_floor(float(scores[min(problem.k, count) - 1]))
    ceiling = -np.inf if count == facts.size else float(scores[-1])
    if constraints.floor is not None and ceiling < constraints.floor:
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


def fix_floor(problem: Problem, facts: Facts) -> Asking[Problem]:
    """The problem with a floor instead of `on_topic`, which takes a search for the k most relevant rows."""
    if problem.constraints.on_topic is None:
        return problem
    found = yield from Top(problem.query[None], min(problem.k, facts.size))
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
