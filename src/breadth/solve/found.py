"""What was found so far: a set, and what is proved about it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from breadth.arrays import Ids, Positions, Vector
from breadth.native import core
from breadth.problem import Problem
from breadth.solve.block import Block
from breadth.solve.effort import RESOLUTION


@dataclass
class Found:
    """The best set of a block so far (positions in it), with what is proved about it.

    bound          no allowed set of the collection has a larger F
    swap_optimal   whether no exchange of a member with any row of the collection gains
    result         what the core said about the block
    stopped        why the work ended
    """

    block: Block
    chosen: Positions
    value: float
    bound: float
    result: core.Result
    swap_optimal: bool = False
    stopped: str = "rounds"
    stats: dict[str, Any] = field(default_factory=dict)

    @property
    def problem(self) -> Problem:
        return self.block.problem

    @property
    def is_closed(self) -> bool:
        """Whether the bound meets the set."""
        return bool(self.bound - self.value <= RESOLUTION * self.problem.scale)

    @property
    def weights(self) -> Vector:
        """x of the relaxation for the rows of the block: 0 for those that entered since."""
        x = np.asarray(self.result.x)
        return np.concatenate((x, np.zeros(len(self.block) - len(x)))) if len(x) < len(self.block) else x

    @property
    def ids(self) -> Ids:
        return self.block.ids[self.chosen]

    @property
    def rows(self) -> Vector:
        return self.block.pool.exact(self.block.where[self.chosen])
