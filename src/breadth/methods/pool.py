"""Any method on a stated pool: the most relevant rows of the collection instead of all of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from breadth.checks import check_count
from breadth.drivers import run
from breadth.errors import InputError
from breadth.oracles.array import ArrayOracle
from breadth.oracles.protocol import Facts, describe
from breadth.problem import Problem
from breadth.requests import Asking, Rows, Top
from breadth.selection import Certificate, Selection


def run_on_pool(
    solve: Callable[[Problem, Facts], Asking[Selection]], problem: Problem, facts: Facts, pool: int
) -> Asking[Selection]:
    """Run a method on the `pool` most relevant rows, and the pinned ones, fetched once and held in memory.

    What it proves then holds for the pool only, so there is no certificate (unless the pool is everything);
    `stats["pool"]` says how large it was.
    """
    check_count(pool, "pool")
    if not problem.k <= pool <= facts.size:
        raise InputError(f"pool must be between k ({problem.k}) and the number of rows ({facts.size}), got {pool}")
    ids = np.union1d((yield from Top(problem.query[None], pool)).ids[0], problem.constraints.pinned)
    block = ArrayOracle.over_block((yield from Rows(ids)), problem.similarity_dim)
    inside = replace(problem, constraints=problem.constraints.renumber(ids))
    found = run(solve(inside, describe(block)), block)
    certificate: Certificate | None = None
    if found.certificate is not None and pool == facts.size:
        certificate = replace(found.certificate, exact=found.certificate.exact and facts.exact)
    return replace(
        found,
        ids=ids[found.ids],
        near=found.near.rename(lambda row: int(ids[row])),
        certificate=certificate,
    ).with_stats(pool=pool)
