"""θ without guessing: the whole frontier from shared scans, a relevance to keep, or the knee."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from breadth.arrays import Array, Ids, Vector
from breadth.certified.bench import Bench
from breadth.certified.bound import Bound
from breadth.certified.effort import EFFORT
from breadth.certified.pricing import Question
from breadth.certified.settle import settle
from breadth.certified.shortlist.frontier import choose_for_each, find_theta, search_thetas
from breadth.certified.solver import certified
from breadth.clock import NO_LIMIT, Clock
from breadth.frontier import Frontier, relevance_floor
from breadth.oracles.protocol import Facts
from breadth.problem import Problem
from breadth.requests import Asking, Rows, Top
from breadth.selection import Selection, conclude

DEFAULT_THETAS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
_AUTO_THETAS = (0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0)
_ROUNDS = 2
_BISECTIONS, _BACK = 10, 3


def frontier(
    problem: Problem, facts: Facts, *, clock: Clock = NO_LIMIT, thetas: Sequence[float] = DEFAULT_THETAS
) -> Asking[Frontier]:
    """A selection with a certificate for each θ, in three scans for all of them.

    The rows in memory serve every θ; one batch of searches prices all sets and bounds, and what it finds is tried
    again for all. Every set found is valued for every θ and the best kept: the objective is linear in θ, so on one
    family of sets relevance can only rise with θ and diversity only fall. `certificate.swap_optimal` says for which of
    them the last searches found no exchange that gains.
    """
    if not problem.is_plain:
        found = yield from search_thetas(problem, facts, clock, sorted(thetas))
        return Frontier(choose_for_each(found, facts), found.top_relevance)
    problems = [replace(problem, theta=theta) for theta in sorted(thetas)]
    first, rows = yield from _fetch_most_relevant(problem, facts)
    top = np.asarray(rows[: problem.k], dtype=np.float64)
    points: list[_Point] = []
    for p in problems:
        if _is_open(p, facts) and not clock.is_over():
            points.append(_Point(p, first, rows, facts, clock))
    for attempt in range(_ROUNDS if points else 0):
        _settle_points(points)
        if not clock.is_over():
            yield from _price(points, facts, fetch=attempt + 1 < _ROUNDS)
    family = [(first[: problem.k], top), *((p.bench.chosen_ids, p.bench.chosen_rows) for p in points)]
    by_theta = {point.bench.problem.theta: point for point in points}
    selections = tuple(_choose(p, family, by_theta.get(p.theta), facts) for p in problems)
    return Frontier(selections, float(np.mean(top @ problem.query)))


def _is_open(problem: Problem, facts: Facts) -> bool:
    """Whether another set than the most relevant rows can be the best."""
    return problem.theta < 1.0 and 1 < problem.k < facts.size


class _Point:
    """One θ of a frontier: its bench, its bound, and whether its set was seen to be swap-optimal."""

    def __init__(self, problem: Problem, ids: Ids, rows: Array, facts: Facts, clock: Clock) -> None:
        self.bench = Bench(problem, ids, rows, facts.max_squared_norm, clock)
        self.bound = Bound(self.bench)
        self.swap_optimal: frozenset[int] = frozenset()
        """The set that was swap-optimal when the collection was last asked."""


def _settle_points(points: Sequence[_Point]) -> None:
    """Settle every θ lightly, and from the set of its neighbour: neighbours in θ have much in common."""
    for place, point in enumerate(points):
        if point.bench.clock.is_over():
            return
        settle(point.bench, lightly=True, roughly=True)
        if place:
            before = points[place - 1].bench.chosen_ids
            point.bench.improve_from(point.bench.held.find(before)[None])


def _fetch_most_relevant(problem: Problem, facts: Facts) -> Asking[tuple[Ids, Array]]:
    count = min(facts.size, max(EFFORT.held, EFFORT.held_for_each * problem.k))
    ids = (yield from Top(problem.query[None], count)).ids[0]
    return ids, (yield from Rows(ids))


def _price(points: Sequence[_Point], facts: Facts, fetch: bool) -> Asking[None]:
    """One batch of searches for the sets and dual vectors of all θ: lower the bounds, see which sets are settled, and
    hold what the searches found."""
    k = points[0].bench.problem.k
    wanted = min(facts.size, max(EFFORT.priced, 2 * k))
    questions = [Question.about(point.bench, point.bench.dual_scores()) for point in points]
    directions = [w for question in questions for w in (question.w_dual, question.w_set)]
    found = yield from Top(np.array(directions), wanted)
    new = questions[0].leave_out_held(np.unique(found.ids))
    rows = yield from Rows(new)
    for place, (point, question) in enumerate(zip(points, questions, strict=True)):
        point.bound.lower(found.scores[2 * place])
        complete = wanted == facts.size or found.scores[2 * place + 1, -1] <= question.lowest
        if complete and len(question.find_replacements(np.asarray(rows, dtype=np.float64))) == 0:
            point.swap_optimal = frozenset(point.bench.chosen_ids.tolist())
        if fetch:
            point.bench.take(new, rows)


def _choose(problem: Problem, family: Sequence[tuple[Ids, Vector]], point: _Point | None, facts: Facts) -> Selection:
    """The best set of the family for one θ, which begins with top-k. `point` is None where there was no time for it."""
    values = [problem.value(members) for _, members in family]
    # Ties go to the more relevant set, so that equal objectives cannot break the order.
    relevances = [float(np.sum(members @ problem.query)) for _, members in family]
    best = int(np.lexsort((relevances, values))[-1])
    ids, members = family[best]
    bound, settled = values[best], True
    if _is_open(problem, facts):
        linear = problem.linear(family[0][1] @ problem.query)
        bound = problem.dual_bound(np.zeros(len(problem.query)), linear.sum(), facts.max_squared_norm)
        bound = bound if point is None else min(bound, point.bound.value)
        settled = point is not None and frozenset(ids.tolist()) == point.swap_optimal
    return conclude(problem, ids, members, "certified", bound=bound, exact=facts.exact, swap_optimal=settled)


def keep(problem: Problem, facts: Facts, *, clock: Clock = NO_LIMIT, share: float) -> Asking[Selection]:
    """The certified set of the smallest θ whose mean relevance is at least `share` of top-k's, by bisection on θ.

    `theta` of the selection says which θ that was. Sets that are best for no θ are not looked at. When the time is up
    and no set that keeps enough was found, that is plain top-k.
    """
    if problem.is_plain:
        ids, rows = yield from _fetch_most_relevant(problem, facts)
        relevance = np.asarray(rows[: problem.k], dtype=np.float64) @ problem.query
        floor = relevance_floor(float(relevance.mean()), share)
        high = _bisect(problem, ids, rows, facts, clock, floor)
    else:
        high, floor = yield from find_theta(problem, facts, clock, share)
    # The certified set of the whole collection can be less relevant than the one in memory: go up in growing steps, and
    # halfway back.
    found = yield from certified(replace(problem, theta=high), facts, clock=clock)
    too_low, step = high, 2.0**-_BISECTIONS
    while found.relevance < floor and found.theta < 1.0:
        too_low, step = found.theta, 2.0 * step
        theta = 1.0 if clock.is_over() else min(too_low + step, 1.0)
        found = yield from certified(replace(problem, theta=theta), facts, clock=clock)
    for _ in range(_BACK if found.theta > high else 0):
        if clock.is_over():
            break
        middle = (too_low + found.theta) / 2.0
        other = yield from certified(replace(problem, theta=middle), facts, clock=clock)
        if other.relevance >= floor:
            found = other
        else:
            too_low = middle
    return found.with_stats(keep=share)


def _bisect(problem: Problem, ids: Ids, rows: Array, facts: Facts, clock: Clock, floor: float) -> float:
    """The smallest θ whose set, on the rows in memory, has a mean relevance of at least `floor`."""
    low, high = 0.0, 1.0
    for _ in range(_BISECTIONS):
        if clock.is_over() or not 1 < problem.k < len(ids):
            break
        middle = (low + high) / 2.0
        bench = Bench(replace(problem, theta=middle), ids, rows, facts.max_squared_norm, clock)
        settle(bench)
        enough = float(np.mean(bench.chosen_rows @ problem.query)) >= floor
        low, high = (low, middle) if enough else (middle, high)
    return high


def automatic(
    problem: Problem, facts: Facts, *, clock: Clock = NO_LIMIT, judge: Callable[[Selection], float] | None = None
) -> Asking[Selection]:
    """The knee of the frontier, or the set of it that a judge scores highest, then certified at its θ."""
    curve = yield from frontier(problem, facts, clock=clock, thetas=_AUTO_THETAS)
    if judge is not None:
        return curve.choose(judge).with_stats(candidates=len(curve))
    return (yield from certified(replace(problem, theta=curve.knee().theta), facts, clock=clock))
