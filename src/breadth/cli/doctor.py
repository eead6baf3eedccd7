"""`breadth doctor`: what is installed."""

from __future__ import annotations

import platform
import sqlite3
from importlib.metadata import PackageNotFoundError, version

import breadth
from breadth.cli import show
from breadth.cli.options import AsJson

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
    """Show versions, which extras are installed, and how to get those that are not."""
    found = {extra: {package: _find_version(package) for package in packages} for extra, packages in EXTRAS.items()}
    facts = {
        "breadth": breadth.__version__,
        "python": platform.python_version(),
        "numpy": _find_version("numpy"),
        "sqlite": sqlite3.sqlite_version,
    }
    if as_json:
        show.print_json({**facts, "extras": found})
        return
    show.out.print("  ".join(f"{name} {value}" for name, value in facts.items()))
    for extra, packages in found.items():
        complete = all(packages.values())
        what = ", ".join(f"{p} {v}" if v else f"{p} missing" for p, v in packages.items())
        hint = "" if complete else f"   pip install '.[{extra}]'"
        show.out.print(f"{'yes' if complete else 'no ':3}  {extra:22} {what}{hint}", soft_wrap=True)


def _find_version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
