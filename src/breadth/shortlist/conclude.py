"""The selection of a set that was chosen on a table."""

from __future__ import annotations

from typing import Any

import numpy as np

from breadth.arrays import Ids, Positions
from breadth.selection import Selection, conclude
from breadth.shortlist.copies import find_copies
from breadth.shortlist.table import Table


def conclude_on_table(
    table: Table,
    chosen: Positions,
    method: str,
    stats: dict[str, Any],
    *,
    bound: float | None = None,
    exact: bool = True,
    swap_optimal: bool = False,
    picked_in_order: bool = True,
) -> Selection:
    """Build the selection, with the near-copies that each chosen row stands for."""
    fewer = {} if len(chosen) == table.asked else {"asked": table.asked}
    if not picked_in_order:  # most relevant first
        chosen = chosen[np.lexsort((table.ids[chosen], -table.relevance[chosen]))]
    return conclude(
        table.problem,
        table.ids[chosen],
        table.shortlist.rows[chosen],
        method,
        picked_in_order=picked_in_order,
        bound=bound,
        exact=exact,
        swap_optimal=swap_optimal,
        stats={**stats, **fewer},
        copies=_find_copies(table, chosen),
    )


def _find_copies(table: Table, chosen: Positions) -> tuple[Ids, ...]:
    """The rows of the shortlist that are too close to each chosen row."""
    distinct, shortlist = table.problem.constraints.distinct, table.shortlist
    if distinct is None:
        return ()
    cosines = table.cosines[:, chosen]
    cosines[chosen] = -np.inf  # members are nobody's copies
    if len(shortlist) > len(table):
        similar = table.problem.similar(shortlist.rows)
        cosines = np.concatenate((cosines, similar[len(table) :] @ similar[chosen].T))
    return find_copies(distinct, shortlist.ids, table.ids[chosen], cosines)
