"""The selection of a set that was chosen on a block."""

from __future__ import annotations

from typing import Any

import numpy as np

from breadth.arrays import Positions
from breadth.near import Copies, Copy, Variants
from breadth.selection import Selection, conclude
from breadth.solve.block import Block
from breadth.solve.copies import find_copies, find_variants


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
    """Build the selection, with the copies that each chosen row stands for, and its variants."""
    fewer = {} if len(chosen) == block.asked else {"asked": block.asked}
    if not picked_in_order:  # most relevant first
        chosen = chosen[np.lexsort((block.ids[chosen], -block.relevance[chosen]))]
    copies, variants = _find_near(block, chosen)
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
        copies=copies,
        variants=variants,
        least=None if block.repeats is None else block.relevance[chosen],
    )


def _find_near(block: Block, chosen: Positions) -> tuple[Copies, Variants]:
    """The copies and the variants of each chosen row, among the rows of the pool that were looked at."""
    distinct, texts, pool = block.problem.constraints.distinct, block.problem.constraints.texts, block.pool
    if block.repeats is not None:
        assert texts is not None
        copies = tuple(
            tuple(Copy(int(pool.ids[one.where]), one.cosine, one.relation) for one in block.repeats.of.get(where, ()))
            for where in block.where[chosen].tolist()
        )
        return copies, find_variants(texts, block.ids, block.ids[chosen], block.cosines[:, chosen], copies)
    if distinct is None:
        return (), ()
    members = pool.where_flat(block.where[chosen])
    cosines = pool.multiply(members).T
    cosines[block.where[chosen]] = -np.inf  # members are nobody's copies
    return find_copies(distinct, pool.ids, block.ids[chosen], cosines), ()
