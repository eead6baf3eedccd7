"""`breadth info`, `export`, `delete` and `check`: what a team does with an index beside searching it."""

from __future__ import annotations

from breadth.cli.options import AsJson, IndexPath


def info(index_path: IndexPath, as_json: AsJson = False) -> None:
    """x"""


def export(index_path: IndexPath, as_json: AsJson = False) -> None:
    """x"""


def delete(index_path: IndexPath, as_json: AsJson = False) -> None:
    """x"""


def check(index_path: IndexPath, as_json: AsJson = False) -> None:
    """x"""
