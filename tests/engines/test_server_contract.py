"""The contract of every engine on a server that is started for it."""

from __future__ import annotations

import pytest

from tests.engines.contract import keep_contract
from tests.engines.filtering import assert_filters_agree
from tests.engines.stores import STORES

SERVED = sorted(name for name, store in STORES.items() if store.serve is not None and not store.enclosed)


@pytest.mark.parametrize("store", SERVED, indirect=True)
def test_the_contract_is_kept(store, servers, tmp_path):
    keep_contract(store, servers(store), tmp_path)


@pytest.mark.parametrize("store", ["pgvector-scan", "milvus-server-flat"], indirect=True)
def test_random_filters_leave_the_rows_that_match(store, servers, tmp_path):
    assert_filters_agree(store, servers(store), tmp_path)
