"""The block: rows of a pool with their pair costs and rules. All searching for sets is done on it, by the core."""

from __future__ import annotations

from copy import copy

import numpy as np

from breadth.altering import alter
from breadth.arrays import Ids, Mask, Matrix, Positions, Vector
from breadth.feasible import NO_RULES, Rules, allows
from breadth.native import core
from breadth.problem import Problem, marginal, sharpen
from breadth.solve.partial import check_pins
from breadth.solve.pool import Pool
from breadth.solve.repeats import Repeats

_DOUBT = 1e-5
"""Cosines this close to the one asked for are computed again in float64."""
_PAIRS_AT_ONCE = 4096
_NOBODY: Positions = np.empty(0, dtype=np.int64)


class Block:
    """Some rows of a pool (`where`, positions in it), for sets of k rows. A set is an array of positions in the block.

    problem     the query; its k is the number of rows that the set has
    asked       the number of rows that was asked for
    locked      positions that are in every set: pinned rows, and the best hit if it is to be kept
    lacks_best  whether the best hit is to be kept, but no row of the block may stand beside the pinned ones
    is_closed   whether the block holds every row that can be in a better set than one that is known
    supply      what a row outside the block is worth at the most; -∞ if there is none, or if relevance does not tell
    """

    def __init__(self, pool: Pool, where: Positions, by_direction: bool = False, is_closed: bool = False) -> None:
        self.pool, self.problem, self.asked = pool, pool.problem, pool.problem.k
        self.by_direction, self.is_closed = by_direction, is_closed
        self.where: Positions = _NOBODY
        self.relevance: Vector = np.empty(0)
        self.supply = -np.inf
        self._flat: Matrix = np.empty((0, 0), dtype=np.float32)
        self._room: Matrix = np.empty((0, 0), dtype=np.float32)
        self._sharp: Matrix = self._room
        texts = self.problem.constraints.texts
        self.repeats = None
        if texts is not None and self.problem.merges_texts:
            self.repeats = Repeats(texts, pool.pins)
        if pool.pins:
            check_pins(self.problem, pool.rows[: pool.pins])
        self.enter(where)

    def __len__(self) -> int:
        return len(self.where)

    @property
    def ids(self) -> Ids:
        return self.pool.ids[self.where]

    @property
    def cosines(self) -> Matrix:
        """The cosines of the rows."""
        return self._room[: len(self), : len(self)]

    @property
    def gram(self) -> Matrix:
        """The pair costs of the rows."""
        return self._sharp[: len(self), : len(self)]

    def find(self, where: Positions) -> Positions:
        """Where rows of the pool that are in the block stand in it."""
        order = np.argsort(self.where)
        return np.asarray(order[np.searchsorted(self.where, where, sorter=order)])

    def enter(self, where: Positions) -> None:
        """Take further rows of the pool into the block. Of rows whose texts say the same one stays."""
        old = len(self)
        self.where = where if old == 0 else np.concatenate((self.where, where))
        new, size = slice(old, len(self)), len(self)
        rated = self.pool.rate(where)
        self.relevance = rated if old == 0 else np.concatenate((self.relevance, rated))
        self._make_room(size)
        self._flat[new] = self.pool.problem.similar(self.pool.rows[where])
        core.fill_gram(self._flat[:size], old, self._room)
        if self._sharp is not self._room:
            self._sharp[new, :size] = sharpen(self._room[new, :size], self.problem.sharpness)
            self._sharp[:old, new] = self._sharp[new, :old].T
        if self.repeats is not None:
            stays, replaced = self.repeats.leave_out(self.ids, self.where, self.cosines, self.relevance, old)
            self._keep(stays, replaced)
        self._set_rules()

    def _keep(self, stays: Mask, replaced: dict[int, int]) -> None:
        """Let only these rows stay, some of them in the place of others: new ones of old ones."""
        if stays.all():
            return
        order = np.arange(len(self))
        order[list(replaced)] = list(replaced.values())
        kept = order[stays]
        pairs, size = np.ix_(kept, kept), len(kept)
        self.where, self.relevance = self.where[kept], self.relevance[np.flatnonzero(stays)]
        self._flat[:size] = self._flat[kept]
        self._room[:size, :size] = self._room[pairs]
        if self._sharp is not self._room:
            self._sharp[:size, :size] = self._sharp[pairs]

    def _make_room(self, size: int) -> None:
        old = len(self._flat)
        if size <= old:
            return
        room = size if old == 0 else max(size, 2 * old)
        dim = self.pool.problem.similarity_dim or self.pool.rows.shape[1]
        self._flat = _enlarge(self._flat, old, (room, dim))
        self._room = _enlarge(self._room, old, (room, room))
        same = self.problem.sharpness == 1 and not self.problem.constraints.forgives
        self._sharp = self._room if same else _enlarge(self._sharp, old, (room, room))

    def _set_rules(self) -> None:
        """The constraints for these rows, and which of them are in every set."""
        constraints = self.problem.constraints
        self.locked = np.flatnonzero(self.where < self.pool.pins) if self.pool.pins else _NOBODY
        self.lacks_best = False
        self.shift: Vector | None = None
        self.rules = NO_RULES
        self.linear: Vector = self.problem.linear(self.relevance)
        if constraints.limits_sets:
            pairs = BlockPairs(self.pool, self.where, self.cosines)
            self.rules = constraints.make_rules(pairs, self.problem.k, merged=self.repeats is not None)
            self._forgive(self._find_free())
        if constraints.keep_best:
            self._lock_best()
        if len(self.locked):
            locked = np.zeros(len(self), dtype=np.uint8)
            locked[self.locked] = 1
            self.rules = self.rules._replace(locked=locked)
        self.resize(self.problem.k)

    def _find_free(self) -> Mask | None:
        """The pairs that cost nothing."""
        constraints = self.problem.constraints
        free = constraints.forgive(self.ids, self.ids)
        if self.problem.sharpness == 1 or constraints.texts is None:
            return free
        compared = self.cosines > constraints.compared
        np.fill_diagonal(compared, False)
        return compared if free is None else compared | free

    def _forgive(self, pairs: Mask | None) -> None:
        """Some pairs cost nothing. The matrix is then not positive semidefinite: `shift` makes up for it."""
        if pairs is None or not pairs.any():
            return
        self.gram[pairs] = 0.0
        waived = np.where(pairs, np.abs(sharpen(self.cosines, self.problem.sharpness)), 0.0)
        self.shift = -waived.sum(axis=1, dtype=np.float64)

    def _lock_best(self) -> None:
        """Lock the most relevant row that may stand beside the pinned ones, unless one of these is more relevant."""
        if len(self.locked) >= self.problem.k or len(self) == 0:
            return
        if len(self.locked) == 0 and self.rules.cost is None and self.rules.least is None:
            self.locked = np.array([int(self.relevance.argmax())])
            return
        count = len(self.locked) + 1
        wanted = self.problem if self.rules.least is not None else alter(self.problem, k=count)
        picks = self._make_core(wanted, self.rules).pick(self.relevance, 0.0, self.locked)[:count]
        self.lacks_best = len(picks) < count
        if not self.lacks_best and self.relevance[picks[-1]] > self.relevance[self.locked].max(initial=-np.inf):
            self.locked = picks

    def _make_core(self, problem: Problem, rules: Rules) -> core.Block:
        return core.Block.make(
            self.linear if problem is self.problem else problem.linear(self.relevance), self._sharp, problem.k,
            problem.coupling, *rules, self.shift, self.supply, problem.sharpness == 1, self.by_direction,
        )  # fmt: skip

    def resize(self, k: int) -> None:
        """Look for sets of k rows from now on."""
        self.problem = self.problem if self.problem.k == k else alter(self.problem, k=k)
        self.linear = self.problem.linear(self.relevance)

    def at(self, problem: Problem) -> Block:
        """The same rows for a problem that differs in θ or k alone."""
        other = copy(self)
        other.problem = alter(problem, constraints=self.problem.constraints)
        other.asked = problem.k
        other.resize(problem.k)
        return other

    @property
    def core(self) -> core.Block:
        """The block as the core reads it."""
        return self._make_core(self.problem, self.rules)

    def pick(self, linear: Vector | None = None, coupling: float | None = None) -> Positions:
        """Greedy on F, or by other merits, beside the locked rows: k rows, or fewer if no further row may join."""
        merits = self.linear if linear is None else np.ascontiguousarray(linear, dtype=np.float64)
        return self.core.pick(merits, self.problem.coupling if coupling is None else coupling, self.locked)

    def extend(self, chosen: Positions) -> Positions:
        """The set with the row of the largest marginal value that may join it, if there is one."""
        longer = self.at(alter(self.problem, k=len(chosen) + 1))
        return longer.core.pick(self.linear, self.problem.coupling, chosen)

    def find_marginals(self, chosen: Positions) -> Vector:
        """The marginal value of every row for a set."""
        return marginal(self.linear, self.gram[chosen].sum(axis=0, dtype=np.float64), self.problem.coupling)

    def find_replacements(self, chosen: Positions) -> dict[int, int] | None:
        """For the id of each member, the id of the best row that may take its place; members without one are left out.

        For an even sharpness. None if a row outside the block could be better, or if a member is not in the block.
        """
        if len(chosen) < self.problem.k:
            return None
        merits = self.find_marginals(chosen)
        outside = np.setdiff1d(np.arange(len(self)), chosen)
        found: dict[int, int] = {}
        for member in np.setdiff1d(chosen, self.locked).tolist():
            tried = np.column_stack((np.tile(chosen[chosen != member], (len(outside), 1)), outside))
            fitting = outside[allows(self.rules, tried)]
            worth = merits[fitting] + self.problem.coupling * self.gram[fitting, member].astype(np.float64)
            if len(fitting) == 0 or float(worth.max()) < self.supply:
                if self.supply > -np.inf:
                    return None
                continue
            found[int(self.ids[member])] = int(self.ids[fitting[np.argmax(worth)]])
        return found


def _enlarge(old: Matrix, used: int, shape: tuple[int, int]) -> Matrix:
    larger = np.empty(shape, dtype=np.float32)
    if used:
        larger[:used, : old.shape[1]] = old[:used]
    return larger


class BlockPairs:
    """The rows of a block with themselves. Cosines that are nearly the one asked for are computed again in float64."""

    def __init__(self, pool: Pool, where: Positions, cosines: Matrix) -> None:
        self.left = self.right = pool.ids[where]
        self.cosines, self._pool, self._where = cosines, pool, where

    def above(self, cosine: float) -> Mask:
        possible = self.cosines > cosine - _DOUBT
        np.fill_diagonal(possible, False)
        if not possible.any():
            return possible
        left, right = np.nonzero(possible)
        cosines = self.cosines[left, right].astype(np.float64)
        doubtful = np.flatnonzero(cosines < cosine + _DOUBT)
        for start in range(0, len(doubtful), _PAIRS_AT_ONCE):
            some = doubtful[start : start + _PAIRS_AT_ONCE]
            one, other = np.minimum(left[some], right[some]), np.maximum(left[some], right[some])
            # The same number for both orders of a pair.
            rows = (self._pool.problem.similar(self._pool.exact(self._where[side])) for side in (one, other))
            cosines[some] = np.einsum("ij,ij->i", *rows)
        possible[left, right] = cosines > cosine
        return possible
