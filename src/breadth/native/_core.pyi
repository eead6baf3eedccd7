"""The compiled core, as Python sees it. `fallback.py` has the same names.

On a block of rows, `gram` holds the pair costs s_ij (float32, with s_ii, perhaps with room for more rows than `linear`
has), `linear` the weighted relevance; F(S) = Σ linear_i - coupling/2 · Σ_{i≠j} s_ij. A set is an array of positions.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from breadth.arrays import Array, Ids, Matrix, Positions, Vector

CODED: int
"""How many directions may share a pass of `gather`, or half or a quarter of them; 0 where `scan` is faster."""

class Effort:
    """How far `Block.solve` goes. The fields are those of `breadth.solve.effort`, and:

    full         whether to search on after the first set and the first bound
    last         whether to do so even if rows outside matter: there will be no others
    prove        seconds for branch and bound
    closed       a gap that counts as closed, on the scale of F
    least_gain   what a swap must gain
    spread       the unit of open gaps
    """

    full: bool
    last: bool
    starts: int
    rough: float
    fine: float
    tabu: int
    tight_rows: int
    eigen: float
    decided: int
    looks: int
    prove: float
    closed: float
    least_gain: float
    spread: float

class Result:
    """What `Block.solve` found.

    chosen           the set; fewer than k rows where no further row may join
    complete         whether it has k rows, and of each group enough; if not, nothing else is filled
    value            F of the set
    bound            no set of the block, and of rows outside that are worth `supply` at the most, has a larger F
    outside          whether rows outside can be in a better set
    needs_more       whether rows outside may improve the set by a swap, or raise the bound
    short_of_budget  a further row could join if it were not for its cost
    can_grow         a further row may join the set
    decided          whether all sets that can be better were gone through
    late             whether the time was up before the work was done
    x, slope         the first relaxation, and its slopes
    threshold        the slope that a further row must exceed to raise that relaxation
    survivors        1 where a row can be in a better set, as far as that relaxation tells
    swaps, nodes     exchanges made, and nodes of branch and bound
    """

    chosen: Positions
    value: float
    bound: float
    outside: bool
    needs_more: bool
    short_of_budget: bool
    can_grow: bool
    complete: bool
    decided: bool
    late: bool
    x: Vector
    slope: Vector
    threshold: float
    survivors: npt.NDArray[np.uint8]
    swaps: int
    nodes: int

class Block:
    @staticmethod
    def make(
        linear: Vector,
        gram: Matrix,
        k: int,
        coupling: float,
        apart: npt.NDArray[np.uint8] | None = None,
        group: npt.NDArray[np.int32] | None = None,
        most: npt.NDArray[np.int32] | None = None,
        least: npt.NDArray[np.int32] | None = None,
        locked: npt.NDArray[np.uint8] | None = None,
        cost: Vector | None = None,
        budget: float = ...,
        shift: Vector | None = None,
        supply: float = ...,
        plain: bool = False,
        by_direction: bool = False,
    ) -> Block:
        """A block of rows, and which sets of them are allowed (`breadth.feasible.Rules`).

        shift          a diagonal d with S - diag(d) positive semidefinite; None where S is so itself
        supply         what a row outside is worth at the most; -∞ if there is none
        plain          sharpness 1: only the diagonal 0 is both cheap and good
        by_direction   rows outside are priced by a direction: bounds are then about the rows of the block alone
        """

    def solve(
        self, effort: Effort, starts: Sequence[Positions], x: Vector | None = None, seconds: float = 1e9
    ) -> Result:
        """The best set and its bound, from some allowed sets of k rows, or from greedy's; `x`: where to relax from."""

    def pick(self, merits: Vector, coupling: float, given: Positions) -> Positions:
        """Greedy: each time the row with the largest merit - coupling · (its pairs) that may join those `given`."""

    def bound_at(self, x: Vector, further: Vector, unseen: float) -> float:
        """A bound on F from the linearisation at x: of the block, further rows with these slopes, and unseen ones."""

def scan(
    rows: npt.NDArray[np.int8] | Matrix, scales: Matrix | None, directions: Matrix, out: npt.NDArray[np.float32]
) -> None:
    """out[b, i] = scales[i] · rows[i]·directions[b], to float32 precision."""

def scan_halves(
    rows: npt.NDArray[np.uint16], scales: Matrix | None, directions: Matrix, out: npt.NDArray[np.float32]
) -> None:
    """The same for float16 rows, passed as their bits."""

def sift(scores: Matrix, errors: Matrix, length: float, rounding: float, least: float) -> tuple[Positions, Matrix]:
    """Positions with score + reach ≥ least, and their reach = length · error + rounding."""

def fill_gram(rows: Matrix, old: int, out: npt.NDArray[np.float32]) -> None:
    """out[i, j] = rows[i]·rows[j] for the rows from `old` on, with all rows before them and with each other."""

def inner_at(rows: Matrix, where: Positions, direction: Vector) -> Vector:
    """Inner products of some float32 rows with a direction, in float64. Copies of a row get the same number."""

def gather(
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

    score = scales[i] · factors[b] · Σ_j codes[i, j] · (packed[j // 4, b, j % 4] - 128). Rows and scores are added to
    the lists `positions` and `scores`, which hold `counts`. A list that is nearly full may lose the rows that cannot be
    among the keeps[b] best; its bar then rises, in place. It ends before a list could overflow, and returns the row to
    go on with.
    """

def read_rows(file: int, ids: Ids, base: int, out: Array) -> bool:
    """Read rows of a file that begin at byte `base` into `out`; whether all of them were there."""
