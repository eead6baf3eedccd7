"""The inner loops, in two implementations with one contract: `numba.py` (the extra `fast`) and `numpy.py`.

`current()` is the one to use; `contract.py` says what each function promises. Both take the same steps and decide by
numbers in float64, so a selection is the same with either, up to exact ties; only the time differs. No caller asks
which one it got.
"""

from __future__ import annotations

import logging
import os
import threading
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import cast

from breadth.kernels.contract import Kernels

NAMES = ("numba", "numpy")
_log = logging.getLogger("breadth")
_PATIENCE = 2.0


@cache
def load(name: str) -> Kernels:
    """The kernels of one implementation. The first call of numba's may have to compile them."""
    # Loading takes half a second, compiling half a minute: say so before someone thinks that it hangs.
    notice = threading.Timer(_PATIENCE, _log.warning, ["compiling breadth's kernels; they are cached afterwards"])
    notice.daemon = True
    notice.start()
    try:
        return cast(Kernels, import_module(f"breadth.kernels.{name}"))
    finally:
        notice.cancel()


@cache
def choose() -> str:
    """The name of the kernels to use: numba's where it is installed, unless BREADTH_COMPILED=0 forbids it."""
    return "numpy" if os.environ.get("BREADTH_COMPILED") == "0" or find_spec("numba") is None else "numba"


def current() -> Kernels:
    """The kernels to use."""
    return load(choose())


__all__ = ["NAMES", "Kernels", "choose", "current", "load"]
