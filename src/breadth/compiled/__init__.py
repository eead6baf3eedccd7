"""Compiled loops: there if numba is installed (the extra `fast`), else every caller has a NumPy way of its own.

`scan()` and `pool()` return the module of compiled functions, or None. The first call loads machine code from numba's
cache on disk, or makes it: functions have fixed types, so nothing is ever compiled inside a query.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any


@cache
def available() -> bool:
    """Whether numba is installed."""
    return find_spec("numba") is not None


@cache
def scan() -> Any:
    """`breadth.compiled.scans`, or None without numba."""
    return import_module("breadth.compiled.scans") if available() else None


@cache
def pool() -> Any:
    """`breadth.compiled.pools`, or None without numba."""
    return import_module("breadth.compiled.pools") if available() else None
