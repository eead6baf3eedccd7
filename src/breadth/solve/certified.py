"""The certified method, from the problem to the selection."""

from __future__ import annotations

import numpy as np

from breadth.clock import NO_LIMIT, Clock
from breadth.methods.topk import take_most_relevant
from breadth.oracles.protocol import Facts
from breadth.problem import Problem
from breadth.requests import Asking
from breadth.selection import Selection
from breadth.solve.conclude import conclude_on_block
from breadth.solve.effort import EFFORT, Effort, check_work
from breadth.solve.found import Found
from breadth.solve.loop import solve
from breadth.solve.prove import close_gap


def certified(
    problem: Problem, facts: Facts, *, clock: Clock = NO_LIMIT, prove: float = 0.0, effort: Effort = EFFORT
) -> Asking[Selection]:
    """Find the best set that any known method finds, with a bound on the optimum.

    prove    Seconds to spend on closing the gap once the set is found. Rows that can be in no better set are excluded;
             where few remain, a tighter relaxation and branch and bound go on until the set is proved optimal
             (`certificate.optimal`) or the time is up. A better set found on the way is returned.
    effort   How hard to work, see `breadth.solve.effort`.

    `stats["stopped"]` says why it ended: "swap_optimal" (no exchange of one member with any row of the collection
    gains), "time_limit", "rounds" and "rows" (limits that are there for safety) or, with `prove`, "optimal" and
    "prove" (a better set was found, but its own proof ran out of time).
    """
    check_work(prove, effort)
    trivial = problem.theta == 1.0 or problem.k in (1, facts.size)
    if trivial and problem.constraints.is_free:  # the most relevant rows are the optimum
        stats = {"stopped": "swap_optimal", "rounds": 0, "swaps": 0, "block": problem.k, "held": problem.k}
        return (yield from take_most_relevant(problem, facts, "certified", stats))
    found, pricing = yield from solve(problem, facts, clock, effort)
    yield from close_gap(found, pricing, facts, clock, effort, prove)
    return conclude_found(found, facts)


def conclude_found(found: Found, facts: Facts) -> Selection:
    """The selection of a set that was found."""
    bound = found.bound if np.isfinite(found.bound) else None
    return conclude_on_block(
        found.block, found.chosen, "certified", found.stats, bound=bound, exact=facts.exact,
        swap_optimal=found.swap_optimal, picked_in_order=False,
    )  # fmt: skip
