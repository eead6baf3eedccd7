"""`breadth doctor`: what is installed, and whether it works."""

from __future__ import annotations

import platform
import re
import sqlite3
from importlib.metadata import PackageNotFoundError, requires, version

import breadth
from breadth import native
from breadth.cli import console
from breadth.cli.options import AsJson
from breadth.errors import hint_install

CORE = {
    "compiled": "core: compiled",
    "numpy": "core: NumPy, which is slower. Install breadth where there is a C++ compiler to have it compiled.",
}
_OURS = ("bench", "dev")
"""Extras for those who work on the package."""


def doctor(as_json: AsJson = False) -> None:
    """Show versions, which extras are installed, how to get those that are not, and whether the core is compiled."""
    extras = list_extras()
    found = {extra: {package: _find_version(package) for package in packages} for extra, packages in extras.items()}
    facts = {
        "breadth": breadth.__version__,
        "python": platform.python_version(),
        "numpy": _find_version("numpy"),
        "sqlite": sqlite3.sqlite_version,
    }
    core = native.describe()
    if as_json:
        console.print_json({**facts, "extras": found, "core": core})
        return
    console.print_line("  ".join(f"{name} {value}" for name, value in facts.items()))
    console.print_line(CORE[core])
    for extra, packages in found.items():
        complete = all(packages.values())
        what = ", ".join(f"{p} {v}" if v else f"{p} missing" for p, v in packages.items())
        console.print_line(f"{'yes' if complete else 'no ':3}  {extra:22} {what}")
    missing = [extra for extra, packages in found.items() if not all(packages.values())]
    if missing:
        console.print_line(f"For what is missing, {hint_install(','.join(missing))}")


def list_extras() -> dict[str, list[str]]:
    """The packages of every extra that a user may want, as the installed package declares them."""
    try:
        declared = requires("breadth") or []
    except PackageNotFoundError:  # it runs from a folder that is not installed
        return {}
    extras: dict[str, list[str]] = {}
    for line in declared:
        found = re.search(r"""^([\w.-]+).*; extra == ['"]([\w-]+)['"]""", line)
        if found is not None and found[2] not in _OURS:
            extras.setdefault(found[2], []).append(found[1])
    return extras


def _find_version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
