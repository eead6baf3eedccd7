"""Branch and bound on the few rows that can matter, with a strengthened relaxation.

On sets x_i² = x_i, so the diagonal of the quadratic form can be moved into a constant: with H the similarities without
their diagonal,  F(x) = linear'x - coupling/2 · (x'(H + δI)x - δk)  for every δ. The plain relaxation has δ = 1. The
smallest δ for which it stays concave along 1'd = 0 gives the tightest bound: δ = -λ_min(H) there, below 1 where there
are fewer rows than dimensions. Every bound also fixes rows: in if no better set is without them, out if none has them.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, replace
from itertools import count

import numpy as np

from breadth.arrays import Array, Positions, Vector
from breadth.certified.concave import maximise, project
from breadth.clock import NO_LIMIT, Clock
from breadth.problem import marginal
from breadth.ranking import best

MOST_ROWS = 3000
"""Beyond, a subproblem alone takes a second."""
_SHRUNK = 0.8
"""A node is bounded again if at most this share of its rows is left after fixing, or if a row was fixed in."""


@dataclass(frozen=True, eq=False)
class Closed:
    """The best set found (positions), its value, a bound on all sets, and how many subproblems were looked at."""

    chosen: Positions
    value: float
    bound: float
    nodes: int


@dataclass(frozen=True, eq=False)
class _Node:
    """Sets that hold `taken` and choose the rest from `rows`; `x` is where its relaxation starts."""

    taken: tuple[int, ...]
    rows: Positions
    x: Vector


@dataclass(frozen=True, eq=False)
class _Relaxed:
    """The relaxation of a node: its bound, the x it was reached at, and the gradient there."""

    bound: float
    x: Vector
    gradient: Vector


class BranchAndBound:
    """Best first: the open subproblem with the largest bound is split on a row the relaxation is undecided about."""

    def __init__(self, linear: Vector, rows: Array, k: int, coupling: float, chosen: Positions) -> None:
        self._linear, self._k, self._coupling = linear, k, coupling
        self._pairs: Vector = np.asarray(rows @ rows.T, dtype=np.float64)
        self._rank = rows.shape[1]
        self._own = float(self._pairs.diagonal().max())
        np.fill_diagonal(self._pairs, 0.0)
        self._resolution = 0.0
        self._clock = NO_LIMIT
        self.chosen = chosen
        self.value = self._value(chosen)

    def run(self, bound: float, clock: Clock, resolution: float) -> Closed:
        """Until the bound is within `resolution` of the best set, or the time is up."""
        self._resolution, self._clock = resolution, clock
        order = count()
        everything = np.arange(len(self._linear))
        start = np.zeros(len(everything))
        start[self.chosen] = 1.0
        open_nodes: list[tuple[float, int, _Node]] = [(-bound, next(order), _Node((), everything, start))]
        nodes = 0
        while open_nodes and -open_nodes[0][0] > self.value + resolution and not clock.is_over():
            negative, _, node = heapq.heappop(open_nodes)
            nodes += 1
            for child_bound, child in self._split(node, -negative):
                heapq.heappush(open_nodes, (-child_bound, next(order), child))
        left = max([self.value, *(-open_nodes[i][0] for i in range(min(1, len(open_nodes))))])
        return Closed(self.chosen, self.value, left, nodes)

    def _split(self, node: _Node, bound: float) -> list[tuple[float, _Node]]:
        """Bound the node, fix what can be fixed, and branch on one row; nothing if no better set is in it."""
        while not self._is_decided(node):
            relaxed = self._relax(node)
            bound = min(bound, relaxed.bound)
            node = replace(node, x=relaxed.x)
            self._offer((*node.taken, *node.rows[best(relaxed.x, self._left(node))]))
            if bound <= self.value + self._resolution:
                return []
            smaller, again = self._fix(node, relaxed)
            if smaller is None:
                return []
            node = smaller
            if not again or self._clock.is_over():
                return self._branch(node, bound)
        return []

    def _left(self, node: _Node) -> int:
        """How many rows are still to be chosen."""
        return self._k - len(node.taken)

    def _is_decided(self, node: _Node) -> bool:
        """Whether at most one set is left in the node; it is then looked at."""
        left = self._left(node)
        if left > 0 and len(node.rows) > left:
            return False
        if len(node.rows) >= left >= 0:
            self._offer((*node.taken, *node.rows[:left]))
        return True

    def _fix(self, node: _Node, relaxed: _Relaxed) -> tuple[_Node | None, bool]:
        """Fix the rows that every better set has, or none has; None if no better set is left.

        Also whether the node has become so much smaller that it is worth bounding again.
        """
        left = self._left(node)
        slack = relaxed.bound - self.value - self._resolution
        ordered = np.sort(relaxed.gradient)[::-1]
        out = relaxed.gradient < ordered[left - 1] - slack
        into = relaxed.gradient > ordered[left] + slack
        if not (out.any() or into.any()):
            return node, False
        keep = ~(out | into)
        taken = (*node.taken, *node.rows[into].tolist())
        rest, kept = self._k - len(taken), int(np.count_nonzero(keep))
        if rest < 0 or kept < rest:
            return None, False
        if rest in (0, kept):
            self._offer((*taken, *node.rows[keep][:rest]))
            return None, False
        smaller = _Node(taken, node.rows[keep], project(relaxed.x[keep], rest))
        return smaller, bool(into.any()) or kept <= _SHRUNK * len(keep)

    def _branch(self, node: _Node, bound: float) -> list[tuple[float, _Node]]:
        """Without and with the row that the relaxation is most undecided about."""
        place = int(np.argmin(np.abs(node.x - 0.5)))
        row, left = int(node.rows[place]), self._left(node)
        others, x = np.delete(node.rows, place), np.delete(node.x, place)
        children = []
        if len(others) >= left:
            children.append((bound, _Node(node.taken, others, project(x, left))))
        if left == 1:
            self._offer((*node.taken, row))
        else:
            children.append((bound, _Node((*node.taken, row), others, project(x, left - 1))))
        return children

    def _relax(self, node: _Node) -> _Relaxed:
        left = self._left(node)
        taken = np.array(node.taken, dtype=np.int64)
        to_taken = self._pairs[np.ix_(node.rows, taken)].sum(axis=1)
        linear = marginal(self._linear[node.rows], to_taken, self._coupling)
        shifted = self._pairs[np.ix_(node.rows, node.rows)]
        # With more rows than dimensions the similarities are singular, and nothing below ‖e‖² is enough.
        delta = self._own if len(node.rows) > self._rank + 1 else smallest_shift(shifted)
        shifted[np.diag_indices_from(shifted)] = delta
        constant = self._value(taken) + self._coupling / 2.0 * delta * left
        enough = self.value + self._resolution - constant
        tolerance = 0.1 * self._resolution
        x = maximise(linear, shifted, left, self._coupling, node.x, tolerance, enough=enough, clock=self._clock)
        image = shifted @ x
        gradient = linear - self._coupling * image
        gap = float(np.sort(gradient)[-left:].sum() - gradient @ x)
        value = float(linear @ x) - self._coupling / 2.0 * float(x @ image)
        return _Relaxed(constant + value + gap, x, gradient)

    def _offer(self, rows: tuple[int, ...]) -> None:
        """Keep a set if it is better than the best so far."""
        chosen = np.array(rows, dtype=np.int64)
        if len(chosen) == self._k and (value := self._value(chosen)) > self.value:
            self.chosen, self.value = chosen, value

    def _value(self, chosen: Positions) -> float:
        half = 0.5 * self._pairs[np.ix_(chosen, chosen)].sum(axis=1)
        return float(marginal(self._linear[chosen], half, self._coupling).sum())


def smallest_shift(pairs: Vector) -> float:
    """The smallest δ for which x'(pairs + δI)x is convex along directions with 1'd = 0 (with room for rounding)."""
    centred = pairs - pairs.mean(axis=0)
    centred -= centred.mean(axis=1, keepdims=True)
    return max(0.0, -float(np.linalg.eigvalsh(centred)[0])) + 1e-9
