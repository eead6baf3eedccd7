"""The certified solver: column generation over any oracle, swap local search, and a proof.

The problem is solved on rows in memory (`bench.py`, `settle.py`). The collection is asked only whether a row outside
would improve the set or the bound (`rounds.py`, `pricing/`). It ends when no exchange of one member with any row of
the collection gains; `prove.py` may then close the gap.
"""

from __future__ import annotations

from breadth.certified.effort import EFFORT, Effort, check_effort
from breadth.certified.opening import open_search
from breadth.certified.prove import prove_optimal
from breadth.certified.shortlist.columns import search_columns
from breadth.certified.shortlist.prove import prove_on_table
from breadth.certified.shortlist.search import search_shortlist
from breadth.checks import check_number
from breadth.clock import NO_LIMIT, Clock
from breadth.methods.topk import take_most_relevant
from breadth.oracles.protocol import Facts
from breadth.problem import Problem
from breadth.requests import Asking
from breadth.selection import Selection, conclude
from breadth.shortlist.conclude import conclude_on_table


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
    check_number(tolerance, "tolerance", 0.0)
    check_number(prove, "prove", 0.0)
    trivial = problem.theta == 1.0 or problem.k in (1, facts.size)
    if trivial and problem.constraints.is_free:  # the most relevant rows are the optimum
        stats = {"stopped": "swap_optimal", "rounds": 0, "swaps": 0, "block": problem.k, "held": problem.k}
        return (yield from take_most_relevant(problem, facts, "certified", stats))
    if not problem.is_plain:
        return (yield from _solve_shortlist(problem, facts, clock, check_effort(effort), prove))
    search = yield from open_search(problem, facts, clock, check_effort(effort), tolerance)
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


def _solve_shortlist(problem: Problem, facts: Facts, clock: Clock, effort: Effort, prove: float) -> Asking[Selection]:
    search = search_shortlist if problem.sharpness > 1 else search_columns
    found = yield from search(problem, facts, clock, effort)
    whole = problem.sharpness > 1 or found.table.shortlist.is_complete
    if prove > 0.0 and found.swap_optimal and whole:
        prove_on_table(found, clock.within(prove), facts.exact)
    return conclude_on_table(
        found.table,
        found.chosen,
        "certified",
        found.stats,
        bound=found.bound,
        exact=facts.exact,
        swap_optimal=found.swap_optimal,
        picked_in_order=False,
    )
