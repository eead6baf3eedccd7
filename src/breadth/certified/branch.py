"""Closing the gap: a strengthened relaxation and branch and bound on the few rows that can matter.

On sets x_i² = x_i, so the diagonal of the quadratic form can be moved into a constant: with H the similarities without
their diagonal,  F(x) = linear'x - coupling/2 · (x'(H + δI)x - δk)  for every δ. The plain relaxation has δ = 1. The
smallest δ for which it stays concave along 1'd = 0 gives the tightest bound: δ = -λ_min(H) there, below 1 where there
are fewer rows than dimensions. Every bound also fixes rows: in if no better set is without them, out if none has them.
"""

from __future__ import annotations

import heapq
import time
from dataclasses import dataclass, replace
from itertools import count

import numpy as np
import numpy.typing as npt

from breadth.certified.concave import maximise, project
from breadth.problem import Array, Vector
from breadth.ranking import Positions, best

MOST_ROWS = 3000
"""Beyond, a subproblem alone takes a second."""


@dataclass(frozen=True, eq=False)
class Closed:
    """The best set found (positions), its value, a bound on all sets, and how many subproblems were looked at."""

    chosen: Positions
    value: float
    bound: float
    nodes: int


@dataclass(frozen=True, eq=False)
class _Node:
    """Sets that hold `taken` and choose the rest from `rows`."""

    taken: tuple[int, ...]
    rows: Positions
    x: Vector


class BranchAndBound:
    """Best first: the open subproblem with the largest bound is split on a row the relaxation is undecided about."""

    def __init__(self, linear: Vector, rows: Array, k: int, coupling: float, chosen: Positions) -> None:
        self._linear, self._k, self._a = linear, k, coupling
        self._pairs: Vector = np.asarray(rows @ rows.T, dtype=np.float64)
        self._rank = rows.shape[1]
        self._own = float(self._pairs.diagonal().max())
        np.fill_diagonal(self._pairs, 0.0)
        self.chosen = chosen
        self.value = self._value(chosen)

    def run(self, bound: float, deadline: float, resolution: float) -> Closed:
        """Until the bound is within `resolution` of the best set, or time is up."""
        order = count()
        everything = np.arange(len(self._linear))
        start = np.zeros(len(everything))
        start[self.chosen] = 1.0
        open_nodes: list[tuple[float, int, _Node]] = [(-bound, next(order), _Node((), everything, start))]
        nodes = 0
        while open_nodes and -open_nodes[0][0] > self.value + resolution and time.perf_counter() < deadline:
            negative, _, node = heapq.heappop(open_nodes)
            nodes += 1
            for child_bound, child in self._split(node, -negative, resolution):
                heapq.heappush(open_nodes, (-child_bound, next(order), child))
        left = max([self.value, *(-open_nodes[i][0] for i in range(min(1, len(open_nodes))))])
        return Closed(self.chosen, self.value, left, nodes)

    def _split(self, node: _Node, bound: float, resolution: float) -> list[tuple[float, _Node]]:
        """Bound the node, fix what can be fixed, and branch on one row; nothing if no better set is in it."""
        while True:
            k = self._k - len(node.taken)
            if len(node.rows) <= k or k <= 0:
                self._offer(np.array([*node.taken, *node.rows[:k]], dtype=np.intp), exact=len(node.rows) >= k)
                return []
            new_bound, x, gradient = self._relax(node, k, resolution)
            node = replace(node, x=x)
            bound = min(bound, new_bound)
            self._offer(np.array([*node.taken, *node.rows[best(x, k)]], dtype=np.intp))
            if bound <= self.value + resolution:
                return []
            slack = new_bound - self.value - resolution  # what the gradient speaks of is its own bound
            ordered = np.sort(gradient)[::-1]
            out = gradient < ordered[k - 1] - slack
            into = gradient > ordered[k] + slack
            if not (out.any() or into.any()):
                break
            keep = ~(out | into)
            taken = (*node.taken, *node.rows[into].tolist())
            rest = self._k - len(taken)
            if len(taken) > self._k or np.count_nonzero(keep) < rest:
                return []
            if rest == 0 or np.count_nonzero(keep) == rest:
                self._offer(np.array([*taken, *node.rows[keep][:rest]], dtype=np.intp))
                return []
            node = _Node(taken, node.rows[keep], project(x[keep], rest))
            if np.count_nonzero(keep) > 0.8 * len(keep) and not into.any():
                break
        place = int(np.argmin(np.abs(node.x - 0.5)))
        row = int(node.rows[place])
        others = np.delete(node.rows, place)
        k = self._k - len(node.taken)
        children = []
        if len(others) >= k:
            children.append((bound, _Node(node.taken, others, project(np.delete(node.x, place), k))))
        if k == 1:
            self._offer(np.array([*node.taken, row], dtype=np.intp))
        else:
            children.append((bound, _Node((*node.taken, row), others, project(np.delete(node.x, place), k - 1))))
        return children

    def _relax(self, node: _Node, k: int, resolution: float) -> tuple[float, Vector, Vector]:
        """Bound of the node, x of its relaxation, and the gradient there."""
        taken = np.array(node.taken, dtype=np.intp)
        linear = self._linear[node.rows] - self._a * self._pairs[np.ix_(node.rows, taken)].sum(axis=1)
        shifted = self._pairs[np.ix_(node.rows, node.rows)]
        # With more rows than dimensions the similarities are singular, and nothing below ‖e‖² is enough.
        delta = self._own if len(node.rows) > self._rank + 1 else smallest_shift(shifted)
        shifted[np.diag_indices_from(shifted)] = delta
        constant = self._value(taken) + self._a / 2.0 * delta * k
        enough = self.value + resolution - constant
        x = maximise(linear, shifted, k, self._a, node.x, 0.1 * resolution, enough=enough)
        image = shifted @ x
        gradient = linear - self._a * image
        gap = float(np.sort(gradient)[-k:].sum() - gradient @ x)
        value = float(linear @ x) - self._a / 2.0 * float(x @ image)
        return constant + value + gap, x, gradient

    def _offer(self, chosen: Positions, exact: bool = True) -> None:
        """Keep a set if it is better than the best so far."""
        if exact and len(chosen) == self._k and (value := self._value(chosen)) > self.value:
            self.chosen, self.value = chosen, value

    def _value(self, chosen: Positions) -> float:
        inside = self._pairs[np.ix_(chosen, chosen)]
        return float(self._linear[chosen].sum()) - self._a / 2.0 * float(inside.sum())


def smallest_shift(pairs: npt.NDArray[np.float64]) -> float:
    """The smallest δ for which x'(pairs + δI)x is convex along directions with 1'd = 0 (with room for rounding)."""
    centred = pairs - pairs.mean(axis=0)
    centred -= centred.mean(axis=1, keepdims=True)
    return max(0.0, -float(np.linalg.eigvalsh(centred)[0])) + 1e-9
