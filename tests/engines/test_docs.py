"""The pages of the engines cannot drift: the table is the registry's, every engine has a page, and code runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from breadth.engines.reference import write_table
from breadth.engines.registry import ENGINES
from tests.engines.pages import PAGES, run_code

DOCS = Path(__file__).parents[2] / "docs"
IN_PROCESS = ("faiss", "usearch", "lancedb", "chroma", "milvus", "qdrant", "qdrant_edge", "your-own")
"""Pages whose code runs without a server; the others are run in the tests of their engines."""


def test_the_table_is_written_from_the_registry():
    assert write_table() in (DOCS / "engines.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", sorted(ENGINES))
def test_every_engine_has_a_page(name):
    page = PAGES[name].read_text(encoding="utf-8")
    engine = ENGINES[name]
    assert f"'.[{engine.extra}]'" in page
    assert engine.form in page
    assert f"breadth.oracles.{name}(" in page
    assert "## What is exact" in page
    assert "## Limits" in page


@pytest.mark.parametrize("name", IN_PROCESS)
def test_the_code_runs(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_code(name)


def test_an_adapter_fits_into_forty_lines():
    page = PAGES["your-own"].read_text(encoding="utf-8")
    adapter = re.search(r"```python\n(.*?)\n\n\nindex = ", page, re.DOTALL)
    assert adapter is not None
    assert len(adapter[1].splitlines()) <= 40
