"""The whole work in one call of the kernels, for a shortlist, or for an array in memory with all of its rows.

It is done where the wishes are simple (`Constraints.is_simple`), the sharpness is even, and no time limit is set. The
kernels take the same steps as `search.py`, which goes on where they cannot.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from breadth import kernels
from breadth.altering import alter
from breadth.arrays import Array, Ids, Positions, Vector
from breadth.certified.effort import Effort
from breadth.certified.shortlist.search import Found, go_on, is_settled, make_aims, write_stats
from breadth.checks import UNIT_TOLERANCE
from breadth.clock import NO_LIMIT, Clock
from breadth.kernels.contract import Aims, Outcome, Wanted
from breadth.problem import Problem
from breadth.selection import Selection, conclude_with
from breadth.shortlist.conclude import conclude_on_table
from breadth.shortlist.fetch import Shortlist
from breadth.shortlist.table import Table

_NOTHING: Vector = np.empty(0)
_MOST = 1024
"""Rows of a shortlist, at the most. With more of them BLAS multiplies faster than the kernels do."""
LOWEST, HIGHEST = (1.0 - UNIT_TOLERANCE) ** 2, (1.0 + UNIT_TOLERANCE) ** 2
"""Squared lengths that pass for those of unit rows."""


class Work:
    """One query without its vector, prepared for the kernels. The `query` of its `problem` does not matter."""

    def __init__(self, problem: Problem, effort: Effort) -> None:
        wishes = problem.constraints
        self.problem, self.effort = problem, effort
        self.aims: Aims = make_aims(problem, effort)
        self.wanted = Wanted(
            problem.k, problem.relevance_weight, problem.coupling, problem.sharpness,
            np.inf if wishes.distinct is None else wishes.distinct, wishes.keep_best, wishes.floor, wishes.on_topic,
        )  # fmt: skip

    @staticmethod
    def is_possible(problem: Problem, clock: Clock) -> bool:
        """Whether the kernels can do all of it."""
        simple = problem.constraints.is_simple and problem.sharpness > 1
        return simple and clock.limit == np.inf and kernels.current().choose is not None

    def choose_listed(self, problem: Problem, shortlist: Shortlist, exact: bool) -> tuple[Selection | None, bool]:
        """Choose from a shortlist; no set where that takes more than one call. Whether rows beyond it matter."""
        rows = shortlist.rows
        if rows.dtype != np.float32 or not rows.flags.c_contiguous or shortlist.pins or problem.similarity_dim:
            return None, False
        ids, scores = shortlist.ids.astype(np.int64), shortlist.scores.astype(np.float64)
        outcome, values, stands = self._make_room(len(ids))
        outcome.totals[7] = shortlist.ceiling
        ended, swaps, copies, size, _ = self._call(
            True, rows, problem.query, _NOTHING, False, ids, scores, outcome, values, stands
        )
        if ended == 1:
            return self._conclude(shortlist.ids, size, outcome, values, swaps, stands if copies else None, exact), False
        if ended in (2, 3):
            return self._go_on(problem, shortlist, size, outcome, ended, swaps, exact), False
        return None, True

    def choose(
        self, rows: Array, query: Vector | None, given: Vector | None, length_error: float | None
    ) -> Selection | None:
        """Choose from all rows of an array by a query, or by the relevance that is given for each of them.

        `length_error`: the largest |‖e_i‖² - 1|, None if it is not known: then it is checked that all rows are of unit
        length. None where that takes more than one call, or is not so.
        """
        count = min(self.effort.count_shortlist(self.wanted.k), len(rows))
        vector, relevance = _NOTHING if query is None else query, _NOTHING if given is None else given
        while True:
            ids, scores = np.empty(count, np.int64), np.empty(count)
            outcome, values, stands = self._make_room(count)
            ended, swaps, copies, size, held = self._call(
                False, rows, vector, relevance, length_error is None, ids, scores, outcome, values, stands
            )
            if ended not in (0, 4) or held < count or count == len(rows) or 2 * count > _MOST:
                break
            count = min(2 * count, len(rows))  # rows beyond the shortlist matter
        if held < count:
            ids, scores, stands = ids[:held], scores[:held], stands[:held]
        if ended == 1:
            return self._conclude(ids, size, outcome, values, swaps, stands if copies else None, True)
        if ended not in (2, 3):
            return None
        problem, listed = self.problem, rows[ids]
        if query is None:
            axis = Problem.from_scores(rows.shape[1], problem.k, problem.theta)
            problem = alter(problem, query=axis.query, similarity_dim=axis.similarity_dim)
            listed = np.column_stack((listed, scores))
        else:
            problem = alter(problem, query=query)
        shortlist = Shortlist(ids, listed, scores, 0, float(outcome.totals[7]))
        return self._go_on(problem, shortlist, size, outcome, ended, swaps, True)

    def _call(
        self,
        listed: bool,
        rows: Array,
        query: Vector,
        given: Vector,
        check: bool,
        ids: Ids,
        scores: Vector,
        outcome: Outcome,
        values: Vector,
        stands: Positions,
    ) -> tuple[int, int, int, int, int]:
        choose = kernels.current().choose
        assert choose is not None
        return choose(
            self.effort.count_first(self.wanted.k), listed, rows, query, given, check, LOWEST, HIGHEST, self.wanted,
            self.aims, ids, scores, outcome, values, stands,
        )  # fmt: skip

    def _make_room(self, held: int) -> tuple[Outcome, Vector, Positions]:
        k = self.wanted.k
        return Outcome.of(held, k), np.empty(k), np.empty(held, np.int64)

    def _conclude(
        self, ids: Ids, size: int, outcome: Outcome, values: Vector, swaps: int, stands: Positions | None, exact: bool
    ) -> Selection:
        """The selection from what the kernels write."""
        copies: tuple[Ids, ...] = ()
        if self.problem.constraints.distinct is not None:
            k = self.wanted.k
            copies = (ids[:0],) * k if stands is None else tuple(ids[stands == place] for place in range(k))
        stats = write_stats("shortlist", 1, swaps, size, len(ids), "swap_optimal")
        return conclude_call(self.problem, ids[outcome.chosen], values, outcome.totals, exact, stats, copies)

    def count(self, rows: Array) -> dict[str, int]:
        """What the same would cost as requests at the most: a search, and the rows that it found."""
        held, dim = min(self.effort.count_shortlist(self.problem.k), len(rows)), rows.shape[1]
        return {"scans": 1, "requests": 2, "rows": held, "bytes": 8 * dim + 24 * held + 4 * dim * held}

    def _go_on(
        self, problem: Problem, shortlist: Shortlist, size: int, outcome: Outcome, ended: int, swaps: int, exact: bool
    ) -> Selection | None:
        """Go on with a tighter bound, on a table."""
        table = Table(problem, shortlist, size)
        found: Found = go_on(table, outcome.of_first(size), ended, swaps, NO_LIMIT, self.effort)
        if not is_settled(found):
            return None
        found.swap_optimal = True
        found.note("shortlist", 1, "rows")
        return conclude_on_table(
            table, found.chosen, "certified", found.stats, bound=found.bound, exact=exact, swap_optimal=True,
            picked_in_order=False,
        )  # fmt: skip


def conclude_call(
    problem: Problem,
    ids: Ids,
    values: Vector,
    totals: Vector,
    exact: bool,
    stats: dict[str, Any],
    copies: tuple[Ids, ...],
) -> Selection:
    """The selection from what the kernels write: a set that no swap improves."""
    pairs = max(0.5 * problem.scale, 1.0)
    return conclude_with(
        problem,
        ids,
        values,
        float(totals[5]) / pairs,
        1.0 - float(totals[6]) / pairs if len(ids) > 1 else 0.0,
        "certified",
        bound=float(totals[1]),
        exact=exact,
        swap_optimal=True,
        stats=stats,
        copies=copies,
    )
