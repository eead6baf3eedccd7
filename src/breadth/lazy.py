"""Names of a package that are imported when they are first used."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def look_up(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a package whose names live in these modules; a name that is a module is its own home."""

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = import_module(homes[name])
        found = home if homes[name] == f"{package}.{name}" and not hasattr(home, name) else getattr(home, name)
        setattr(sys.modules[package], name, found)
        return found

    return find
