"""The selection of a set that was chosen on a table."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from breadth.arrays import Positions
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
    selection = conclude(
        table.problem,
        table.ids[chosen],
        table.shortlist.rows[chosen],
        method,
        picked_in_order=picked_in_order,
        bound=bound,
        exact=exact,
        swap_optimal=swap_optimal,
        stats={**stats, **fewer},
    )
    if table.problem.constraints.distinct is None:
        return selection
    members = np.array([int(np.flatnonzero(table.ids == i)[0]) for i in selection.ids])
    cosines = np.where(table.rules.apart[:, members] > 0, table.cosines[:, members], -np.inf)
    return replace(selection, copies=find_copies(table.problem.constraints.distinct, table.ids, selection.ids, cosines))
