"""The m largest of an array, with ties decided: the earlier position wins.

Equal scores are then ranked the same however a scan was cut into blocks. (Copies of a row need not have equal scores:
BLAS may round the last bit differently depending on where a row stands.)
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from breadth.arrays import Array, Positions


def best(scores: Array, m: int) -> Positions:
    """Positions of the m largest scores, largest first, ties in order of position."""
    if m < len(scores):
        cut = np.partition(scores, len(scores) - m)[len(scores) - m]
        above = np.flatnonzero(scores > cut)
        tied = np.flatnonzero(scores == cut)[: m - len(above)]
        kept = np.sort(np.concatenate((above, tied)))
    else:
        kept = np.arange(len(scores))
    return kept[np.argsort(-scores[kept], kind="stable")]


class Leaders:
    """The m best of a stream of score blocks, in O(m + block) memory."""

    def __init__(self, m: int, dtype: npt.DTypeLike) -> None:
        self._m = m
        self.scores: Array = np.empty(0, dtype=dtype)
        self.positions: Positions = np.empty(0, dtype=np.int64)

    def offer(self, scores: Array, start: int) -> None:
        """Take in the scores of positions start, start + 1, …; blocks must come in increasing order."""
        if len(self.scores) == self._m:
            # A later position must be strictly better than the present m-th to enter.
            candidates = np.flatnonzero(scores > self.scores[-1])
            if len(candidates) == 0:
                return
            if len(candidates) > self._m:
                candidates = candidates[best(scores[candidates], self._m)]
        else:
            candidates = best(scores, min(self._m, len(scores)))
        candidates = np.sort(candidates)
        merged = np.concatenate((self.scores, scores[candidates]))
        positions = np.concatenate((self.positions, candidates + start))
        order = np.lexsort((positions, -merged))[: self._m]
        self.scores, self.positions = merged[order], positions[order]
