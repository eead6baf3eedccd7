"""The inner loops, in two implementations with one contract: `numba.py` (the extra `fast`) and `numpy.py`.

`current()` is the one to use; `contract.py` says what each function promises. Both take the same steps and decide by
numbers in float64, so a selection is the same with either, up to exact ties; only the time differs. No caller asks
which one it got.
"""

from __future__ import annotations

import logging
import os
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, cast

from breadth.kernels.contract import Kernels

NAMES = ("numba", "numpy")
_log = logging.getLogger("breadth")


@cache
def load(name: str) -> Kernels:
    """The kernels of one implementation. The first call of numba's may have to compile them.

    Where numba cannot be imported, or can keep compiled code nowhere, these are NumPy's, and a warning says so.
    """
    if name == "numba":
        try:
            return cast(Kernels, import_module("breadth.kernels.compiling").import_kernels())
        except (ImportError, OSError) as error:
            reason = " ".join(str(error).split())
            _log.warning("numba cannot be used (%s); NumPy does the same work, more slowly", reason)
            return load("numpy")
    return cast(Kernels, import_module(f"breadth.kernels.{name}"))


@cache
def choose() -> str:
    """The name of the kernels to use: numba's where it is installed, unless BREADTH_COMPILED=0 forbids it."""
    return "numpy" if os.environ.get("BREADTH_COMPILED") == "0" or find_spec("numba") is None else "numba"


def current() -> Kernels:
    """The kernels to use."""
    return load(choose())


def describe() -> dict[str, str]:
    """What does the work: the kernels, and how they scan codes for a batch of directions."""
    kernels = current()
    return {"kernels": kernels.NAME, "batches": _name_batches(kernels.CODED)}


@cache
def _name_batches(coded: int) -> str:
    return f"VNNI, {coded} directions" if coded else "float32"


def find_cache() -> str | None:
    """The folder where the compiled kernels are kept; None where NumPy does the work."""
    kernels: Any = current()
    return None if kernels.NAME == "numpy" else str(kernels.scan.stats.cache_path)


__all__ = ["NAMES", "Kernels", "choose", "current", "describe", "find_cache", "load"]
