"""The kernels as compiled loops (the extra `fast`). `breadth.kernels` says what each of them promises.

Sums that decide something are taken in float64, so that these loops and `breadth.kernels.numpy` decide alike. All loops
use one thread and release the GIL.
"""

from __future__ import annotations

from breadth.kernels import numpy as plain
from breadth.kernels.compiled import vnni
from breadth.kernels.compiled.bounds import dominate, judge, relax
from breadth.kernels.compiled.choose import choose
from breadth.kernels.compiled.choose_plain import choose_plain
from breadth.kernels.compiled.products import combine, fill_gram, inner, inner_at, multiply_pairs
from breadth.kernels.compiled.scans import read_rows, scan, sift
from breadth.kernels.compiled.sets import greedy, marginals, set_value, swap, tabu, try_starts
from breadth.kernels.compiled.settle import settle

NAME = "numba"
STEPS_AT_ONCE = 1 << 21
"""Elementary steps that one call may take: a few milliseconds."""
SPREADS = True
CODED = vnni.TOGETHER
gather = vnni.gather if CODED else plain.gather

__all__ = [
    "CODED",
    "NAME",
    "SPREADS",
    "STEPS_AT_ONCE",
    "choose",
    "choose_plain",
    "combine",
    "dominate",
    "fill_gram",
    "gather",
    "greedy",
    "inner",
    "inner_at",
    "judge",
    "marginals",
    "multiply_pairs",
    "read_rows",
    "relax",
    "scan",
    "set_value",
    "settle",
    "sift",
    "swap",
    "tabu",
    "try_starts",
]
