"""θ without guessing: the whole frontier from shared scans, a relevance to keep, or the knee."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from breadth.certified.solver import certified
from breadth.certified.workbench import Workbench
from breadth.frontier import Frontier, relevance_floor
from breadth.oracles.protocol import Facts
from breadth.problem import Problem, Vector
from breadth.requests import Asking, Rows, Top
from breadth.selection import Selection, conclude

DEFAULT_THETAS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
_AUTO_THETAS = (0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0)
_RESERVE = 4096
_WANTED = 256
_BISECTIONS, _BACK = 10, 3


def frontier(problem: Problem, facts: Facts, *, thetas: Sequence[float] = DEFAULT_THETAS) -> Asking:
    """A certified selection for each θ, in three scans for all of them.

    The rows in memory serve every θ; one batch of searches prices all sets and bounds, and what it finds is tried
    again for all. Every set found is valued for every θ and the best kept: the objective is linear in θ, so on one
    family of sets relevance can only rise with θ and diversity only fall.
    """
    problems = [replace(problem, theta=theta) for theta in sorted(thetas)]
    first = (yield Top(problem.query[None], min(facts.size, max(_RESERVE, 8 * problem.k))))[0][0]
    rows = yield Rows(first)
    top = float(np.mean(np.asarray(rows[: problem.k], dtype=np.float64) @ problem.query))
    inner = [p for p in problems if 0.0 <= p.theta < 1.0 and p.k < facts.size and p.k > 1]
    benches = [Workbench(p, first, rows, facts.max_squared_norm) for p in inner]
    bounds = [np.inf] * len(benches)
    for attempt in range(2):
        for place, bench in enumerate(benches):
            bench.settle(lightly=True)
            if place:  # neighbours in θ have much in common
                bench.start_from(benches[place - 1].chosen_ids[None])
        if benches:
            yield from _price(benches, bounds, facts, fetch=attempt == 0)
    family = [(first[: problem.k], rows[: problem.k]), *((b.chosen_ids, b.chosen_rows) for b in benches)]
    bound_of = dict(zip((p.theta for p in inner), bounds, strict=True))
    selections = []
    for p in problems:
        values = [p.value(members) for _, members in family]
        # Ties go to the more relevant set, so that equal objectives cannot break the order.
        relevances = [float(np.sum(np.asarray(members, dtype=np.float64) @ p.query)) for _, members in family]
        ids, members = family[int(np.lexsort((relevances, values))[-1])]
        bound = bound_of.get(p.theta, p.value(members))
        selections.append(conclude(p, ids, members, "certified", bound=bound, exact=facts.exact))
    return Frontier(tuple(selections), top)


def _price(benches: list[Workbench], bounds: list[float], facts: Facts, fetch: bool) -> Asking:
    """One batch of searches for the sets and dual vectors of all θ: lower the bounds, fetch what improves."""
    k = benches[0].problem.k
    directions: list[Vector] = [bench.problem.direction(bench.u) for bench in benches]
    if fetch:
        directions += [bench.problem.direction(bench.chosen_rows.sum(axis=0)) for bench in benches]
    ids, scores = yield Top(np.array(directions), min(facts.size, max(_WANTED, k)) if fetch else k)
    for place, bench in enumerate(benches):
        bound = bench.problem.dual_bound(bench.u, scores[place, :k], facts.max_squared_norm)
        bounds[place] = min(bounds[place], bound)
    if fetch:
        new = np.setdiff1d(ids.ravel(), benches[0].ids)
        rows = yield Rows(new)
        for bench in benches:
            bench.take(new, rows)


def keep(problem: Problem, facts: Facts, *, share: float) -> Asking:
    """The certified set of the smallest θ whose mean relevance is at least `share` of top-k's, by bisection on θ.

    `theta` of the selection says which θ that was. Sets that are best for no θ are not looked at.
    """
    ids = (yield Top(problem.query[None], min(facts.size, max(_RESERVE, 8 * problem.k))))[0][0]
    rows = yield Rows(ids)
    relevance = np.asarray(rows[: problem.k], dtype=np.float64) @ problem.query
    floor = relevance_floor(float(relevance.mean()), share)
    low, high = 0.0, 1.0
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2.0
        bench = Workbench(replace(problem, theta=middle), ids, rows, facts.max_squared_norm)
        bench.settle()
        enough = float(np.mean(bench.chosen_rows.astype(np.float64) @ problem.query)) >= floor
        low, high = (low, middle) if enough else (middle, high)
    # The certified set of the whole collection can be less relevant than the one in memory: go up in growing steps, and
    # halfway back.
    found: Selection = yield from certified(replace(problem, theta=high), facts)
    too_low, step = high, 2.0**-_BISECTIONS
    while found.relevance < floor and found.theta < 1.0:
        too_low, step = found.theta, 2.0 * step
        found = yield from certified(replace(problem, theta=min(too_low + step, 1.0)), facts)
    for _ in range(_BACK if found.theta > high else 0):
        middle = (too_low + found.theta) / 2.0
        other: Selection = yield from certified(replace(problem, theta=middle), facts)
        if other.relevance >= floor:
            found = other
        else:
            too_low = middle
    return found.with_stats(keep=share)


def automatic(problem: Problem, facts: Facts, *, judge: Callable[[Selection], float] | None = None) -> Asking:
    """The knee of the frontier, or the set of it that a judge scores highest, then certified at its θ."""
    curve: Frontier = yield from frontier(problem, facts, thetas=_AUTO_THETAS)
    if judge is not None:
        return curve.choose(judge).with_stats(candidates=len(curve))
    found: Selection = yield from certified(replace(problem, theta=curve.knee().theta), facts)
    return found
