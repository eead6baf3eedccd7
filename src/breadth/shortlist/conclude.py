"""The selection of a set that was chosen on a table."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from breadth.arrays import Ids, Mask, Positions
from breadth.selection import Selection, conclude
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
    copies = _find_copies(table, chosen)
    return replace(selection, copies=tuple(copies[int(i)] for i in selection.ids))


def _find_copies(table: Table, chosen: Positions) -> dict[int, Ids]:
    """For each chosen row, by its id, the rows that conflict with it; a row belongs to the member it is closest to."""
    conflicts = table.rules.apart[:, chosen] > 0
    nearest = np.argmax(np.where(conflicts, table.cosines[: len(table)][:, chosen], -np.inf), axis=1)
    left_out: Mask = np.asarray(conflicts.any(axis=1))
    left_out[chosen] = False
    return {int(table.ids[row]): table.ids[left_out & (nearest == place)] for place, row in enumerate(chosen)}
