"""How few passages reach a given coverage."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from breadth.arrays import Positions, Vector
from breadth.checks import check_count, check_number
from breadth.clock import NO_LIMIT, Clock
from breadth.coverage.dual import Covering, prove
from breadth.coverage.search import TIE, exchange, pick_greedily
from breadth.coverage.worth import measure_prefixes
from breadth.errors import InputError


@dataclass(frozen=True, eq=False)
class SmallestCovering:
    """The smallest set that was found to reach a share of the relevant material.

    share      the coverage that was asked for
    chosen     the candidates, by their positions
    coverage   C of the set
    bound      no set of this size has a larger C
    reached    whether `coverage` reaches the share. If not, the set has the largest size that was allowed, unless the
               time was up
    minimal    whether it is proved that no smaller set reaches the share. If the share was not reached: whether it is
               proved that no set of the largest allowed size reaches it
    stopped    whether the time was up before the search was over
    """

    share: float
    chosen: Positions
    coverage: float
    bound: float
    reached: bool
    minimal: bool
    stopped: bool = False

    @property
    def k(self) -> int:
        """The number of passages."""
        return len(self.chosen)

    def describe(self) -> str:
        """Say in a sentence what was found."""
        found = f"{self.k} passages stand for {self.coverage:.1%} of the relevant material"
        if self.reached:
            return f"{found}; {'no fewer' if self.minimal else 'perhaps fewer'} could reach {self.share:.1%}"
        reason = "the time was up" if self.stopped else "no more are allowed"
        missed = f"{found}, which does not reach {self.share:.1%}, and {reason}"
        return f"{missed}; no other set would reach it" if self.minimal else missed


def find_smallest(worth: Vector, share: float, max_k: int, clock: Clock = NO_LIMIT) -> SmallestCovering:
    """Return the smallest set of at most `max_k` candidates whose coverage reaches `share`.

    One greedy run says how many picks reach the share. From there the search tries one member fewer, with exchanges
    and the dual, as long as that still reaches the share. If it does not, the dual bound of the smaller size often
    proves that no set of that size can; the set is then minimal.
    """
    check_number(share, "share", 0.0, 1.0)
    if check_count(max_k, "max_k") > len(worth):
        raise InputError(f"max_k must be at most the number of candidates ({len(worth)}), got {max_k}")
    order = pick_greedily(worth, max_k, clock)
    enough = np.flatnonzero(measure_prefixes(worth, order) >= share - TIE)
    k = int(enough[0]) + 1 if len(enough) else len(order)
    found = _improve(worth, order[:k], clock)
    if found.coverage < share - TIE:
        # Without time greedy may have stopped at a smaller k; the bound is then that of all candidates together.
        return _conclude(found, share, found.bound < share - TIE, found.stopped)
    while k > 1:
        smaller = _improve(worth, order[: k - 1], clock)
        if smaller.coverage < share - TIE:
            return _conclude(found, share, smaller.bound < share - TIE, smaller.stopped)
        found, k = smaller, k - 1
    return _conclude(found, share, True, found.stopped)


def _improve(worth: Vector, picks: Positions, clock: Clock) -> Covering:
    """Exchanges and the dual, from the picks of greedy."""
    return prove(worth, exchange(worth, picks, clock), clock)


def _conclude(found: Covering, share: float, minimal: bool, stopped: bool) -> SmallestCovering:
    reached = found.coverage >= share - TIE
    return SmallestCovering(share, found.chosen, found.coverage, found.bound, reached, minimal, stopped)
