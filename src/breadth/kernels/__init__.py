"""Compiled loops: there if numba is installed (the extra `fast`), else every caller has a NumPy way of its own.

`scan()` and `pool()` return the module of compiled functions, or None. The first call loads machine code from numba's
cache on disk, or makes it: functions have fixed types, so nothing is ever compiled inside a query. Oracles call `load`
when they are made.
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
def available() -> bool:
    """Whether numba is installed, and not switched off by BREADTH_COMPILED=0."""
    return os.environ.get("BREADTH_COMPILED") != "0" and find_spec("numba") is not None


def load() -> None:
    """Have everything ready, so that no query waits for it."""
    scan()
    pool()


@cache
def scan() -> Any:
    """`breadth.kernels.scans`, or None without numba."""
    return _module("breadth.kernels.scans")


@cache
def pool() -> Any:
    """`breadth.kernels.pools`, or None without numba."""
    return _module("breadth.kernels.pools")


def _module(name: str) -> Any:
    if not available():
        return None
    # Loading takes half a second, compiling half a minute: say so before someone thinks that it hangs.
    notice = threading.Timer(_PATIENCE, _log.warning, ["compiling %s; this happens once, then it is cached", name])
    notice.daemon = True
    notice.start()
    try:
        return import_module(name)
    finally:
        notice.cancel()
