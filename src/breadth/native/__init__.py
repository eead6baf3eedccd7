"""The compiled core: the block solver and the scans, in C++. Where it was not built, NumPy does the same work.

    solve.cpp, sets.cpp, bounds.cpp, diagonals.cpp   the best set of a block of rows, and its bound
    scan.cpp, lines.cpp                              rows times directions
    bindings.cpp                                     checks and conversions
    fallback.py                                      NumPy instead: a smaller search, valid sets and bounds

`core` is what does the work. `_core.pyi` has its names and what they promise. No caller asks which of the two it got;
`describe` is for people. The environment variable BREADTH_COMPILED=0 chooses NumPy.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from breadth.native import _core as core
else:
    try:
        if os.environ.get("BREADTH_COMPILED") == "0":
            raise ImportError
        from breadth.native import _core as core
    except ImportError:
        from breadth.native import fallback as core


def describe() -> str:
    """What does the work: "compiled" or "numpy"."""
    return "compiled" if core.__name__.endswith("_core") else "numpy"


__all__ = ["core", "describe"]
