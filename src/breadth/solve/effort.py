"""How hard the solver works: the constants that trade time for quality, each with the measurement that set it.

`python -m benchmarks effort` halves and doubles each of them and writes docs/benchmarks/effort.md. Correctness depends
on none of them: whatever they are, the set is swap-optimal when it says so, and the bound holds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from breadth.checks import check_number
from breadth.errors import InputError
from breadth.native import core
from breadth.problem import Problem

RESOLUTION = 1e-7
"""A gap (reported scale) that counts as closed."""
GAIN = 1e-7
"""A swap must gain more than this (times 1 + k), or rounding of the pair costs could run in circles."""
LOOSE_THETA, LOW_THETA = 0.65, 0.45
"""Below these θ the relaxation leaves much open, and relevance says little about which rows belong together."""


@dataclass(frozen=True)
class Effort:
    """The constants. θ and k are those of the query; "open gap" is measured in (1-θ)/(k-1), see `Problem.spread`."""

    # Rows in memory
    pool: int = 256
    """Rows of the first search, or 4k, where relevance bounds what a row is worth."""
    held: int = 4096
    """The same where it does not (sharpness 1), or 8k; a quarter for θ ≥ 0.75, an eighth for θ ≥ 0.85."""
    whole: int = 16_384
    """A collection of at most so many rows is held as a whole where its ids are 0 … n-1; three times as many for
    θ < 0.45, where relevance says little about which rows belong together."""
    most: int = 4096
    """Rows beyond which a pool of the most relevant rows does not grow."""
    fetched: int = 8192
    """Rows that are fetched in order to look at them, at the most."""

    # The block
    block: int = 14
    """Rows that begin the block, beside 2k, where relevance bounds what a row is worth; else 64, or 2k."""
    entering: int = 32
    """Rows that may enter it at a time (and k/2 more)."""

    # The relaxation and the bound
    rough: float = 0.1
    """Its duality gap, as a share of the open gap, while rows still enter the block."""
    fine: float = 0.003
    """The same once no row enters."""
    tight_rows: int = 128
    """Rows that can be in a better set, at the most, for which the bound is tightened."""
    eigen: float = 0.01
    """Open gap from which on the bound is tightened by an eigenvalue (0.1 to 1 ms)."""
    decided: int = 64
    """Rows that can be in a better set, at the most, for which all sets are gone through."""
    looks: int = 32_768
    """Looks at a row after which that is given up: what the other search for sets takes."""

    # The search for sets
    starts: int = 4
    """Greedy sets that the local search starts from; 32 times as many for θ < 0.45."""
    tabu: int = 500
    """Iterations of the tabu search for an open gap of 1, and at the most; otherwise times the root of the open gap.
    Three times as many for θ < 0.65."""

    first_rows: int = 96
    """First rows times k for greedy sets of the whole pool, where much is left open at a low θ. For θ < 0.45 four times
    as many, and so with the next two."""
    products: int = 1 << 25
    """Products of coordinates that these may take in any case: more first rows where the pool is small."""
    promising: int = 16
    """The best of these sets, which the local search starts from."""

    # The collection
    priced: int = 256
    """Rows asked for in one search (or 4k), when an engine has nothing but `top`."""
    rounds: int = 60
    """Rounds after which the work ends, for safety."""

    def for_core(self, problem: Problem, prove: float = 0.0) -> core.Effort:
        """The same for one query, as the core reads it."""
        made = core.Effort()
        made.starts, made.rough, made.fine = self.starts, self.rough, self.fine
        made.tight_rows, made.eigen, made.decided, made.looks = self.tight_rows, self.eigen, self.decided, self.looks
        if problem.sharpness == 1 and prove == 0.0:  # its eigenvalue gains little
            made.eigen = np.inf
        if problem.theta < LOW_THETA:
            made.starts *= 32
        loose = problem.theta < (LOOSE_THETA if problem.sharpness == 1 else LOW_THETA)
        made.tabu = self.tabu * 3 if loose else self.tabu
        made.closed, made.least_gain = RESOLUTION * problem.scale, GAIN * (1.0 + problem.k)
        made.spread = max(problem.spread, 1e-300)
        return made


EFFORT = Effort()


def check_work(prove: object, effort: object) -> None:
    """Raise an error that says what to do unless these arguments of the certified method can be used."""
    check_number(prove, "prove", 0.0)
    if not isinstance(effort, Effort):
        raise InputError(f"effort must be an Effort, got {effort!r}; e.g. dataclasses.replace(EFFORT, held=8192)")
