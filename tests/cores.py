"""What does the work: the compiled core, or NumPy instead."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType

import pytest

from breadth.native import describe, fallback

NAMES = ("compiled", "numpy")
IS_COMPILED = describe() == "compiled"
NOT_BUILT = "the compiled core was not built: there was no compiler, or BREADTH_COMPILED=0"
needs_compiled = pytest.mark.skipif(not IS_COMPILED, reason=NOT_BUILT)


def load(name: str) -> ModuleType:
    """One of the two; the test is skipped if it is not there."""
    if name == "numpy":
        return fallback
    if not IS_COMPILED:
        pytest.skip(NOT_BUILT)
    return import_module("breadth.native._core")


def use(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let one of the two do the work, everywhere."""
    wanted = load(name)
    for module in list(sys.modules.values()):
        if module.__name__.startswith("breadth.") and isinstance(getattr(module, "core", None), ModuleType):
            monkeypatch.setattr(module, "core", wanted)
