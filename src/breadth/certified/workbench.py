"""All rows held in memory for one query, the best set and the best dual vector found on them.

The *reserve* are rows that were fetched; they are only ever multiplied by directions. The *block* is the part of them
that matters, with its Gram matrix, on which the searching is done. Rows enter the block when pricing says they help.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import numpy.typing as npt

from breadth import kernels
from breadth.certified import concave, search
from breadth.certified.block import Block
from breadth.certified.pricing.question import Question
from breadth.problem import Array, Ids, Problem, Vector
from breadth.products import combination, exactly, product
from breadth.ranking import Positions, best

_WHOLE = 640
"""So many rows and fewer go into the block at once: their Gram matrix costs less than choosing among them."""
_ROUGH, _FINE = 0.1, 0.003
"""Accuracy of the relaxation, as a share of the open gap."""
_TABU_RATE, _TABU_MOST = 500, 300
"""Tabu iterations for an open gap of (1-θ)/(k-1), the most a relaxation can be off, and so many at the most: effort
where there is something to gain."""
_LOOSE = 0.02
"""An open gap above this share of (1-θ)/(k-1): try more starts."""
_STARTS, _NEAR = 96, 1024
"""Starts times k, and how many rows they choose from."""
_FEW = 5
_COMPILED_STARTS, _COMPILED_RATE, _AGAIN = 8, 1000.0, 3.0
"""Starts, tabu iterations as above, and how many times more of them on rows that have been settled before."""
_PAIRS = 20_000
"""Steps between two entries of x, at the most, in one relaxation."""
LOW_THETA = 0.45
"""Below, relevance says little about which rows belong to good sets, and more of the collection is looked at."""


class Workbench:
    """The in-memory side of the certified solver."""

    def __init__(self, problem: Problem, ids: Ids, rows: Array, longest: float, deadline: float = np.inf) -> None:
        self.problem = problem
        self._longest = longest
        self._deadline = deadline
        self.ids, self.rows = ids, rows
        self.block = Block(problem)
        self.x: Vector = np.empty(0)
        self.swaps = 0
        self._inside = np.zeros(len(ids), dtype=bool)
        self._positions: Positions = np.empty(0, dtype=np.int64)
        self._relevance: Vector = np.asarray(product(rows, problem.query), dtype=np.float64)
        self._flat: Array | None = None
        self._settled = False
        self._started_from = 0
        self._searched = 0
        self.chosen: Positions = np.empty(0, dtype=np.int64)
        if kernels.pool() is not None:
            return  # the first `settle` begins it
        self._enter(best(self._relevance, len(ids) if len(ids) <= _WHOLE else max(64, 2 * problem.k)))
        self.chosen = np.arange(problem.k)
        self._improve(search.greedy(self.block, 0))
        self.x[self.chosen] = 1.0

    @property
    def value(self) -> float:
        """F of the best set."""
        return self.block.value(self.chosen)

    @property
    def chosen_ids(self) -> Ids:
        return self.block.ids[self.chosen]

    @property
    def chosen_rows(self) -> Array:
        return self.block.rows[self.chosen]

    @property
    def u(self) -> Vector:
        """E'x of the relaxation."""
        support = np.flatnonzero(self.x)
        return combination(self.x[support], self.block.rows[support])

    def scores(self, w: Vector) -> Array:
        """Inner products of all rows in memory with w."""
        return product(self.rows, w)

    def looseness(self) -> float:
        """The open gap as a share of (1-θ)/(k-1), which is what spreading x over many rows can gain at most."""
        return self.open_gap() * (self.problem.k - 1) / (1.0 - self.problem.theta)

    def open_gap(self) -> float:
        """What the relaxation on the block leaves open above the best set (reported scale)."""
        v, theta, k = self.u, self.problem.theta, self.problem.k
        relaxed = self.problem.relevance_weight * float(v @ self.problem.query)
        relaxed += (1.0 - theta) * (k - self.problem.squared_length(v))
        return (relaxed - self.value) / self.problem.scale

    def settle(self, lightly: bool = False) -> None:
        """The best set and dual vector on all rows in memory; `lightly`: from two starts, by swaps alone."""
        fast = kernels.pool()
        if fast is not None:
            self._settle_compiled(fast, lightly)
            if not lightly and len(self.ids) >= 1.25 * self._started_from and self.problem.k <= _FEW:
                self.many_starts()
                self._settle_compiled(fast, lightly=False)
            return
        self._relax(finely=not lightly)
        self._improve(self.chosen)  # it may be from before the block grew
        self._improve(best(self.x, self.problem.k))
        self._improve(search.greedy(self.block, int(np.argmax(self.block.relevance))))
        while lightly or not self.in_time():
            if not self._swap_in() or not self.in_time():
                return
            self._improve(self.chosen)
        if not self._settled:
            uniform = np.full(len(self.block), self.problem.k / len(self.block))
            self._improve(search.frank_wolfe(self.block, uniform))
        grown = len(self.ids) >= 1.25 * self._started_from
        if grown and (self.looseness() > _LOOSE or self.problem.theta < LOW_THETA or len(self.ids) < _NEAR):
            self.many_starts()
        self._settled = True
        self._search_on()
        while self._swap_in() and self.in_time():
            self._improve(self.chosen)
            self._search_on()

    def _settle_compiled(self, fast: Any, lightly: bool) -> None:
        """All of `settle` in compiled code."""
        if self._flat is None or len(self._flat) < len(self.rows):
            self._flat = np.ascontiguousarray(self.problem.similar(self.rows), dtype=np.float32)
        problem, block = self.problem, self.block
        entering = np.empty(0, dtype=np.int64)
        if len(self.chosen) == 0:
            entering = best(self._relevance, min(len(self.ids), max(64, 2 * problem.k)))
        # Greedy over the same rows would find the same sets again.
        starts = 1 if lightly else _COMPILED_STARTS * (len(self.ids) > self._searched)
        self._searched = self._searched if lightly else len(self.ids)
        self._positions, gram, self.x, self.chosen, swaps = fast.settle(
            self._flat,
            problem.relevance_weight * self._relevance,
            problem.k,
            block.coupling,
            self._positions,
            block.storage,
            self.x,
            self.chosen.astype(np.int64),
            self._inside,
            entering,
            self._longest,
            starts,
            _COMPILED_RATE if starts else _AGAIN * _COMPILED_RATE,
            search.GAIN * (1.0 + problem.k),
            float(problem.scale),
            lightly,
        )
        self.swaps += swaps
        chosen = self._positions
        block.adopt(self.ids[chosen], self.rows[chosen], self._relevance[chosen], gram)

    def in_time(self) -> bool:
        """Whether the deadline (of `time.perf_counter`) is still to come."""
        return time.perf_counter() <= self._deadline

    def take(self, ids: Ids, rows: Array) -> int:
        """Hold further rows in memory; how many were new."""
        ids, first = np.unique(ids, return_index=True)
        new = ~np.isin(ids, self.ids)
        self.ids = np.concatenate((self.ids, ids[new]))
        self.rows = np.concatenate((self.rows, rows[first][new]))
        self._inside = np.concatenate((self._inside, np.zeros(np.count_nonzero(new), dtype=bool)))
        self._relevance = np.concatenate((self._relevance, product(rows[first][new], self.problem.query)))
        return int(np.count_nonzero(new))

    def start_from(self, sets: Ids) -> None:
        """Local search from sets of ids (starts, k), all of them in memory."""
        order = np.argsort(self.ids)
        self._improve_from(order[np.searchsorted(self.ids, sets, sorter=order)])

    def question(self) -> Question:
        """What the collection is asked: about the present set and dual vector."""
        u = self.u
        members = self.chosen_rows.astype(np.float64)
        threshold = _kth(self.scores(self.problem.direction(u)), self.problem.k)
        gain = 2.0 * search.GAIN * (1.0 + self.problem.k)
        return Question(self.problem, members, u, np.sort(self.ids), threshold, gain, self._longest)

    def dual_scores(self) -> Vector:
        """The k best scores for w(u) in memory, in float64."""
        w = self.problem.direction(self.u)
        return exactly(self.rows[best(self.scores(w), self.problem.k)], w)

    def _relax(self, finely: bool = True) -> None:
        """The concave relaxation, rows of the reserve entering as they are priced in: roughly first, then finely."""
        block, share = self.block, _ROUGH if finely else 2 * _ROUGH
        for _ in range(30):
            # A bound much finer than what rounding to a set leaves open is of no use.
            wanted = max(1e-6, share * self.open_gap()) * self.problem.scale
            self.x = _relaxed(block, self.x, wanted)
            scores = self.scores(self.problem.direction(self.u))
            threshold = _kth(scores[self._inside], self.problem.k)
            entering = np.flatnonzero(~self._inside & (scores > threshold))
            if len(entering) == 0 and (share == _FINE or not finely):
                return
            if len(entering) == 0:
                share = _FINE
            else:
                self._enter(entering[best(scores[entering], min(len(entering), 32 + 2 * self.problem.k))])

    def many_starts(self) -> None:
        """Greedy over the best-scoring rows in memory, for a small k from many first rows."""
        self._started_from = len(self.ids)
        everything = self.problem.theta < LOW_THETA or self.problem.k <= _FEW
        count = len(self.ids) if everything else min(len(self.ids), max(_NEAR, 2 * self.problem.k))
        near = best(self.scores(self.problem.direction(self.u)), count)
        rows = self.rows[near]
        relevance = rows @ self.problem.query.astype(rows.dtype)
        firsts = np.repeat(first_rows(relevance, max(1, _STARTS // self.problem.k)), 2)
        shares = np.tile([1.0, 0.5], len(firsts) // 2)
        self._improve_from(near[search.greedy_many(self.problem, rows, firsts, shares)])
        for theta in (self.problem.theta - 0.1, self.problem.theta + 0.1, self.problem.theta + 0.2):
            if 0.0 <= theta < 1.0:  # what is best for a slightly other trade-off is often a good start
                other = self.block.at(theta)
                self._improve(search.swaps(other, search.greedy(other, int(np.argmax(other.relevance))))[0])

    def _improve_from(self, picks: npt.NDArray[np.intp]) -> None:
        """Swap local search from the most promising of several sets of positions in the reserve."""
        values = np.array([self.problem.value(self.rows[positions]) for positions in picks])
        for positions in picks[best(values, min(len(picks), 4))]:
            self._enter(positions[~self._inside[positions]])
            order = np.argsort(self.block.ids)
            self._improve(order[np.searchsorted(self.block.ids, self.ids[positions], sorter=order)])

    def _improve(self, start: Positions) -> None:
        found, count = search.swaps(self.block, start)
        self.swaps += count
        if self.block.value(found) > self.value:
            self.chosen = found

    def _search_on(self) -> None:
        """Tabu search, in proportion to what the relaxation leaves open."""
        if self.problem.k == 2:
            self._improve(search.best_pair(self.block))
            return
        effort = int(min(_TABU_MOST, self.looseness() * _TABU_RATE))
        if effort > 0:
            self._improve(search.tabu(self.block, self.chosen, effort))

    def _swap_in(self) -> bool:
        """Bring rows of the reserve that gain by a swap into the block; whether there were any."""
        question = self.question()
        scores = self.scores(question.w_set)
        candidates = np.flatnonzero(~self._inside & (scores > question.lowest))
        chosen = question.replacements(self.rows[candidates])
        self._enter(candidates[chosen])
        return len(chosen) > 0

    def _enter(self, positions: Positions) -> None:
        if len(positions):
            self._inside[positions] = True
            self._positions = np.concatenate((self._positions, positions.astype(np.int64)))
            self.x = np.concatenate((self.x, np.zeros(len(positions))))
            self.block.add(self.ids[positions], self.rows[positions])


def _relaxed(block: Block, x: Vector, tolerance: float) -> Vector:
    """A better x on the block, from x."""
    fast = kernels.pool()
    if fast is None:
        return concave.maximise(block.linear, block.gram, block.problem.k, block.coupling, x, tolerance)
    x = x.copy()
    fast.relax(block.linear, block.storage, block.problem.k, block.coupling, x, tolerance, _PAIRS)
    return x


def first_rows(relevance: Array, count: int) -> Positions:
    """Where to start from: half of them the most relevant rows, half spread over all relevances."""
    order = np.argsort(-relevance, kind="stable")
    count = min(count, len(order))
    near = (count + 1) // 2
    spread = np.linspace(near, len(order) - 1, count - near).astype(np.intp)
    firsts: Positions = order[np.concatenate((np.arange(near), spread))]
    return firsts


def _kth(scores: Array, k: int) -> float:
    """The k-th best score."""
    return float(np.partition(scores, len(scores) - k)[len(scores) - k])
