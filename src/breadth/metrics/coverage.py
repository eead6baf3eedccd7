"""How much of the relevant material a set stands for."""

from __future__ import annotations

from typing import Any

import numpy as np

from breadth.arrays import Positions
from breadth.checks import check_count, check_relevance, check_sharpness, check_unit_rows
from breadth.coverage.worth import (
    SHARPNESS,
    TARGETS,
    find_targets,
    measure,
    state_worth,
    weigh_targets,
)
from breadth.errors import InputError


def coverage(vectors: Any, scores: Any, chosen: Any, *, sharpness: int = SHARPNESS, targets: int = TARGETS) -> float:
    """Return the share of the relevant material that the chosen passages stand for: 0 is nothing, 1 is all of it.

    vectors     unit rows of the passages there are, or of a pool of candidates that holds the relevant ones
    scores      how relevant each of them is to the query: its cosine, or what a reranker says
    chosen      the positions of the chosen passages in `vectors`; their order does not matter
    sharpness   how much alike two passages must be for one to stand for the other: a cosine w counts w to this power.
                1 or an even number. At 1 a negative cosine counts 0
    targets     so many of the most relevant passages are the relevant material; all, if there are fewer

    coverage = Σ_t ω_t max_i s_it: each relevant passage t counts by the chosen passage i that is most like it. The more
    relevant a passage, the larger its weight ω_t; the weights add up to 1 (`breadth.coverage.worth.weigh_targets`).

    Compare sets of one pool, with the same settings:

        share, plain = (metrics.coverage(vectors, vectors @ query, ids) for ids in (selection.ids, top.ids))
        print(f"these passages stand for {share:.0%} of the relevant material, as many of the top for {plain:.0%}")
    """
    rows = check_unit_rows(vectors, "vectors")
    relevance = check_relevance(scores, len(rows))
    picks = _check_positions(chosen, len(rows))
    relevant = find_targets(relevance, check_count(targets, "targets"))
    worth = state_worth(rows[picks], rows[relevant], weigh_targets(relevance[relevant]), check_sharpness(sharpness))
    return min(measure(worth, np.arange(len(picks))), 1.0)


def _check_positions(chosen: Any, size: int) -> Positions:
    positions = np.asarray(chosen)
    if positions.ndim != 1 or positions.size == 0 or positions.dtype.kind not in "iu":
        raise InputError(f"chosen must be a list of row numbers of vectors, got {chosen!r}")
    if positions.min() < 0 or positions.max() >= size:
        wrong = positions[(positions < 0) | (positions >= size)][0]
        raise InputError(f"chosen holds {wrong}, but vectors has rows 0 to {size - 1}")
    return positions.astype(np.int64)
