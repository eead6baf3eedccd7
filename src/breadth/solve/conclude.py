"""The selection of a set that was chosen on a block."""

from __future__ import annotations

from typing import Any

import numpy as np

from breadth.arrays import Ids, Positions
from breadth.selection import Selection, conclude
from breadth.solve.block import Block
from breadth.solve.copies import find_copies


def conclude_on_block(
    block: Block,
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
    fewer = {} if len(chosen) == block.asked else {"asked": block.asked}
    if not picked_in_order:  # most relevant first
        chosen = chosen[np.lexsort((block.ids[chosen], -block.relevance[chosen]))]
    return conclude(
        block.problem,
        block.ids[chosen],
        block.pool.rows[block.where[chosen]],
        method,
        picked_in_order=picked_in_order,
        bound=bound,
        exact=exact,
        swap_optimal=swap_optimal,
        stats={**stats, **fewer},
        copies=_find_copies(block, chosen),
    )


def _find_copies(block: Block, chosen: Positions) -> tuple[Ids, ...]:
    """The rows of the pool that are too close to each chosen row."""
    distinct, pool = block.problem.constraints.distinct, block.pool
    if distinct is None:
        return ()
    members = pool.where_flat(block.where[chosen])
    cosines = pool.multiply(members).T
    cosines[block.where[chosen]] = -np.inf  # members are nobody's copies
    return find_copies(distinct, pool.ids, block.ids[chosen], cosines)
