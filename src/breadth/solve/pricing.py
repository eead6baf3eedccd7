"""Does a row outside the block improve the set, by a swap, or raise the bound?

By relevance: where no pair cost is negative, a row is worth at most its weighted relevance. The block holds the first
rows of a pool of the most relevant ones, and the next one bounds all others: plain searches are enough.

By direction: with sharpness 1 pair costs can be negative. The marginal value of a row is its inner product with w(v),
its slope in the relaxation that with w(u) (`breadth.problem`): searches for these two directions find every row that
matters.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from breadth.arrays import Positions
from breadth.clock import Clock
from breadth.oracles.protocol import Facts
from breadth.problem import Problem
from breadth.requests import Asking
from breadth.solve.block import Block
from breadth.solve.direction import ByDirection
from breadth.solve.effort import Effort
from breadth.solve.found import Found
from breadth.solve.pool import Pool, fetch_pool

_FASTER = 4
"""A pool that is too small is asked for so many times more rows."""


class Pricing(Protocol):
    """How the rows outside a block are priced.

    name         what it is called in `stats`
    tries        sets (positions in the pool, all of them in the block) to start the next search from
    full         whether the core is to search for sets with all its effort now
    last         whether there will be no further rows
    search       whether to start and to search anew then, or to go on with the set that there is
    is_settled   whether no exchange of a member with a row outside gains
    may_enclose  whether the core can do more with a block that holds every row that can be in a better set
    gave_up      why it ended where nothing was settled
    """

    name: str
    tries: list[Positions]
    full: bool
    last: bool
    search: bool
    is_settled: bool
    may_enclose: bool
    gave_up: str

    def open(self, before: Block | None) -> Asking[Block]:
        """The first block: of its own pool, or the block of another θ."""

    def supply(self, block: Block) -> float:
        """What a row outside the block is worth at the most, if relevance tells; else -∞."""

    def grow(self, block: Block) -> Asking[Positions]:
        """Further rows of the pool for the block, whatever they are worth; none if there are no others."""

    def price(self, found: Found, late: bool) -> Asking[Positions | None]:
        """The rows of the pool that matter and are not in the block; None if there are none, so that all is done.

        `late`: do not ask the collection for more.
        """

    def bound(self, found: Found) -> float:
        """A bound on F of every allowed set of the collection."""

    def enclose(self, found: Found, most: int) -> Asking[Block | None]:
        """A block of at most so many rows that holds every row that can be in a better set; None if there are more."""

    def confirm(self, found: Found, late: bool) -> Asking[bool]:
        """Whether no exchange of a member of this set with any row of the collection gains."""


class ByRelevance:
    """The block is the beginning of a pool of the most relevant rows."""

    name, full, search, may_enclose, gave_up = "relevance", True, True, False, "rows"

    def __init__(self, problem: Problem, facts: Facts, effort: Effort, clock: Clock) -> None:
        self._problem, self._facts, self._effort, self._clock = problem, facts, effort, clock
        self.tries: list[Positions] = []
        self._count = self._next = 0
        self.is_settled = self.last = False

    def open(self, before: Block | None) -> Asking[Block]:
        effort, k = self._effort, self._problem.k
        if before is not None:
            self._count, self._next = len(before.pool), int(before.where.max()) + 1
            return before.at(self._problem)
        self._count = max(effort.pool, 4 * k)
        if self._facts.gives_rows:  # every row is sent
            self._count = max(64, 2 * k)
        self._count += len(self._problem.constraints.excluded)
        pool = yield from fetch_pool(self._problem, self._facts, self._count)
        if len(pool) == 0:
            raise pool.problem.constraints.say_nothing_fits(self._facts.size)
        # How many rows a budget allows is decided on all that were fetched: cheap rows may come late.
        limited = np.isfinite(pool.problem.constraints.budget)
        return Block(pool, self._advance(pool, len(pool) if limited else effort.block + 2 * k))

    def _advance(self, pool: Pool, count: int) -> Positions:
        """The next rows of the pool. Exact copies of a row are left out where they cannot stand beside it."""
        where = np.arange(self._next, len(pool))
        if pool.problem.constraints.merges_copies:
            where = where[~pool.are_copies(where)]
        self._next = int(where[count]) if len(where) > count else len(pool)
        return where[:count]

    def supply(self, block: Block) -> float:
        beyond = block.pool.scores[self._next :]
        best = float(beyond.max()) if len(beyond) else block.pool.ceiling
        return best if best == -np.inf else block.problem.relevance_weight * best

    def grow(self, block: Block) -> Asking[Positions]:
        pool = block.pool
        while True:
            more = self._advance(pool, max(self._next, 1))
            if len(more) or pool.is_final or self._count >= self._effort.most:
                return more
            self._count = min(_FASTER * self._count, max(self._effort.most, self._count))
            yield from fetch_pool(block.problem, self._facts, self._count, pool)

    def price(self, found: Found, late: bool) -> Asking[Positions | None]:
        self.is_settled = not found.result.needs_more
        if self.is_settled or late:
            return None
        more = yield from self.grow(found.block)
        if len(more) or not self.last:  # the block is solved once more when it is known that there are no others
            self.last = len(more) == 0
            return more
        return None

    def bound(self, found: Found) -> float:
        return found.bound

    def enclose(self, found: Found, most: int) -> Asking[Block | None]:
        yield from ()
        return None if found.result.outside or len(found.block) > most else found.block

    def confirm(self, found: Found, late: bool) -> Asking[bool]:
        yield from ()
        return self.is_settled


def choose_pricing(problem: Problem, facts: Facts, effort: Effort, clock: Clock) -> Pricing:
    """By relevance where no pair cost is negative."""
    return (ByRelevance if problem.sharpness > 1 else ByDirection)(problem, facts, effort, clock)
