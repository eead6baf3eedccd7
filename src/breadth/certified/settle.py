"""Find the best set and the best dual vector on the rows that a bench holds."""

from __future__ import annotations

import numpy as np

from breadth.arrays import Positions
from breadth.certified.bench import Bench
from breadth.picking import pick_aligned, pick_greedily, spread_firsts
from breadth.products import multiply

_STARTS_AT_ONCE = 8
"""Greedy starts between two looks whether the set is proved optimal."""


def settle(bench: Bench, *, again: bool = False, lightly: bool = False, roughly: bool = False) -> None:
    """Improve set and dual vector until no held row improves either, or the time is up.

    `again`: the rows are the same as the last time, so the dual vector stays and the time goes into the search for
    sets. `lightly`: sets from one start, and swaps. `roughly`: a rough dual vector.
    """
    if not again:
        improve_dual_vector(bench, finely=not roughly)
        _start(bench, lightly)
    bench.improve(bench.chosen.copy())  # the set may be from before the block grew
    rate = 0.0 if lightly else _choose_rate(bench, again)
    search(bench, rate)
    while not bench.clock.is_over() and bench.enter_for_swaps():
        bench.improve(bench.chosen.copy())
        search(bench, rate)


def _choose_rate(bench: Bench, again: bool) -> float:
    """Iterations of the tabu search for an open gap of 1."""
    effort = bench.effort
    if again:
        return effort.tabu * effort.tabu_again
    return effort.tabu * (effort.loose_tabu if bench.problem.theta < effort.loose_theta else 1.0)


def _start(bench: Bench, lightly: bool) -> None:
    """Start from the relaxation and from greedy sets on the block, which grows where much is left open."""
    if bench.clock.is_over():
        return
    effort = bench.effort
    bench.improve(bench.problem.allowed.best(bench.x))
    loose = not lightly and bench.is_loose()
    if loose:
        bench.enter_best(effort.loose_block)
    start_from_greedy(bench, 1 if lightly else effort.loose_starts if loose else effort.starts)
    if loose and len(bench.held) <= effort.held and bench.problem.k <= effort.loose_k:
        start_from_rivals(bench)


def improve_dual_vector(bench: Bench, finely: bool) -> None:
    """Relax, and let held rows enter the block that move the bound: roughly at first, then finely."""
    share = bench.effort.fine if finely and bench.holds_block_only() else bench.effort.rough
    watched = None
    while not bench.clock.is_over():
        bench.relax(share)
        before = watched
        entered, watched = bench.enter_for_bound(watched)
        if entered or before is not None:  # after the watched rows, all are looked at once more
            continue
        if not finely or share == bench.effort.fine or bench.is_closed():
            return
        share = bench.effort.fine


def search(bench: Bench, rate: float) -> None:
    """Tabu search, the longer the more the relaxation leaves open: effort where there is something to gain."""
    if bench.is_closed():
        return
    iterations = int(rate * min(max(bench.open_gap, 0.0), 1.0) ** 0.5)
    if iterations > 0 and not bench.clock.is_over():
        trial = bench.chosen.copy()
        bench.block.search(trial, iterations, bench.clock)
        bench.improve(trial)


def start_from_greedy(bench: Bench, count: int) -> None:
    """Start from greedy sets on the block, in turn with all and with half of the relevance.

    Half of the first rows are the most relevant ones, half are spread over the block.
    """
    order = np.argsort(-bench.block.linear, kind="stable")
    numbers = np.arange(min(count, 2 * len(order)))
    near = numbers % 4 < 2
    firsts = order[np.where(near, numbers // 2, (len(order) - 1) * numbers // count)]
    shares = np.where(numbers % 2 == 0, 1.0, 0.5)
    together = _STARTS_AT_ONCE if bench.clock.limit == np.inf else 1
    for start in range(0, len(numbers), together):
        if bench.is_closed() or bench.clock.is_over():
            return
        bench.improve_from_firsts(firsts[start : start + together], shares[start : start + together])


def start_from_rivals(bench: Bench) -> None:
    """Start from what greedy, max-sum dispersion and VRSD find on the held rows.

    Of all methods they most often end above the local optima that the other starts lead to.
    """
    problem, rows = bench.problem, bench.held.rows
    sets: list[Positions] = []
    if not bench.holds_block_only():  # else the first starts on the block were these
        first = np.repeat(spread_firsts(multiply(rows, problem.query), 1), 2)
        sets += [*pick_greedily(problem, rows, first, np.array([1.0, 0.5]), clock=bench.clock)]
    if problem.similarity_dim is None:
        sets.append(pick_aligned(problem, rows, bench.clock))
    if sets:
        bench.improve_from(np.array(sets))


def start_from_many(bench: Bench) -> None:
    """For a small k: start from greedy sets from many first rows, over the held rows that score best for w(u).

    The less relevance counts, the more rows may belong to a good set: below `low_theta` all of them.
    """
    effort, theta = bench.effort, bench.problem.theta
    firsts = max(1, effort.first_rows // bench.problem.k)
    if bench.holds_block_only():
        start_from_greedy(bench, 4 * firsts)
    elif theta < effort.low_theta:
        _start_from_rows(bench, None, firsts)
    else:
        count = effort.held_when_near if theta >= effort.near_theta else effort.held
        _start_from_rows(bench, _choose_rows(bench, count), firsts)


def _choose_rows(bench: Bench, count: int) -> Positions | None:
    """The held rows that score best for w(u), at least 2k of them; None for all held rows."""
    count = max(count, 2 * bench.problem.k)
    return None if count >= len(bench.held) else bench.held.best(bench.w_dual, count)


def _start_from_rows(bench: Bench, where: Positions | None, firsts: int) -> None:
    """Start from greedy sets over some held rows, or all of them, from several first rows."""
    rows = bench.held.rows if where is None else bench.held.rows[where]
    first = np.repeat(spread_firsts(multiply(rows, bench.problem.query), firsts), 2)
    shares = np.tile([1.0, 0.5], len(first) // 2)
    sets = pick_greedily(bench.problem, rows, first, shares, clock=bench.clock)
    bench.improve_from(sets if where is None else where[sets])
