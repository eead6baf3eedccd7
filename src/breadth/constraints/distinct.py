"""`distinct`: no copies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from breadth.arrays import Mask
from breadth.checks import check_number
from breadth.constraints.protocol import Constraint, Given, Option, Pairs, Scope


@dataclass(frozen=True)
class Distinct(Constraint):
    """No two rows with a cosine above `most`."""

    most: float

    arguments = ("distinct",)
    options = (Option("distinct", float, "no two passages with a cosine above this; 1 allows copies"),)
    of_pairs = True

    @classmethod
    def read(cls, given: Given, scope: Scope) -> Distinct | None:
        distinct = given.get("distinct")
        if given.get("texts") is not None:  # the texts themselves are compared
            return None
        if distinct is None or check_number(distinct, "distinct", -1.0, 1.0) == 1.0:
            return None
        return cls(float(distinct))

    def clash(self, pairs: Pairs) -> Mask:
        return pairs.above(self.most)

    def contradict(self, pins: Pairs) -> str | None:
        if not (pins.above(self.most) & ~np.eye(len(pins.left), dtype=bool)).any():
            return None
        cosines = np.array(pins.cosines, dtype=np.float64)
        np.fill_diagonal(cosines, -np.inf)
        one, other = divmod(int(np.argmax(cosines)), len(cosines))
        return (
            f"rows {pins.left[one]} and {pins.left[other]} are pinned, and their cosine is "
            f"{cosines[one, other]:.4f}, above distinct={self.most:g}"
        )
