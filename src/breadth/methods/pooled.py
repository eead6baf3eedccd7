"""Any solver on a stated pool: the most relevant rows of the collection instead of all of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from breadth.checks import check_count
from breadth.errors import InputError
from breadth.oracles.array import ArrayOracle
from breadth.oracles.protocol import Facts, facts
from breadth.problem import Problem
from breadth.requests import Asking, Rows, Top, answered
from breadth.selection import Certificate, Selection


def pooled(solve: Callable[[Problem, Facts], Asking], problem: Problem, outer: Facts, pool: int) -> Asking:
    """Run `solve` on the `pool` most relevant rows, fetched once and held in memory.

    What it proves then holds for the pool only, so there is no certificate (unless the pool is everything);
    `stats["pool"]` says how large it was.
    """
    check_count(pool, "pool")
    if not problem.k <= pool <= outer.size:
        raise InputError(f"pool must be between k ({problem.k}) and the number of rows ({outer.size}), got {pool}")
    ids = np.sort((yield Top(problem.query[None], pool))[0][0])
    block = ArrayOracle.over_block((yield Rows(ids)), problem.similarity_dim)
    found: Selection = answered(solve(problem, facts(block)), block)
    certificate: Certificate | None = None
    if found.certificate is not None and pool == outer.size:
        certificate = replace(found.certificate, exact=found.certificate.exact and outer.exact)
    return replace(found, ids=ids[found.ids], certificate=certificate).with_stats(pool=pool)
