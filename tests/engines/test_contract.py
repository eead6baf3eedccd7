"""One contract for every engine: `breadth.testing.check_oracle` on each store, with each kind of id that it takes.

The stores on servers are in `test_server_contract.py`, so that another process can run them.
"""

from __future__ import annotations

import asyncio
import importlib.metadata
import inspect
import re
import sys
from pathlib import Path

import pytest

from breadth import MissingExtraError
from breadth.engines.registry import ENGINES
from tests.engines.contract import keep_contract
from tests.engines.filtering import assert_filters_agree
from tests.engines.stores import STORES

IN_PROCESS = sorted(name for name, store in STORES.items() if store.serve is None)


def test_every_engine_has_a_store():
    assert {store.engine for store in STORES.values()} == set(ENGINES)


@pytest.mark.parametrize("store", IN_PROCESS, indirect=True)
def test_the_contract_is_kept(store, tmp_path):
    keep_contract(store, None, tmp_path)


FILTERED = (
    "faiss-flat",
    "usearch-hnsw",
    "lancedb-scan",
    "chroma-ip",
    "qdrant-memory",
    "qdrant_edge-scan",
    "milvus-lite",
)


@pytest.mark.parametrize("store", FILTERED, indirect=True)
def test_random_filters_leave_the_rows_that_match(store, tmp_path):
    assert_filters_agree(store, None, tmp_path)


@pytest.mark.parametrize("name", sorted(ENGINES))
def test_traits_are_those_of_the_adapter(name):
    engine = ENGINES[name]
    assert engine.open.__doc__
    assert engine.form.startswith((engine.scheme or engine.name) + ":")


@pytest.mark.parametrize("name", sorted(ENGINES))
def test_a_missing_package_is_named(name, monkeypatch):
    engine = ENGINES[name]
    project = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    declared = re.search(rf"^{re.escape(engine.extra)} = \[(.*)\]$", project, re.MULTILINE)
    assert declared is not None, f"pyproject.toml has no extra {engine.extra!r}"
    packages = {found.lower() for found in re.findall(r'"([\w-]+)', declared[1])}
    distributions = importlib.metadata.packages_distributions()
    for module, found in distributions.items():
        if packages & {one.lower() for one in found}:
            for loaded in [one for one in sys.modules if one.split(".")[0] == module]:
                monkeypatch.delitem(sys.modules, loaded)
            monkeypatch.setitem(sys.modules, module, None)
    for loaded in [one for one in sys.modules if one.startswith(f"breadth.engines.{name}")]:
        monkeypatch.delitem(sys.modules, loaded)  # it may hold the package
    for opener in filter(None, (engine.open, engine.aopen)):
        with pytest.raises(MissingExtraError, match=rf"\.\[{re.escape(engine.extra)}\]"):
            open_nowhere(opener)


def open_nowhere(opener):
    parameters = inspect.signature(opener).parameters.values()
    wanted = [p for p in parameters if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD]
    opened = opener(*("nowhere" for _ in wanted))
    if inspect.iscoroutine(opened):
        asyncio.run(opened)
