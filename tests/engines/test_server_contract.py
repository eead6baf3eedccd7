"""The contract of every engine on a server that is started for it."""

from __future__ import annotations

import time
from contextlib import closing

import numpy as np
import pytest

import breadth
from breadth import EngineError
from tests.engines.contract import keep_contract
from tests.engines.filtering import assert_filters_agree
from tests.engines.stores import STORES
from tests.synthetic import isotropic

SERVED = sorted(name for name, store in STORES.items() if store.serve is not None and not store.enclosed)


@pytest.mark.parametrize("store", SERVED, indirect=True)
def test_the_contract_is_kept(store, servers, tmp_path):
    keep_contract(store, servers(store), tmp_path)


@pytest.mark.parametrize("store", ["pgvector-scan", "milvus-server-flat"], indirect=True)
def test_random_filters_leave_the_rows_that_match(store, servers, tmp_path):
    assert_filters_agree(store, servers(store), tmp_path)


OPEN = {
    "chroma-server": lambda server, name: breadth.oracles.chroma(server.url, name, timeout=2.0),
    "milvus-server-flat": lambda server, name: breadth.oracles.milvus(server.url, name, timeout=2.0),
    "pgvector-scan": lambda server, name: breadth.oracles.pgvector(server.url, name, timeout=2.0),
}
WITHIN = 8.0
"""Seconds until the error must be there: the time limit, and what a busy machine adds."""


@pytest.mark.parametrize("store", sorted(OPEN), indirect=True)
def test_a_server_that_halts_or_ends_is_an_error_within_the_time_limit(store, servers, tmp_path, rng):
    """The last test of this file, since it ends the servers."""
    server, rows = servers(store), isotropic(rng, 60, 8)
    place = store.place(tmp_path, server)
    names = [f"doc {number}" for number in range(len(rows))]
    store.fill(place, rows, **({"keys": names} if "text" in store.keys and None not in store.keys else {})).close()
    with closing(OPEN[store.name](server, place.name)) as oracle:
        first = oracle.top(rows[:1].astype(np.float64), 5)[1]
        with server.halted():
            assert_engine_error(lambda: oracle.top(rows[:1].astype(np.float64), 5))
        np.testing.assert_allclose(oracle.top(rows[:1].astype(np.float64), 5)[1], first, atol=1e-6)
        server.kill()
        assert_engine_error(lambda: oracle.top(rows[:1].astype(np.float64), 5))
        assert_engine_error(lambda: breadth.select(oracle, rows[0], k=3))
    assert_engine_error(lambda: OPEN[store.name](server, place.name))


def assert_engine_error(ask) -> None:
    started = time.monotonic()
    with pytest.raises(EngineError):
        ask()
    assert time.monotonic() - started < WITHIN
