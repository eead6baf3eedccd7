"""The selection of a set that was chosen on a block."""

from __future__ import annotations

from typing import Any

import numpy as np

from breadth.arrays import Ids, Positions
from breadth.near import NOTHING_NEAR, Copy, Near
from breadth.selection import Selection, conclude
from breadth.solve.block import Block
from breadth.solve.copies import find_near, find_variants, list_given_up, name_judge, represent

_TIE = 1e-6
"""Relevance that differs by less is equal."""


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
    ids, near = _find_near(block, chosen)
    if near is not NOTHING_NEAR:
        stats = {**stats, "judged_by": name_judge(block.problem)}
    return conclude(
        block.problem,
        ids,
        block.pool.rows[block.where[chosen]],
        method,
        picked_in_order=picked_in_order,
        bound=bound,
        exact=exact,
        swap_optimal=swap_optimal,
        stats={**stats, **fewer},
        near=near,
        least=None if block.repeats is None else block.relevance[chosen],
    )


def _find_near(block: Block, chosen: Positions) -> tuple[Ids, Near]:
    """The ids to report, and what they have to do with the rows of the pool that were looked at."""
    constraints, pool, ids = block.problem.constraints, block.pool, block.ids[chosen]
    if constraints.distinct is None and constraints.texts is None:
        return ids, NOTHING_NEAR
    top = _find_top(block, chosen)
    if block.repeats is None:
        cosines = pool.multiply(pool.where_flat(block.where[chosen])).T
        near = find_near(block.problem, pool.ids, ids, cosines, top)
    else:
        assert constraints.texts is not None
        copies = tuple(
            tuple(Copy(int(pool.ids[one.where]), one.cosine, one.relation) for one in block.repeats.of.get(where, ()))
            for where in block.where[chosen].tolist()
        )
        variants = find_variants(constraints.texts, block.ids, ids, block.cosines[:, chosen], copies)
        near = Near(copies, variants, list_given_up(top, ids, copies))
    return represent(block.problem, ids, near)


def _find_top(block: Block, chosen: Positions) -> Ids:
    """The rows of plain top-k among those that may be in a set, without those that are no more relevant than the least
    relevant row of the set; none if the pool may not hold all of them."""
    pool = block.pool
    order = np.argsort(-pool.scores, kind="stable")[: block.asked]
    if len(order) and pool.scores[order[-1]] < pool.ceiling:
        order = order[:0]
    last = block.relevance[chosen].min() if len(chosen) == block.asked else -np.inf
    return pool.ids[order[pool.scores[order] > last + _TIE]]
