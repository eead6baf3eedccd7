"""Close the gap on a table: a diagonal for each row, then branch and bound on the rows that can be in a better set."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from itertools import count

import numpy as np

from breadth.arrays import Positions, Vector
from breadth.certified.shortlist.search import Found, is_closed, is_settled, offer
from breadth.clock import Clock
from breadth.shortlist.bound import Aim, Form, Relaxed, relax
from breadth.shortlist.diagonal import even_diagonal, largest_diagonal
from breadth.shortlist.table import Table

_MOST_ROWS, _MOST_FOR_LARGEST = 512, 260
"""An eigenvalue of more rows, or the largest diagonal for more, takes longer than it is worth."""
_ROUNDS = 4
_OFFERED = 4
"""One in so many nodes is rounded to a set."""
_FINE = 0.003
_RESOLUTION = 1e-7
"""A gap (reported scale) that counts as closed."""


def prove_on_table(found: Found, clock: Clock, exact: bool) -> None:
    """Lower the bound, in place, until it meets the set or the time is up; a better set met on the way is kept.

    `exact`: whether the engine searches exactly, so that a closed gap is a proof.
    """
    before = set(found.chosen.tolist())
    where, outside = _survivors(found)
    nodes = 0
    if len(where) <= _MOST_ROWS and not is_closed(found) and not clock.is_over():
        form, relaxed, where, outside = _sharpen(found, where, outside, clock)
        if form is not None and relaxed is not None and not is_closed(found):
            tree = _Tree(found, form, outside, clock)
            nodes = tree.run(relaxed)
    if set(found.chosen.tolist()) != before:
        found.swap_optimal = is_settled(found)
    stopped = "swap_optimal" if found.swap_optimal else "prove"
    if exact and is_closed(found):
        found.swap_optimal, stopped = True, "optimal"
    found.stats |= {"survivors": len(where), "nodes": nodes, "stopped": stopped}


def _survivors(found: Found) -> tuple[Positions, bool]:
    relaxed = found.relaxed
    assert relaxed is not None
    alive = relaxed.survivors & found.table.mark_originals(found.chosen)
    return np.union1d(np.flatnonzero(alive), found.chosen), relaxed.outside


def _sharpen(
    found: Found, where: Positions, outside: bool, clock: Clock
) -> tuple[Form | None, Relaxed | None, Positions, bool]:
    """Bound with ever better diagonals on ever fewer rows."""
    table, form, relaxed = found.table, None, None
    weights: Vector | None = None
    for number in range(_ROUNDS):
        if clock.is_over():
            break
        large = number == 0 or len(where) > _MOST_FOR_LARGEST
        form = Form.shifted(table, where, even_diagonal if large else largest_diagonal, weights)
        aim = Aim(found.value, _FINE, 0.1 * _RESOLUTION * found.problem.scale, table.supply if outside else -np.inf)
        relaxed = relax(form, form.indicate(found.chosen), aim, clock)
        found.bound = min(found.bound, max(found.value, relaxed.bound))
        offer(found, table.pick(_spread(table, form, relaxed.x), 0.0), clock)
        if is_closed(found):
            break
        outside = outside and relaxed.outside
        kept = relaxed.survivors.copy()
        kept[np.searchsorted(where, found.chosen)] = True
        weights = (relaxed.x * (1.0 - relaxed.x))[kept] + 0.02
        where = where[kept]
    return form, relaxed, where, outside


def _spread(table: Table, form: Form, x: Vector) -> Vector:
    """x as merits of all rows of the table: those outside the form come last."""
    merits = np.full(len(table), -1.0)
    merits[form.where] = x
    return merits


@dataclass(order=True)
class _Node:
    """Sets that hold `taken` and choose the rest from `left`: positions in the form of the root."""

    negative_bound: float
    number: int
    taken: Positions = field(compare=False)
    left: Positions = field(compare=False)
    x: Vector = field(compare=False)


class _Tree:
    """Best first: the open node with the largest bound is split on the row that the relaxation is undecided about."""

    def __init__(self, found: Found, form: Form, outside: bool, clock: Clock) -> None:
        self._found, self._form, self._clock = found, form, clock
        self._table = found.table
        self._supply = self._table.supply if outside else -np.inf
        self._numbers = count()
        self._least = 0.1 * _RESOLUTION * found.problem.scale

    def run(self, relaxed: Relaxed) -> int:
        """Lower the bound of the set; how many nodes were looked at."""
        found, form = self._found, self._form
        locked = np.flatnonzero(form.parts.locked)
        left = self._fitting(locked, np.flatnonzero(~form.parts.locked))
        root = _Node(-found.bound, next(self._numbers), locked, left, relaxed.x[left])
        open_nodes, nodes = [root], 0
        while open_nodes and -open_nodes[0].negative_bound > found.value + self._least and not self._clock.is_over():
            node = heapq.heappop(open_nodes)
            nodes += 1
            for child in self._split(node):
                heapq.heappush(open_nodes, child)
        highest = max((-node.negative_bound for node in open_nodes), default=found.value)
        found.bound = min(found.bound, max(found.value, highest))
        return nodes

    def _split(self, node: _Node) -> list[_Node]:
        """Bound a node, leave out what cannot be in a better set, and branch; nothing if no better set is in it."""
        found, missing = self._found, self._found.problem.k - len(node.taken)
        if missing == 0:
            self._offer(node.taken)
            return []
        if len(node.left) < missing and self._supply == -np.inf:
            return []
        form = self._form.restrict(node.left, node.taken)
        aim = Aim(found.value, _FINE, self._least, self._supply)
        start = _fill_parts(form, node.x)
        if start is None:
            return []
        relaxed = relax(form, start, aim, self._clock)
        bound = min(-node.negative_bound, relaxed.bound)
        if node.number % _OFFERED == 0:
            self._offer_from(node, relaxed.x)
        if bound <= found.value + self._least:
            return []
        alive = relaxed.survivors
        left, x = node.left[alive], relaxed.x[alive]
        if len(left) == 0:
            return []
        place = int(np.argmin(np.abs(x - 0.5)))
        row, others, rest = left[place], np.delete(left, place), np.delete(x, place)
        taken = np.append(node.taken, row)
        fitting = np.isin(others, self._fitting(taken, others))
        return [
            _Node(-bound, next(self._numbers), node.taken, others, rest),
            _Node(-bound, next(self._numbers), taken, others[fitting], rest[fitting]),
        ]

    def _fitting(self, taken: Positions, others: Positions) -> Positions:
        """The rows that may stand beside the rows that are taken."""
        rules = self._table.rules
        if rules.free or len(taken) == 0:
            return others
        inside, outside = self._form.where[taken], self._form.where[others]
        room = rules.room - np.bincount(rules.group[inside], minlength=len(rules.room))
        fits = ~rules.apart[np.ix_(outside, inside)].any(axis=1) & (room[rules.group[outside]] > 0)
        fits &= rules.cost[inside].sum() + rules.cost[outside] <= rules.budget
        return others[fits]

    def _offer(self, taken: Positions) -> None:
        offer(self._found, self._form.where[taken].copy(), self._clock)

    def _offer_from(self, node: _Node, x: Vector) -> None:
        merits = np.full(len(self._table), -1.0)
        merits[self._form.where[node.left]] = x
        merits[self._form.where[node.taken]] = 2.0
        offer(self._found, self._table.pick(merits, 0.0), self._clock)


def _fill_parts(form: Form, x: Vector) -> Vector | None:
    """A relaxed set near x: the rows with the largest x while their part has room; None if there are too few."""
    room, left = form.parts.room.copy(), form.k
    start = np.zeros(len(x))
    for i in np.argsort(-x, kind="stable"):
        if left == 0:
            break
        if room[form.parts.part[i]] > 0:
            start[i] = 1.0
            room[form.parts.part[i]] -= 1
            left -= 1
    return start if left == 0 else None
