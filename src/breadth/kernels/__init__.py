"""The inner loops, in two implementations with one contract: `numba.py` (the extra `fast`) and `numpy.py`.

`current()` is the module to use: numba's if it is installed, else NumPy's. Both take the same steps and decide by
numbers in float64, so a selection is the same with either, up to exact ties; only the time differs. No caller asks
which one it got. `tests/kernels` runs one suite on both.

On a block of rows, with `gram` their similarities (float32, perhaps with room for more rows than `linear` has),
`linear` their weighted relevance and `coupling` as in `breadth.problem`:

    prepare(rows)                               rows in the form that `inner` takes
    inner(rows, direction)                      inner products of prepared rows with one direction
    fill_gram(rows, old, gram)                  similarities of the rows from `old` on with all rows before them
    marginals(linear, gram, coupling, chosen)   the marginal value of every row for a set
    set_value(linear, gram, coupling, chosen)   F of a set
    greedy(linear, gram, coupling, first, picks)
        Fill `picks`: `first`, then each time the row with the largest marginal value.
    swap(linear, gram, coupling, chosen, least_gain, most) -> swaps done
        Exchange one member for one row outside, in place, while that gains more than `least_gain`: the best exchange
        first, `most` of them at most.
    tabu(linear, gram, coupling, chosen, current, merits, free_at, totals, now, iterations, least_gain)
        Make the best exchange in every iteration, gaining or not; rows that moved are held for some iterations
        (`free_at`). `current`, its `merits` (marginal values) and `totals` (what `current` and `chosen` have gained)
        are kept between calls, so that a search can be cut into calls; `chosen` becomes the best set met.
    relax(linear, gram, k, coupling, x, base, share, least, steps) -> gap, value
        Raise linear'x - coupling/2 · x'Gx over 0 ≤ x ≤ 1, 1'x = k, in place, by steps between pairs of entries: the
        one with the largest slope receives, the one that promises most gives. Stop after `steps`, or when the duality
        gap is at most `least`, or at most the `share` of what the value exceeds `base` by.

On rows of a whole collection:

    scan(rows, scales, directions, out)         out[b, i] = scales[i] · rows[i]·directions[b], for int8 or float32
    sift(scores, errors, length, rounding, least) -> positions, reaches
        Positions with score + reach ≥ least, where reach = length · error + rounding.
    read_rows(file, ids, base, out) -> complete rows of a file that begin at byte `base`, into `out`

STEPS_AT_ONCE   how many elementary steps a call may be asked for, so that a deadline can be kept between calls
SPREADS         whether `scan` uses one core, so that callers spread blocks over threads
"""

from __future__ import annotations

import logging
import os
import threading
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

_log = logging.getLogger("breadth")
_PATIENCE = 2.0


@cache
def load(name: str) -> Any:
    """The kernels of one implementation, "numba" or "numpy". The first call of numba's may have to compile them."""
    if name == "numpy":
        return import_module("breadth.kernels.numpy")
    # Loading takes half a second, compiling half a minute: say so before someone thinks that it hangs.
    notice = threading.Timer(_PATIENCE, _log.warning, ["compiling breadth's kernels; they are cached afterwards"])
    notice.daemon = True
    notice.start()
    try:
        return import_module("breadth.kernels.numba")
    finally:
        notice.cancel()


def current() -> Any:
    """The kernels to use: numba's where it is installed, unless BREADTH_COMPILED=0 in the environment forbids it."""
    return load(_choose())


@cache
def _choose() -> str:
    return "numpy" if os.environ.get("BREADTH_COMPILED") == "0" or find_spec("numba") is None else "numba"
