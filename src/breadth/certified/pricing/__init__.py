"""Pricing: does any row that is not held in memory improve the set (by a swap) or the bound?

Three ways with one interface: `search.py` needs maximum inner product search alone, so it works on every engine;
`reaching.py` is for collections that can search by threshold; `screening.py` for those that can score all rows.
"""

from __future__ import annotations

from typing import Protocol

from breadth.arrays import Ids, Vector
from breadth.certified.effort import Effort
from breadth.certified.pricing.question import Priced, Question
from breadth.certified.pricing.reaching import ReachPricing
from breadth.certified.pricing.screening import ScreenPricing
from breadth.certified.pricing.search import SearchPricing
from breadth.oracles.protocol import Facts
from breadth.problem import Problem
from breadth.requests import Asking


class Pricing(Protocol):
    """How a collection is asked."""

    @property
    def name(self) -> str: ...

    @property
    def begins_exactly(self) -> bool:
        """Whether `begin` gives exactly the most relevant rows."""

    def begin(self, count: int) -> Asking[Ids]:
        """The `count` most relevant ids, or about so."""

    def ask(self, question: Question) -> Asking[Priced]:
        """The answer to a question."""

    def above(self, w: Vector, threshold: float, most: int) -> Asking[Ids | None]:
        """Ids of all rows with a score above the threshold and perhaps some below, None if more than `most`."""


def choose_pricing(problem: Problem, facts: Facts, effort: Effort) -> Pricing:
    """The best way for this collection."""
    if facts.reaches:
        return ReachPricing(problem, facts, effort)
    if facts.scores_all:
        return ScreenPricing(problem, facts, effort)
    return SearchPricing(problem, facts, effort)


__all__ = ["Priced", "Pricing", "Question", "choose_pricing"]
