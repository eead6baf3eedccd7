"""The pool: rows of a collection in memory, for one query at any θ."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from breadth.altering import alter
from breadth.arrays import Array, Ids, Mask, Matrix, Positions, Vector
from breadth.native import core
from breadth.oracles.protocol import Facts
from breadth.problem import Problem
from breadth.requests import Asking, Rows, Top, TopRows

_NO_ROWS: Array = np.empty((0, 0), dtype=np.float32)


@dataclass(eq=False)
class Pool:
    """Some rows of a collection that may be in a set.

    problem    the query; its constraints know the k-th largest relevance
    ids        their ids, the pinned rows first; then the most relevant first, unless `take` added others
    rows       the rows
    scores     their relevance, to the precision of the engine
    pins       how many pinned rows there are
    ceiling    no row outside that may be in a set is more relevant than this: -∞ if there is none
    is_cut     whether the engine returns no more rows than it did
    named      how many rows the constraints name, in a pair or as pinned: the first ones
    largest    the k largest relevances of the collection, if they are known and the pool does not tell
    """

    problem: Problem
    ids: Ids
    rows: Array
    scores: Vector
    pins: int
    ceiling: float
    is_cut: bool = False
    named: int = 0
    largest: Array | None = None
    _flat: Matrix | None = None

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def is_complete(self) -> bool:
        """Whether there is no other row that may be in a set."""
        return self.ceiling == -np.inf

    @property
    def is_final(self) -> bool:
        """Whether asking for more rows brings none."""
        return self.is_complete or self.is_cut

    @property
    def flat(self) -> Matrix:
        """The coordinates that enter similarities, in float32."""
        if self._flat is None or len(self._flat) != len(self.ids):
            self._flat = np.ascontiguousarray(self.problem.similar(self.rows), dtype=np.float32)
        return self._flat

    def rate(self, where: Positions) -> Vector:
        """The relevance of some rows, in float64."""
        if self.problem.similarity_dim is not None:
            return np.ascontiguousarray(self.rows[where, self.problem.similarity_dim], dtype=np.float64)
        if self.rows.dtype == np.float32 and self.rows.flags.c_contiguous:
            return core.inner_at(self.rows, where, self.problem.query)
        return np.asarray(self.rows[where].astype(np.float64) @ self.problem.query)

    def exact(self, where: Positions) -> Vector:
        """Some rows, in float64."""
        return np.asarray(self.rows[where], dtype=np.float64)

    def where_flat(self, where: Positions) -> Matrix:
        """The coordinates of some rows that enter similarities, in float32."""
        return np.ascontiguousarray(self.problem.similar(self.rows[where]), dtype=np.float32)

    def multiply(self, vectors: Array) -> Matrix:
        """The inner products of all rows with vectors (b, similarity dimension), to float32 precision: (b, rows)."""
        out = np.empty((len(vectors), len(self)), dtype=np.float32)
        core.scan(self.flat, None, np.ascontiguousarray(vectors, dtype=np.float32), out)
        return out

    def take(self, ids: Ids, rows: Array) -> int:
        """Hold those of these rows that may be in a set and are not held yet; how many these are."""
        new = find_outside(np.sort(self.ids), ids)
        ids, rows = ids[new], rows[new]
        scores = _score(self.problem, rows)
        if not self.problem.constraints.is_free:
            kept = self.problem.constraints.admit(ids, scores)
            ids, rows, scores = ids[kept], rows[kept], scores[kept]
        if len(ids):
            self.ids = np.concatenate((self.ids, ids))
            self.rows = np.concatenate((self.rows, rows))
            self.scores = np.concatenate((self.scores, scores))
        return len(ids)

    def are_copies(self, where: Positions) -> Mask:
        """Which rows are exact copies of the one before them in the pool. Copies are equally relevant: neighbours."""
        copies = np.zeros(len(where), dtype=bool)
        close = np.flatnonzero((where > self.pins) & (np.abs(self.scores[where] - self.scores[where - 1]) < 1e-6))
        rows = where[close]
        copies[close] = (self.rows[rows] == self.rows[rows - 1]).all(axis=1)
        return copies

    def at(self, problem: Problem) -> Pool:
        """The same rows for a problem that differs in θ or k alone."""
        self.problem = alter(problem, constraints=self.problem.constraints)
        return self


def find_outside(held: Ids, ids: Ids) -> Positions:
    """Places of the ids that are not among the held ones, which are sorted."""
    if len(held) == 0:
        return np.arange(len(ids))
    places = np.minimum(np.searchsorted(held, ids), len(held) - 1)
    return np.flatnonzero(held[places] != ids)


def take_rows(pool: Pool, ids: Ids) -> Asking[int]:
    """Fetch those of these rows that are not held, and hold those that may be in a set; how many these are."""
    new = ids[find_outside(np.sort(pool.ids), ids)]
    return pool.take(new, (yield from Rows(new)))


def fetch_pool(problem: Problem, facts: Facts, count: int, pool: Pool | None = None) -> Asking[Pool]:
    """Ask for the `count` most relevant rows of the collection, and for the pinned ones.

    `pool`: the one of an earlier call for fewer rows. It keeps its rows in their order, and gets the new ones.
    """
    count = min(max(count, problem.k), facts.most_rows)
    rows: Array | None = None
    if facts.gives_rows:
        found = yield from TopRows(problem.query[None], count)
        ids, line, rows = found.ids[0], found.scores[0], found.rows[0]
    else:
        ids, line = (array[0] for array in (yield from Top(problem.query[None], count)))
    scores = np.asarray(line, dtype=np.float64)
    ceiling, is_cut = float(scores[-1]), len(ids) < count or count == facts.most_rows < facts.size
    if problem.constraints.needs_kth:
        problem = alter(problem, constraints=problem.constraints.fix(float(scores[min(problem.k, len(ids)) - 1])))
    if len(ids) == facts.size or ceiling < problem.constraints.floor:
        ceiling = -np.inf
    return (yield from _fill(problem, ids, scores, rows, ceiling, is_cut, pool))


def _fill(
    problem: Problem, ids: Ids, scores: Vector, rows: Array | None, ceiling: float, is_cut: bool, pool: Pool | None
) -> Asking[Pool]:
    """The pool of the rows that may be in a set, with the named ones before them."""
    constraints = problem.constraints
    if pool is None:
        named = constraints.named if problem.sharpness == 1 else constraints.pinned
        pool = Pool(problem, named, _NO_ROWS, np.empty(0), len(constraints.pinned), ceiling, is_cut)
        if len(named):
            rows_of_named = yield from Rows(named)
            scores_of_named = np.asarray(rows_of_named, dtype=np.float64) @ problem.query
            in_set = constraints.admit(named, scores_of_named)
            in_set[: pool.pins] = True
            pool.ids, pool.rows, pool.scores = named[in_set], rows_of_named[in_set], scores_of_named[in_set]
            pool.named = len(pool)
    kept = np.ones(len(ids), dtype=bool) if constraints.is_free else constraints.admit(ids, scores)
    if len(pool):
        kept &= np.isin(ids, pool.ids, invert=True)
    if not kept.all():
        ids, scores = ids[kept], scores[kept]
        rows = None if rows is None else rows[kept]
    rows = (yield from Rows(ids)) if rows is None else rows
    pool.problem, pool.ceiling, pool.is_cut = problem, ceiling, is_cut
    if len(pool):
        ids, rows = np.concatenate((pool.ids, ids)), np.concatenate((pool.rows, rows))
        scores = np.concatenate((pool.scores, scores))
    pool.ids, pool.rows, pool.scores = ids, rows, scores
    return pool


def fetch_rows(problem: Problem, facts: Facts, ids: Ids | None, ceiling: float) -> Asking[Pool]:
    """The pool of these rows, or of all rows of a collection whose ids are 0 … n-1.

    It says nothing about others, unless all that may be in a set are more relevant than the `ceiling` of the others.
    """
    kth = yield from _find_kth(problem, facts)
    if problem.constraints.needs_kth:
        problem = alter(problem, constraints=problem.constraints.fix(kth))
    every = ids is None or ceiling < problem.constraints.floor
    ids = np.arange(facts.size) if ids is None else ids
    rows = yield from Rows(ids)
    scores = _score(problem, rows)
    if problem.constraints.is_free:
        return Pool(problem, ids, rows, scores, 0, -np.inf if every else np.inf)
    return (yield from _fill(problem, ids, scores, rows, -np.inf if every else np.inf, False, None))


def _score(problem: Problem, rows: Array) -> Vector:
    if problem.similarity_dim is None and rows.dtype == np.float32 and rows.flags.c_contiguous:
        out = np.empty((1, len(rows)), dtype=np.float32)
        core.scan(rows, None, np.ascontiguousarray(problem.query[None], dtype=np.float32), out)
        return np.asarray(out[0], dtype=np.float64)
    return np.asarray(rows.astype(np.float64, copy=False) @ problem.query)


def _find_kth(problem: Problem, facts: Facts) -> Asking[float]:
    """The k-th largest relevance, where the constraints need it."""
    if not problem.constraints.needs_kth:
        return 0.0
    found = yield from Top(problem.query[None], min(problem.k, facts.most_rows))
    return float(found.scores[0, -1])


def fix_constraints(problem: Problem, facts: Facts) -> Asking[Problem]:
    """The problem with constraints that know the k-th largest relevance, which may take a search."""
    if not problem.constraints.needs_kth:
        return problem
    return alter(problem, constraints=problem.constraints.fix((yield from _find_kth(problem, facts))))
