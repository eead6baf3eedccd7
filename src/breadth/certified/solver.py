"""The certified solver: column generation over any oracle, swap local search, and a proof.

The problem is solved on rows in memory (`bench.py`, `settle.py`). The collection is asked only whether a row outside
would improve the set or the bound (`rounds.py`, `pricing/`). It ends when no exchange of one member with any row of
the collection gains; `prove.py` may then close the gap.
"""

from __future__ import annotations

from breadth.certified import at_once
from breadth.certified.effort import EFFORT, Effort, check_work
from breadth.certified.opening import fetch_first, open_search
from breadth.certified.prove import prove_optimal
from breadth.certified.shortlist.solve import solve_on_shortlist
from breadth.clock import NO_LIMIT, Clock
from breadth.methods.topk import take_most_relevant
from breadth.oracles.protocol import Facts
from breadth.problem import Problem
from breadth.requests import Asking
from breadth.selection import Selection, conclude


def certified(
    problem: Problem,
    facts: Facts,
    *,
    clock: Clock = NO_LIMIT,
    tolerance: float = 0.0,
    prove: float = 0.0,
    effort: Effort = EFFORT,
) -> Asking[Selection]:
    """Find the best set that any known method finds, with a bound on the optimum.

    tolerance   Stop as soon as the gap (reported scale) is at most this.
    prove       Seconds to spend on closing the gap once the set is found. Rows that can be in no better set are
                excluded; where few remain, a tighter relaxation and branch and bound go on until the set is proved
                optimal (`certificate.optimal`) or the time is up. A better set found on the way is returned.
    effort      How hard to work, see `breadth.certified.effort`.

    `stats["stopped"]` says why it ended: "swap_optimal" (no exchange of one member with any row of the collection
    gains), "tolerance", "time_limit", "ties" (so many rows tie that nothing could be settled), "rounds" and "rows"
    (limits that are there for safety) or, with `prove`, "optimal" and "prove" (a better set was found, but its own
    proof ran out of time).
    """
    check_work(tolerance, prove, effort)
    trivial = problem.theta == 1.0 or problem.k in (1, facts.size)
    if trivial and problem.constraints.is_free:  # the most relevant rows are the optimum
        stats = {"stopped": "swap_optimal", "rounds": 0, "swaps": 0, "block": problem.k, "held": problem.k}
        return (yield from take_most_relevant(problem, facts, "certified", stats))
    if not problem.is_plain:
        return (yield from solve_on_shortlist(problem, facts, clock, effort, prove))
    opening = yield from fetch_first(problem, facts, effort)
    if tolerance == prove == 0.0 and at_once.is_possible(problem, facts, opening, clock, effort):
        selection, opening = yield from at_once.choose_at_once(problem, facts, opening, effort)
        if selection is not None:
            return selection
    search = open_search(problem, facts, opening, clock, effort, tolerance)
    stopped = yield from search.run()
    ids, rows, stats = search.bench.chosen_ids, search.bench.chosen_rows, search.stats
    if prove > 0.0 and stopped == "swap_optimal":
        proof = yield from prove_optimal(search, facts, clock.within(prove))
        ids, rows, stopped = proof.ids, proof.rows, proof.stopped
        stats |= proof.stats
    stats["stopped"] = stopped
    settled = stopped in ("swap_optimal", "optimal")
    bound = search.bound.value
    return conclude(problem, ids, rows, "certified", bound=bound, exact=facts.exact, swap_optimal=settled, stats=stats)
