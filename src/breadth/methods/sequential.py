"""Methods that pick one row after the other by a merit of every row: the loop they share.

A `Rule` says what a row is worth now. The loop asks the collection for similarities to each pick and tells the rule.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from breadth.arrays import Array, Mask, Vector
from breadth.clock import Clock
from breadth.problem import Problem
from breadth.requests import Asking, Rows, Scores
from breadth.selection import Selection, conclude
from breadth.solve.partial import Partial, Scored

_ROUNDING = 2e-7
"""What float32 arithmetic changes in a cosine: a pair in doubt counts as too close."""


class Rule(Protocol):
    """What a row is worth, given the picks so far."""

    @property
    def stats(self) -> dict[str, Any]:
        """What the rule noticed."""

    def rate(self) -> Array:
        """The merit of every row; the loop may overwrite it."""

    def needs_similarities(self, pick: int) -> bool:
        """Whether `learn` wants the similarities of all rows to this pick."""

    def learn(self, pick: int, row: Vector, similarities: Array | None) -> None:
        """Take note of a pick."""


def pick_by_rule(problem: Problem, method: str, relevance: Array, rule: Rule, clock: Clock) -> Asking[Selection]:
    """The most relevant row first, then k - 1 times the row with the largest merit. k scans.

    Pinned rows come before all others; a row that the constraints do not let in is passed over. When the time is up,
    the rest is filled with the most relevant rows, and `stats` says so.
    """
    k = problem.k
    constraints = problem.constraints.fix(float(np.partition(relevance, len(relevance) - k)[len(relevance) - k]))
    partial = Partial(problem)
    pins = yield from Rows(constraints.pinned)
    partial.pin(pins)
    pinned = len(partial)
    everyone = np.arange(len(relevance))
    barred = ~constraints.admit(everyone, relevance)
    stats: dict[str, Any] = {}
    for size in range(k):
        if size < pinned:
            pick = int(constraints.pinned[size])
        else:
            if "stopped" not in stats and clock.is_over():
                stats |= {"stopped": "time_limit", "filled": k - size}
            merits = relevance.copy() if size == pinned or stats else rule.rate()
            pick = _choose(partial, merits, relevance, barred)
            if pick < 0:
                break
            partial.add(pick, (yield from Rows(np.array([pick])))[0])
        barred[pick] = True
        if size + 1 < k:
            yield from _learn(partial.rows[size], pick, rule, barred, problem, learns=not stats)
    if len(partial) == 0:
        raise problem.constraints.say_nothing_fits(len(relevance))
    ids, rows = np.array(partial.ids), np.array(partial.rows)
    return conclude(problem, ids, rows, method, picked_in_order=True, stats={**rule.stats, **stats})


def _choose(partial: Partial, merits: Array, relevance: Array, barred: Mask) -> int:
    """The row with the largest merit that may join; -1 if there is none. Overwrites the merits.

    Where the rule gives all of these the merit -∞, the most relevant one.
    """
    closed = barred | ~partial.has_room(np.arange(len(merits))) if partial.limits_rows else barred
    merits[closed] = -np.inf
    pick = int(np.argmax(merits))
    if merits[pick] == -np.inf:
        pick = int(np.argmax(np.where(closed, -np.inf, relevance)))
    return -1 if closed[pick] else pick


def _learn(row: Vector, pick: int, rule: Rule, barred: Mask, problem: Problem, learns: bool) -> Asking[None]:
    """Tell the rule about a pick, and bar the rows that are too close to it."""
    constraints = problem.constraints
    needed = learns and rule.needs_similarities(pick)
    similarities = None
    if needed or constraints.limits_pairs:
        direction = problem.similarity_direction(row)
        similarities = (yield from Scores(direction[None]))[0]
        if constraints.limits_pairs:
            pairs = Scored(np.arange(len(barred)), np.array([pick]), similarities[:, None], _ROUNDING)
            barred |= constraints.clash(pairs)[:, 0]
    if learns:
        rule.learn(pick, row, similarities if needed else None)
