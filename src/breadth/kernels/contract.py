"""What every implementation of the kernels promises. `tests/kernels` runs one suite on all of them.

On a block of rows, `gram` holds their similarities (float32, perhaps with room for more rows than `linear` has),
`linear` their weighted relevance, and `coupling` is that of `breadth.problem`. A set is an array of positions, and
`rules` say which sets are allowed (`breadth.feasible`).
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from breadth.arrays import Array, Matrix, Positions, Vector
from breadth.feasible import Parts, Rules


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

    def inner(self, rows: Vector, direction: Vector) -> Vector:
        """Inner products of rows with one direction, in float64. Copies of a row get the same number."""

    def inner_at(self, rows: Array, where: Positions, direction: Vector) -> Vector:
        """`inner` of the rows (float32 or float64) at some places."""

    def combine(self, weights: Vector, rows: Vector) -> Vector:
        """Σ_i weights_i rows_i."""

    def fill_gram(self, rows: Vector, old: int, gram: Matrix) -> None:
        """Write the similarities of the rows from `old` on with all rows before them, and with each other."""

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
        bars: npt.NDArray[np.float32],
        first: int,
        positions: Positions,
        scores: npt.NDArray[np.float32],
        counts: Positions,
    ) -> int:
        """List, for each direction b, the rows from `first` on with score + lengths[b] · errors[i] ≥ bars[b].

        score = scales[i] · factors[b] · Σ_j codes[i, j] · (packed[j // 4, b, j % 4] - 128). Rows and scores are added
        to the lists `positions` and `scores`, which hold `counts`. It ends before a list could overflow, and returns
        the row to go on with.
        """

    def read_rows(self, file: int, ids: Positions, base: int, out: npt.NDArray[Any]) -> bool:
        """Read rows of a file that begin at byte `base` into `out`; whether all of them were there."""
