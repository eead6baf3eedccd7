"""`breadth doctor`: what is installed, and whether it works."""

from __future__ import annotations

import platform
import sqlite3
from importlib.metadata import PackageNotFoundError, version

import breadth
from breadth import kernels
from breadth.cli import show
from breadth.cli.options import AsJson
from breadth.errors import hint_install

EXTRAS = {
    "text": ("tokenizers", "typer", "rich"),
    "fast": ("numba",),
    "plot": ("matplotlib",),
    "bm25": ("bm25s", "PyStemmer"),
    "parquet": ("pyarrow",),
    "measures": ("ir-measures", "pyndeval"),
    "pandas": ("pandas",),
    "polars": ("polars",),
    "torch": ("torch",),
    "sentence-transformers": ("sentence-transformers",),
    "model2vec": ("model2vec",),
    "openai": ("openai",),
    "onnx": ("onnxruntime", "tokenizers"),
}
"""The packages of every extra that a user may want."""


def doctor(as_json: AsJson = False) -> None:
    """Show versions, which extras are installed, how to get those that are not, and what does the work.

    The kernels are loaded, so problems with numba and its cache show here. The first time they are compiled.
    """
    found = {extra: {package: _find_version(package) for package in packages} for extra, packages in EXTRAS.items()}
    facts = {
        "breadth": breadth.__version__,
        "python": platform.python_version(),
        "numpy": _find_version("numpy"),
        "sqlite": sqlite3.sqlite_version,
    }
    name, folder = kernels.current().NAME, kernels.find_cache()
    if as_json:
        show.print_json({**facts, "extras": found, "kernels": name, "compiled_code": folder})
        return
    show.print_line("  ".join(f"{name} {value}" for name, value in facts.items()))
    show.print_line(f"inner loops: {name}" + (f", compiled code is kept in {folder}" if folder else ""))
    for extra, packages in found.items():
        complete = all(packages.values())
        what = ", ".join(f"{p} {v}" if v else f"{p} missing" for p, v in packages.items())
        show.print_line(f"{'yes' if complete else 'no ':3}  {extra:22} {what}")
    missing = [extra for extra, packages in found.items() if not all(packages.values())]
    if missing:
        show.print_line(f"For what is missing, {hint_install(','.join(missing))}")


def _find_version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
