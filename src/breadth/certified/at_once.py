"""The rounds of the certified solver where the work in memory is one call of the kernels.

Each round chooses from the rows in memory, and asks the collection whether a row outside improves the set or the bound.
Such rows are held in the next round. `rounds.py` does the same step by step, and goes on where a call does not do.
"""

from __future__ import annotations

import numpy as np

from breadth import kernels
from breadth.arrays import Vector
from breadth.certified.effort import Effort
from breadth.certified.held import find_outside
from breadth.certified.in_one_call import LEAST_THETA, Chosen, PlainWork
from breadth.certified.opening import Opening
from breadth.certified.pricing import Priced, Question
from breadth.certified.shortlist.at_once import conclude_call
from breadth.certified.shortlist.search import write_stats
from breadth.clock import Clock
from breadth.oracles.protocol import Facts
from breadth.problem import Problem
from breadth.requests import Asking
from breadth.selection import Selection

_ROUNDING = 2e-6
"""What float32 arithmetic changes in a score, relative to the length of the direction, twice."""


def is_possible(problem: Problem, facts: Facts, opening: Opening, clock: Clock, effort: Effort) -> bool:
    """Whether calls of the kernels do as well as the steps.

    Not for a low θ, and of a collection that is not held as a whole not for a few rows: those get more starts.
    """
    rows, whole = opening.rows, len(opening.rows) == facts.size
    easy = problem.theta >= LEAST_THETA and problem.k > effort.few
    return (
        (easy or whole)
        and PlainWork.is_served(problem)
        and problem.similarity_dim is None
        and clock.limit == np.inf
        and rows.dtype == np.float32
        and rows.flags.c_contiguous
        and kernels.current().choose_plain is not None
    )


def choose_at_once(
    problem: Problem, facts: Facts, opening: Opening, effort: Effort
) -> Asking[tuple[Selection | None, Opening]]:
    """The set and its bound, or None where steps have to be taken; and all rows that are held then."""
    work = PlainWork(problem, effort)
    bound, value, swaps = np.inf, -np.inf, 0
    for rounds in range(1, effort.rounds + 1):
        found = work.call(opening.rows, problem.query, facts.max_squared_norm - 1.0)
        if found is None or found.totals[0] < value - work.aims.least_gain:
            break
        if len(opening.ids) == facts.size:
            return _conclude(problem, facts, opening, found, "in memory", rounds, swaps + found.swaps), opening
        before, value, swaps = (bound - value) / problem.scale, float(found.totals[0]), swaps + found.swaps
        question, dual = _ask_about(problem, facts, opening, found, work)
        priced = yield from opening.pricing.ask(question)
        bound = min(bound, _find_bound(problem, facts, found, priced, question, dual, work))
        ids, first = np.unique(priced.ids, return_index=True)
        new = find_outside(question.held, ids)
        slow = (bound - value) / problem.scale > (1.0 - effort.slow) * before
        if priced.swap_optimal and (slow or len(new) == 0):
            found.totals[1] = bound
            return _conclude(problem, facts, opening, found, opening.pricing.name, rounds, swaps), opening
        if len(new) == 0:
            break
        opening = opening.joined(ids[new], np.asarray(priced.rows[first[new]], dtype=np.float32))
    return None, opening


def _conclude(
    problem: Problem, facts: Facts, opening: Opening, found: Chosen, path: str, rounds: int, swaps: int
) -> Selection:
    """The selection: no exchange with a row of the collection improves it."""
    stats = write_stats(path, rounds, swaps, found.block, len(opening.ids), "swap_optimal")
    ids = opening.ids[found.places]
    return conclude_call(problem, ids, found.scores, found.totals, facts.exact, stats, ())


def _ask_about(
    problem: Problem, facts: Facts, opening: Opening, found: Chosen, work: PlainWork
) -> tuple[Question, Vector]:
    """The question about what was found, and the dual vector u.

    If all sets of held rows were decided on, the question is also whether a row outside can be in a better set: its
    score would not be lower than the k-th best by more than the bound on the held rows exceeds the set.
    """
    u = (problem.relevance_weight * problem.query - found.w_dual) / problem.coupling
    threshold = float(found.best[-1])
    if found.decided:
        held = problem.dual_bound(u, float(found.best.sum()), facts.max_squared_norm)
        threshold -= held - float(found.totals[0]) + _ROUNDING * float(np.linalg.norm(found.w_dual))
    members = np.asarray(opening.rows[found.places], dtype=np.float64)
    question = Question.make(
        problem, opening.ids, members, work.aims.least_gain, found.w_dual, threshold, facts.max_squared_norm
    )
    return question, u


def _find_bound(
    problem: Problem, facts: Facts, found: Chosen, priced: Priced, question: Question, u: Vector, work: PlainWork
) -> float:
    """A bound on all sets of the collection: D(u), or the set itself if no row outside can be in a better one."""
    slack = 0.5 * _ROUNDING * float(np.linalg.norm(found.w_dual))
    if found.decided and bool(np.all(priced.scores <= question.threshold + slack)):
        return float(found.totals[0]) + 0.5 * work.aims.least
    best_sum = problem.allowed.best_sum(np.concatenate((found.best, priced.scores)))
    return problem.dual_bound(u, best_sum, facts.max_squared_norm)
