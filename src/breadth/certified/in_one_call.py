"""The paper's objective on an array in memory, in one call of the kernels.

They take the steps of `settle.py` on a block of their own. That is done without constraints, and where relevance counts
for much: for a lower θ, more is tried than these steps. Where the bound leaves few rows that can be in a better set,
all their sets are gone through, and the set is proved optimal (docs/decisions/0013-all-sets-of-few-rows.md). Else, for
a small k, greedy starts on a wide block find what `settle.py` finds with four times as many and a longer tabu search
over all rows (docs/decisions/0012-one-call.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from breadth import kernels
from breadth.arrays import Array, Positions, Vector
from breadth.certified.effort import Effort
from breadth.certified.shortlist.at_once import HIGHEST, LOWEST, conclude_call
from breadth.certified.shortlist.search import make_aims, write_stats
from breadth.kernels.contract import Wanted
from breadth.problem import Problem
from breadth.selection import Selection

LEAST_THETA = 0.7
_WIDE, _FEWEST = 128, 4
"""Rows of the block for up to `few` rows, at least. For fewer than so many rows of a set, larger arrays are left to the
other way, which looks at more of them."""
_ROOM, _ROOM_FOR_EACH = 192, 4
"""Rows that the block has room for, and so many for each of the k."""


@dataclass(frozen=True, eq=False)
class Chosen:
    """What one call finds on some rows.

    places, scores    the set, most relevant row first, and its relevance
    totals            F of the set, the bound on the sets of these rows, and what `kernels.contract.Choose` adds
    w_dual, best      w(u) of the dual vector, and the k largest scores for it
    swaps, block      swaps that were made, and rows of the block
    decided           whether all sets of these rows that can be better were gone through
    """

    places: Positions
    scores: Vector
    totals: Vector
    w_dual: Vector
    best: Vector
    swaps: int
    block: int
    decided: bool


class PlainWork:
    """One query without its vector, prepared for the kernels. The `query` of its `problem` does not matter."""

    def __init__(self, problem: Problem, effort: Effort) -> None:
        self.problem, self.effort = problem, effort
        self.aims = make_aims(problem, effort)
        self.wanted = Wanted(problem.k, problem.relevance_weight, problem.coupling, 1, np.inf, False, -np.inf, 0.0)
        self._few = problem.k <= effort.few
        self._aims_for_all = self.aims._replace(decided=effort.decided, looks=1 << 62)

    @staticmethod
    def is_served(problem: Problem) -> bool:
        """Whether this is a problem that the kernels solve."""
        return problem.is_plain and problem.k > 1 and 0.0 < problem.theta < 1.0

    def choose(
        self, rows: Array, query: Vector | None, given: Vector | None, length_error: float | None
    ) -> Selection | None:
        """Choose from all rows of an array by a query.

        `length_error`: the largest |‖e_i‖² - 1|, None if it is not known: then it is checked that all rows are of unit
        length. None where that takes more than one call, or is not so.
        """
        found = None if query is None else self.call(rows, query, length_error)
        if found is None:
            return None
        stats = write_stats("in memory", 1, found.swaps, found.block, len(rows), "swap_optimal")
        return conclude_call(self.problem, found.places, found.scores, found.totals, True, stats, ())

    def call(self, rows: Array, query: Vector, length_error: float | None) -> Chosen | None:
        """Choose from some rows; None as for `choose`."""
        k, count, effort = self.problem.k, len(rows), self.effort
        has_few_sets = count <= effort.decided and math.comb(count, k) <= effort.sets
        if count == k or not (has_few_sets or self._is_easy(count)):
            return None
        choose = kernels.current().choose_plain
        assert choose is not None
        places, scores, totals = np.empty(k, np.int64), np.empty(k), np.empty(8)
        w, best = np.empty(len(query)), np.empty(k)
        many = effort.first_rows // k if self._few else 0
        ended, swaps, block = choose(
            effort.count_first(k), min(count, _ROOM + _ROOM_FOR_EACH * k), _WIDE if self._few else 0,
            rows, query, length_error is None, LOWEST, HIGHEST, 1.0 + (length_error or 0.0), self.wanted,
            self._aims_for_all if has_few_sets else self.aims, effort.entering + k // 2, many, places, scores, totals,
            w, best,
        )  # fmt: skip
        return Chosen(places, scores, totals, w, best, swaps, block, ended == 2) if ended in (1, 2) else None

    def _is_easy(self, count: int) -> bool:
        """Whether the kernels find as good a set of so many rows as the other way does."""
        few = count <= (_WIDE if self.problem.k < _FEWEST else self.effort.whole)
        return few and self.problem.theta >= LEAST_THETA

    def count(self, rows: Array) -> dict[str, int]:
        """What the same would have cost as requests: all rows."""
        count, dim = rows.shape
        return {"scans": 0, "requests": 1, "rows": count, "bytes": 8 * count + 4 * count * dim}
