"""Methods that pick one row after the other by a merit of every row: the loop they share.

A `Rule` says what a row is worth now. The loop asks the collection for similarities to each pick and tells the rule.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from breadth.arrays import Array, Vector
from breadth.clock import Clock
from breadth.problem import Problem
from breadth.requests import Asking, Rows, Scores
from breadth.selection import Selection, conclude


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

    When the time is up, the rest is filled with the most relevant rows, and `stats` says so.
    """
    k = problem.k
    chosen = np.empty(k, dtype=np.int64)
    rows = np.empty((k, len(problem.query)))
    stats: dict[str, Any] = {}
    for size in range(k):
        if "stopped" not in stats and clock.is_over():
            stats |= {"stopped": "time_limit", "filled": k - size}
        merits = relevance.copy() if size == 0 or stats else rule.rate()
        problem.allowed.bar(merits, chosen[:size])
        pick = int(np.argmax(merits))
        chosen[size] = pick
        rows[size] = (yield from Rows(chosen[size : size + 1]))[0]
        if size + 1 < k and not stats:
            similarities = None
            if rule.needs_similarities(pick):
                similarities = (yield from Scores(problem.similarity_direction(rows[size])[None]))[0]
            rule.learn(pick, rows[size], similarities)
    return conclude(problem, chosen, rows, method, picked_in_order=True, stats={**rule.stats, **stats})
