"""One contract for every engine: `breadth.testing.check_oracle` on each store, with each kind of id that it takes.

The stores on servers are in `test_server_contract.py`, so that another process can run them.
"""

from __future__ import annotations

import pytest

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


@pytest.mark.parametrize("store", ["qdrant-memory", "qdrant_edge-scan", "milvus-lite"], indirect=True)
def test_random_filters_leave_the_rows_that_match(store, tmp_path):
    assert_filters_agree(store, None, tmp_path)


@pytest.mark.parametrize("name", sorted(ENGINES))
def test_traits_are_those_of_the_adapter(name):
    engine = ENGINES[name]
    assert engine.open.__doc__
    assert engine.form.startswith((engine.scheme or engine.name) + ":")
