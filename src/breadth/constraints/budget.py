"""`costs` and `budget`: what the chosen rows may cost together, in tokens for example."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from breadth.arrays import Ids, Vector
from breadth.checks import check_number
from breadth.constraints.lookup import check_together, read_lookup
from breadth.constraints.protocol import Constraint, Given, Lookup, Option, Pairs, Scope
from breadth.errors import InputError


@dataclass(frozen=True, eq=False)
class Budget(Constraint):
    """The costs of the rows sum to at most `budget`."""

    costs: Lookup
    budget: float = np.inf

    arguments = ("costs", "budget")
    options = (Option("budget", float, "words that the passages may have together, at most k passages"),)

    @classmethod
    def read(cls, given: Given, scope: Scope) -> Budget | None:
        costs, budget = given.get("costs"), given.get("budget")
        check_together(costs=costs, budget=budget, why="costs= says what each row costs, budget= what a set may cost")
        if costs is None:
            return None
        return cls(_read_costs(costs, scope), check_number(budget, "budget", 0.0))

    def renumber(self, ids: Ids) -> Budget:
        costs = self.costs
        return replace(self, costs=lambda numbers: costs(ids[numbers]))

    def cost(self, ids: Ids) -> Vector:
        return self.costs(ids).astype(np.float64)

    def contradict(self, pins: Pairs) -> str | None:
        spent = float(self.cost(pins.left).sum())
        return None if spent <= self.budget else f"the pinned rows cost {spent:g}, more than budget={self.budget:g}"

    def say_why_empty(self) -> str:
        return f"no single row costs at most budget={self.budget:g}"


def _read_costs(costs: Any, scope: Scope) -> Lookup:
    look_up = read_lookup(costs, "costs", scope)

    def read(ids: Ids) -> Any:
        try:
            numbers = look_up(ids).astype(np.float64)
        except (TypeError, ValueError):
            raise InputError("costs must be numbers") from None
        wrong = np.flatnonzero(~(np.isfinite(numbers) & (numbers >= 0.0)))
        if len(wrong):
            raise InputError(f"costs: row {int(ids[wrong[0]])} costs {numbers[wrong[0]]}; a cost is at least 0")
        return numbers

    if scope.numbered and not callable(costs) and not isinstance(costs, Mapping):
        read(np.arange(scope.size))
    return read
