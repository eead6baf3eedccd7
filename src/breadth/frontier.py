"""The relevance-diversity curve of one query: selections by θ, and ways to choose one of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from breadth.checks import check_number
from breadth.errors import InputError
from breadth.selection import Selection


@dataclass(frozen=True, eq=False)
class Frontier:
    """Selections by increasing θ: relevance never falls and diversity never rises along it.

    `top_relevance` is the mean relevance of plain top-k, the most that any set reaches.
    """

    selections: tuple[Selection, ...]
    top_relevance: float

    def __iter__(self) -> Iterator[Selection]:
        return iter(self.selections)

    def __len__(self) -> int:
        return len(self.selections)

    def __getitem__(self, place: int) -> Selection:
        return self.selections[place]

    def keep(self, share: float) -> Selection:
        """The most diverse selection that keeps this share of top-k's mean relevance."""
        floor = relevance_floor(self.top_relevance, share)
        for selection in self.selections:
            if selection.relevance >= floor:
                return selection
        raise InputError(
            f"no selection of this frontier keeps {share:g} of top-k's relevance {self.top_relevance:.4f}; "
            "include a larger theta (1.0 always does)"
        )

    def knee(self) -> Selection:
        """The selection farthest above the straight line between the ends of the curve, both axes scaled to [0, 1].

        Beyond it, more diversity costs relevance at a worse rate than on average.
        """
        relevance = np.array([s.relevance for s in self.selections])
        diversity = np.array([s.diversity for s in self.selections])
        if np.ptp(relevance) <= 1e-9 or np.ptp(diversity) <= 1e-9:
            return self.selections[-1]
        height = (relevance - relevance.min()) / np.ptp(relevance) + (diversity - diversity.min()) / np.ptp(diversity)
        # Ties (and curves without a bend) go to the more relevant end.
        return self.selections[len(height) - 1 - int(np.argmax(height[::-1]))]

    def choose(self, judge: Callable[[Selection], float]) -> Selection:
        """The selection a judge scores highest; each different set is judged once. Ties: the more relevant one."""
        best_score, chosen = -np.inf, None
        seen: set[frozenset[int]] = set()
        for selection in reversed(self.selections):
            key = frozenset(selection.ids.tolist())
            if key in seen:
                continue
            seen.add(key)
            score = check_number(judge(selection), "the score that choose returned", -np.finfo(float).max)
            if score > best_score:
                best_score, chosen = score, selection
        assert chosen is not None
        return chosen

    def with_stats(self, **more: Any) -> Frontier:
        """The same with further entries in the stats of every selection."""
        return replace(self, selections=tuple(s.with_stats(**more) for s in self.selections))


def relevance_floor(top: float, share: float) -> float:
    """The least relevance that keeps a share of top-k's; also sensible where that is negative."""
    return top - (1.0 - share) * abs(top) - 1e-12
