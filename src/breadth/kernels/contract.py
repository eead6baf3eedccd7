"""What every implementation of the kernels promises. `tests/kernels` runs one suite on all of them.

On a block of rows, `gram` holds their similarities (float32, perhaps with room for more rows than `linear` has),
`linear` their weighted relevance, and `coupling` is that of `breadth.problem`. A set is an array of positions, and
`rules` say which sets are allowed (`breadth.feasible`).
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from breadth.arrays import Array, Ids, Mask, Matrix, Positions, Vector
from breadth.feasible import Parts, Rules

ROUNDING = 2e-6
"""What float32 similarities change in an eigenvalue, for each row."""
UNDECIDED = 0.02
"""Weight of a row in the choice of a diagonal, at least; ¼ is the weight of one that is half in the set."""
DOUBT = 1e-5
"""Cosines this close to `distinct` are computed again in float64."""
STEPS, MOST_STEPS = 256, 20_000
"""Steps of a relaxation in one call, and in all."""


class Aims(NamedTuple):
    """How far `settle` goes. The first eight are those of `breadth.certified.effort`.

    least        a gap that counts as closed
    least_gain   what a swap must gain to count
    spread       the unit of open gaps
    """

    starts: int
    rough: float
    fine: float
    tabu: int
    tight_rows: int
    eigen: float
    decided: int
    looks: int
    least: float
    least_gain: float
    spread: float


class Wanted(NamedTuple):
    """One query without its vector, as numbers. The first four are those of `breadth.problem`.

    distinct     the cosine above which two rows are copies; ∞ if copies are allowed
    keep_best    whether the most relevant row is in every set
    floor        the least relevance of a row
    on_topic     the same as a share of the k-th largest relevance, if that is positive; 0 allows all rows
    """

    k: int
    relevance_weight: float
    coupling: float
    sharpness: int
    distinct: float
    keep_best: bool
    floor: float
    on_topic: float


class Outcome(NamedTuple):
    """What `settle` writes.

    chosen                  the set
    totals                  its value, the bound, whether rows outside the block can be in a better set (1 or 0) in the
                            last and in the first relaxation, and the bound of the first; there is room for 8 numbers
    x, slope, survivors     those of the first relaxation
    left, inner_x           the rows that can be in a better set, and the x of the last relaxation
    """

    chosen: Positions
    totals: Vector
    x: Vector
    slope: Vector
    survivors: Mask
    left: Mask
    inner_x: Vector

    @classmethod
    def of(cls, size: int, k: int) -> Outcome:
        """Room for a set of k rows from a block of so many."""
        empty = np.empty
        return cls(
            empty(k, np.int64), empty(8), empty(size), empty(size), empty(size, np.bool_), empty(size, np.bool_),
            empty(size),
        )  # fmt: skip

    def of_first(self, size: int) -> Outcome:
        """The same where no more than so many rows of the block were looked at."""
        return self._replace(
            x=self.x[:size], slope=self.slope[:size], survivors=self.survivors[:size], left=self.left[:size],
            inner_x=self.inner_x[:size],
        )  # fmt: skip


class Settle(Protocol):
    """All that is done on a block of rows with an even sharpness and no budget, in one call."""

    def __call__(
        self,
        linear: Vector,
        gram: Matrix,
        rules: Rules,
        k: int,
        coupling: float,
        locked: Positions,
        parts: Parts,
        twins: Positions,
        supply: float,
        aims: Aims,
        outcome: Outcome,
    ) -> tuple[int, int]:
        """The best set and its bound, by the steps of `breadth.certified.shortlist.search`; where it ended, and swaps.

        `locked`, `parts`, `twins` and `supply` are those of `breadth.shortlist.table.Table`.

        It ended: 0, there are fewer than k rows; 1, all is done; 2 or 3, the first or the second tightening of the
        bound goes on with an eigenvalue.
        """


class Choose(Protocol):
    """All that is done for an even sharpness on an array, or on a shortlist without pinned rows, in one call."""

    def __call__(
        self,
        size: int,
        listed: bool,
        rows: Array,
        query: Vector,
        given: Vector,
        check: bool,
        low: float,
        high: float,
        wanted: Wanted,
        aims: Aims,
        ids: Ids,
        scores: Vector,
        outcome: Outcome,
        values: Vector,
        stands: Positions,
    ) -> tuple[int, int, int, int, int]:
        """The best set of a shortlist's first rows; where it ended, swaps, copies, rows that it took, and all listed.

        size             rows to begin with; then twice as many, as long as those beyond them matter
        listed           whether rows, ids and scores are those of a `breadth.shortlist.fetch.Shortlist`, with its
                         ceiling in totals[7]. If not, the rows are a collection, and the shortlist is made of it
        rows             float32
        query, given     the query, or the relevance of all rows from outside; the other one is empty
        check            whether the squared lengths of all rows must be in [low, high], as that of the query must. If
                         one is not, it ended as -1
        ids, scores      the shortlist. If it is made here, so many rows as there is room for, and totals[7] becomes its
                         ceiling
        outcome          as `settle` writes it, for the rows that it took. The set is in order of relevance; totals[5]
                         and [6] are Σ s_ij and Σ e_i·e_j over its pairs i < j
        values           becomes the relevance of the set
        stands           for each row of the shortlist, which member it is a copy of, or -1

        It ended as `settle` does, or 4: rows beyond the shortlist matter. Where that is not 1, the set is not in order
        and nothing but what `settle` writes is filled.
        """


class ChoosePlain(Protocol):
    """The same for the paper's objective without constraints, on an array."""

    def __call__(
        self,
        size: int,
        most: int,
        wide: int,
        rows: Array,
        query: Vector,
        check: bool,
        low: float,
        high: float,
        squared: float,
        wanted: Wanted,
        aims: Aims,
        entering: int,
        many: int,
        ids: Ids,
        values: Vector,
        totals: Vector,
        w: Vector,
        best: Vector,
    ) -> tuple[int, int, int]:
        """The best set by the steps of `breadth.certified.settle`; where it ended, swaps, and the rows of the block.

        size, most            rows that the block begins with, and has room for
        wide                  rows of the block for the search for sets, at least, if the bound leaves something open
        rows, query           as for `Choose`
        check, low, high      as for `Choose`; `squared`: without a check, the largest squared length there can be
        entering              rows that may enter the block at a time
        many                  further greedy starts
        ids, values, totals   become the set in order of relevance, its relevance, and what `Choose` writes
        w, best               become w(u) of the dual vector, and the k largest scores for it

        It ended: -1, a length is wrong; 1, all is done; 2, the same, and all sets that can be better were gone through;
        4, the block has no room for all rows that matter.
        """


class Kernels(Protocol):
    """A module with these functions and constants."""

    @property
    def NAME(self) -> str:  # noqa: N802
        """What it is called."""

    @property
    def STEPS_AT_ONCE(self) -> int:  # noqa: N802
        """How many elementary steps a call may be asked for, so that a time limit can be kept between calls."""

    @property
    def SPREADS(self) -> bool:  # noqa: N802
        """Whether `scan` uses one core, so that its callers spread blocks of rows over threads."""

    @property
    def CODED(self) -> int:  # noqa: N802
        """How many directions may share a pass of `gather`, or half or a quarter of them; 0 where `scan` is faster."""

    @property
    def settle(self) -> Settle | None:
        """`Settle`, or None where calling the others one by one takes no longer."""

    @property
    def choose(self) -> Choose | None:
        """`Choose`, or None as for `settle`."""

    @property
    def choose_plain(self) -> ChoosePlain | None:
        """`ChoosePlain`, or None as for `settle`."""

    def inner(self, rows: Vector, direction: Vector) -> Vector:
        """Inner products of rows with one direction, in float64. Copies of a row get the same number."""

    def inner_at(self, rows: Array, where: Positions, direction: Vector) -> Vector:
        """`inner` of the rows (float32 or float64) at some places."""

    def combine(self, weights: Vector, rows: Vector) -> Vector:
        """Σ_i weights_i rows_i."""

    def fill_gram(self, rows: Vector, old: int, gram: Matrix) -> None:
        """Write the similarities of the rows from `old` on with all rows before them, and with each other."""

    def multiply_pairs(self, rows: Matrix) -> Matrix:
        """The inner products of float32 rows with each other, in float32."""

    def marginals(self, linear: Vector, gram: Matrix, coupling: float, chosen: Positions) -> Vector:
        """The marginal value of every row for a set."""

    def set_value(self, linear: Vector, gram: Matrix, coupling: float, chosen: Positions) -> float:
        """F of a set."""

    def greedy(self, linear: Vector, gram: Matrix, coupling: float, rules: Rules, picks: Positions, given: int) -> int:
        """Fill `picks`, whose first `given` are there already: each time the row with the largest marginal value that
        may join; of equal ones the first. How many there are in the end: fewer if no further row may join.
        """

    def swap(
        self,
        linear: Vector,
        gram: Matrix,
        coupling: float,
        rules: Rules,
        chosen: Positions,
        least_gain: float,
        most: int,
    ) -> int:
        """Exchange one member for one row outside, in place, while that is allowed and gains more than `least_gain`.

        The best exchange first, `most` of them at most; how many there were.
        """

    def try_starts(
        self,
        linear: Vector,
        gram: Matrix,
        coupling: float,
        rules: Rules,
        given: Positions,
        merits: Vector,
        couplings: Vector,
        chosen: Positions,
        least_gain: float,
    ) -> int:
        """Greedy beside the rows `given` by each line of `merits` with its coupling, then swaps; how many swaps.

        `chosen` becomes the best of these sets, if that is better than before. Sets that are not full do not count.
        """

    def tabu(
        self,
        linear: Vector,
        gram: Matrix,
        coupling: float,
        rules: Rules,
        chosen: Positions,
        current: Positions,
        merits: Vector,
        free_at: Positions,
        totals: Vector,
        now: int,
        iterations: int,
        least_gain: float,
    ) -> None:
        """Make the best exchange in every iteration, gaining or not; `chosen` becomes the best set met.

        Rows that moved are held for some iterations (`free_at`). `current`, its `merits` (marginal values) and
        `totals` (what `current` and `chosen` have gained) are kept between calls: cutting a search into calls, the next
        one from iteration `now` on, changes nothing.
        """

    def relax(
        self,
        linear: Vector,
        gram: Matrix,
        k: int,
        coupling: float,
        parts: Parts,
        x: Vector,
        base: float,
        share: float,
        least: float,
        steps: int,
    ) -> tuple[float, float]:
        """Raise linear'x - coupling/2 · x'Gx over 0 ≤ x ≤ 1, 1'x = k, in place; the duality gap and the value.

        x respects the `parts`: of each at most so much, and locked entries stay. Each step moves weight between two
        entries, exactly as much as is best: the one with the largest slope receives, the one that promises most gives.
        Inside a part that is full, weight moves as well. It ends after `steps`, or when the gap is at most `least`, or
        at most the `share` of what the value exceeds `base` by; it looks every 32 steps.
        """

    def judge(self, slope: Vector, k: int, parts: Parts, supply: float) -> tuple[float, Vector]:
        """The largest sum of slopes of k rows that respect the parts, and what it loses when one row must be chosen.

        That is `feasible.best_sum` and `feasible.find_losses`.
        """

    def dominate(self, gram: Matrix, weights: Vector) -> Vector:
        """A diagonal d with S - diag(d) positive semidefinite, from sums over the rows of the similarities S.

        R = S - uu' is made diagonally dominant: for any t > 0 the entries d_i = r_ii - Σ_{j≠i} |r_ij| t_j/t_i will do,
        and t = √weights is the best choice for Σ weights_i d_i. u is 0, or proportional to the row sums of S beside its
        diagonal, which helps where all rows resemble each other; whichever gives the larger Σ weights_i d_i.
        """

    def scan(self, rows: npt.NDArray[Any], scales: Matrix, directions: Matrix, out: Matrix) -> None:
        """out[b, i] = scales[i] · rows[i]·directions[b], for int8 or float32 rows, to float32 precision."""

    def sift(
        self, scores: Matrix, errors: Matrix, length: float, rounding: float, least: float
    ) -> tuple[Positions, Matrix]:
        """Positions with score + reach ≥ least, and their reach = length · error + rounding."""

    def gather(
        self,
        codes: npt.NDArray[np.int8],
        scales: npt.NDArray[np.float32],
        errors: npt.NDArray[np.float32],
        packed: npt.NDArray[np.uint8],
        factors: npt.NDArray[np.float32],
        lengths: npt.NDArray[np.float32],
        rounding: npt.NDArray[np.float32],
        keeps: Positions,
        first: int,
        bars: npt.NDArray[np.float32],
        positions: Positions,
        scores: npt.NDArray[np.float32],
        counts: Positions,
    ) -> int:
        """List, for each direction b, the rows from `first` on with score + lengths[b] · errors[i] ≥ bars[b].

        score = scales[i] · factors[b] · Σ_j codes[i, j] · (packed[j // 4, b, j % 4] - 128). Rows and scores are added
        to the lists `positions` and `scores`, which hold `counts`. A score is certain to lengths[b] · errors[i] +
        rounding[b]. So a list that is nearly full may lose the rows that cannot be among the keeps[b] best; its bar
        then rises, in place. It ends before a list could overflow, and returns the row to go on with.
        """

    def read_rows(self, file: int, ids: Positions, base: int, out: npt.NDArray[Any]) -> bool:
        """Read rows of a file that begin at byte `base` into `out`; whether all of them were there."""
