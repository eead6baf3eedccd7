"""How hard the certified solver works: every constant that trades time for quality, in one place.

`python -m benchmarks effort` halves and doubles each of them and writes docs/benchmarks/effort.md: what each choice
costs in time and in the objective, on one panel of instances. Correctness depends on none of them: whatever they are,
the set is swap-optimal when it says so, and the bound holds.
"""

from __future__ import annotations

from dataclasses import dataclass

from breadth.checks import check_number
from breadth.errors import InputError


@dataclass(frozen=True)
class Effort:
    """The constants. θ and k are those of the query; "open gap" is measured in (1-θ)/(k-1), see `Problem.spread`."""

    # Rows in memory
    held: int = 4096
    """Rows fetched with the first search. They are priced in memory: the collection is seldom searched again."""
    held_when_near: int = 1024
    """The same for θ ≥ `near_theta`, where few rows beyond the most relevant ones matter."""
    near_theta: float = 0.75
    nearest_theta: float = 0.85
    """From this θ on, half as many."""
    held_for_each: int = 8
    """At least so many rows are fetched for each of the k."""
    whole: int = 16_384
    """A collection of at most so many rows is held as a whole, if its ids are 0 … n-1, and never searched."""
    low_theta: float = 0.45
    """Below this θ, relevance says little about which rows belong to good sets, and more of the collection is tried."""
    spread_theta: float = 0.5
    """Up to this θ, for more than `loose_k` rows, and where the collection can be searched by threshold, rows from all
    over it are fetched first."""
    whole_when_low: int = 50_000
    """The same as `whole` for θ < `low_theta`; other collections of that size are searched by the other methods too."""

    # The block: the rows in memory that matter, with their similarities
    block: int = 64
    """Rows that begin the block (or 2k)."""
    entering: int = 32
    """Rows that may enter the block at a time (and k/2 more)."""
    watched: int = 128
    """Rows outside the block that are priced again and again until none of them enters (and 8k more)."""

    # The relaxation
    rough: float = 0.1
    """Its duality gap, as a share of the open gap, while rows still enter the block."""
    fine: float = 0.003
    """The same once no row enters."""
    relax_steps: int = 20_000

    # The search for sets
    starts: int = 4
    """Greedy sets on the block that the local search starts from."""
    loose: float = 0.02
    loose_theta: float = 0.65
    """Above this open gap, for θ below this, the block grows to `loose_block` rows, and the search starts from
    `loose_starts` such sets and, up to `held` rows and this k, from what other methods find."""
    loose_k: int = 64
    loose_block: int = 128
    loose_starts: int = 8
    loose_tabu: float = 3.0
    """So many times more iterations of the tabu search for θ below `loose_theta`."""
    tabu: int = 500
    """Iterations of the tabu search for an open gap of 1, and at the most; otherwise times the root of the open gap."""
    tabu_again: float = 3.0
    """So many times more of them when the same rows are searched a second time."""
    few: int = 6
    """Up to this k, sets are small enough to start from many first rows."""
    first_rows: int = 96
    """First rows times k for these starts."""
    promising: int = 16
    """Local searches that are run from the best of many starts."""

    # Going through all sets, for the paper's objective on an array
    decided: int = 64
    """Rows that can be in a better set, at the most, for which that is tried."""
    decided_k: int = 16
    """The same for k: the longer the sets, the less is known of them from their first rows."""
    looks: int = 32_768
    """Looks at a row after which it is given up: what the other search for sets takes."""
    sets: int = 32_768
    """Sets of an array, at the most, which are gone through at any θ."""

    # The shortlist, for sharp similarity and constraints
    shortlist: int = 256
    shortlist_for_each: int = 4
    """Rows fetched with the first search, at least, and at least so many for each of the k."""
    table: int = 14
    table_for_each: int = 2
    """Rows that the search for a set begins with, and so many for each of the k. It goes on with twice as many as long
    as rows beyond them matter."""
    most_rows: int = 4096
    """Rows beyond which the shortlist does not grow."""
    tight_rows: int = 128
    """Rows that can be in a better set, at the most, for which the bound is tightened."""
    eigen: float = 0.01
    """Open gap from which on the bound is tightened by an eigenvalue (0.1 to 1 ms)."""

    # The collection
    priced: int = 256
    """Rows asked for in one search (or 4k), when an engine has nothing but `top`."""
    fetched: int = 8192
    """Rows that are fetched in order to look at them, at the most."""
    wide: float = 0.2
    """Above this open gap, and up to k = `few`, greedy runs over the whole collection from several first rows."""
    wide_when_low: float = 0.02
    far_k: int = 25
    """The same for θ < `low_theta`: above this open gap, and up to this k."""
    far_starts: int = 16
    far_rows: int = 32
    far_passes: int = 2
    """First rows of these starts, rows that each search brings in for each of them, and how often that is done."""
    rounds: int = 60
    idle: int = 3
    """Rounds in which nothing new comes and nothing is settled: many rows tie."""
    slow: float = 0.02
    """A round that lowers the gap by a smaller share ends the work on the bound."""

    def count_held(self, theta: float, k: int) -> int:
        """Rows to fetch with the first search."""
        near = self.held_when_near // (1 if theta < self.nearest_theta else 2)
        return max(self.held if theta < self.near_theta else near, self.held_for_each * k)

    def count_shortlist(self, k: int) -> int:
        """Rows of the first shortlist, for sets of k rows."""
        return max(self.shortlist, self.shortlist_for_each * k)

    def count_sent(self, k: int) -> int:
        """Rows of the first shortlist where an engine sends each of them."""
        return max(self.block, 2 * k)

    def count_first(self, k: int) -> int:
        """Rows of the first table."""
        return self.table + self.table_for_each * k

    def begins_far(self, theta: float, k: int) -> bool:
        """Whether the most relevant rows say little about the set, so that others are fetched first.

        Smaller sets are searched from many starts among the most relevant rows, and find better sets there.
        """
        return theta <= self.spread_theta and k > self.loose_k


EFFORT = Effort()
LIGHT = Effort(starts=2, tabu=300, tight_rows=64)
"""For the many θ of a frontier on a shortlist."""


def check_work(tolerance: object, prove: object, effort: object) -> None:
    """Raise an error that says what to do unless these arguments of the certified method can be used."""
    check_number(tolerance, "tolerance", 0.0)
    check_number(prove, "prove", 0.0)
    if not isinstance(effort, Effort):
        raise InputError(f"effort must be an Effort, got {effort!r}; e.g. dataclasses.replace(EFFORT, held=8192)")
