"""Which rows of a block say all that others say: one row of each such group stays.

Longer texts come first, so that of two passages the one that contains the other stays, whichever is more relevant. A
row that stays has at least the relevance of every row that it stands for. So every row of plain top-k is in the best
set for θ = 1, or a row of that set says all of it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from breadth.arrays import Ids, Mask, Matrix, Positions, Vector
from breadth.constraints.texts import COMPARED, Texts
from breadth.text.tokens import Tokens


class Repeat(NamedTuple):
    """A row that was left out: its place in the pool, its cosine with the row that says all of it, and how it does."""

    where: int
    cosine: float
    relation: str


class Repeats:
    """The rows of a block that were left out, by the row that stands for them. Rows are places in the pool."""

    def __init__(self, texts: Texts, pins: int) -> None:
        self._texts, self._pins = texts, pins
        self.of: dict[int, list[Repeat]] = {}
        self._tokens: dict[int, Tokens] = {}

    def leave_out(
        self, ids: Ids, where: Positions, cosines: Matrix, relevance: Vector, old: int
    ) -> tuple[Mask, dict[int, int]]:
        """Which rows of a block stay, and which of the new ones take the place of which old one.

        The first `old` rows were looked at before; the first rows of the pool are pinned, and always stay. `relevance`
        is raised in place.
        """
        near = cosines > min(COMPARED, self._texts.paraphrase)
        near |= near.T
        near[:old, :old] = False
        np.fill_diagonal(near, False)
        stays, replaced = np.ones(len(ids), dtype=bool), dict[int, int]()
        involved = np.flatnonzero(near.any(axis=0))
        if len(involved) == 0:
            return stays, replaced
        for row, tokens in zip(involved.tolist(), self._texts.read_rows(ids[involved].tolist()), strict=True):
            self._tokens[int(where[row])] = tokens
        first = [row for row in involved.tolist() if row < old or where[row] < self._pins]
        later = sorted(set(involved.tolist()) - set(first), key=lambda row: (-len(self._tokens[int(where[row])]), row))
        for row in later:
            close = sorted((other for other in first if near[row, other]), key=lambda other: -cosines[row, other])
            said = next((r for other in close if (r := self._find(other, row, where, cosines))), None)
            if said is None:
                for other in [other for other in close if other >= old and self._replace(row, other, where, cosines)]:
                    stays[other], relevance[row] = False, max(relevance[row], relevance[other])
                    first.remove(other)
                first.append(row)
                continue
            whole, repeat = said
            stays[row], relevance[whole] = False, max(relevance[whole], relevance[row])
            self.of.setdefault(int(where[whole]), []).append(repeat)
        for row in [row for row in first if row >= old]:
            for other in [other for other in first if other < old and near[row, other] and other not in replaced]:
                if self._replace(row, other, where, cosines):
                    stays[row], relevance[other] = False, max(relevance[other], relevance[row])
                    replaced[other] = row
                    break
        return stays, replaced

    def _find(self, whole: int, part: int, where: Positions, cosines: Matrix) -> tuple[int, Repeat] | None:
        """The row that says all of another one, which then repeats it; None if it does not."""
        one, other, cosine = int(where[whole]), int(where[part]), float(cosines[whole, part])
        relation = self._texts.find_relation(self._tokens[one], self._tokens[other], cosine)
        return None if relation is None else (whole, Repeat(other, cosine, relation))

    def _replace(self, row: int, other: int, where: Positions, cosines: Matrix) -> bool:
        """Let a new row stand for an old one, if it says all of it and of what that one stands for."""
        found, tokens = self._find(row, other, where, cosines), self._tokens[int(where[row])]
        before = self.of.get(int(where[other]), [])
        if where[other] < self._pins or found is None:
            return False
        if any(self._texts.find_relation(tokens, self._tokens[one.where], one.cosine) is None for one in before):
            return False
        self.of.pop(int(where[other]), None)
        self.of.setdefault(int(where[row]), []).extend([found[1], *before])
        return True
