"""One contract for every engine: `breadth.testing.check_oracle` on each store, with each kind of id that it takes."""

from __future__ import annotations

import pytest

from breadth.engines.registry import ENGINES
from breadth.testing import check_oracle
from tests.engines.stores import STORES


def test_every_engine_has_a_store():
    assert {store.engine for store in STORES.values()} == set(ENGINES)


def test_the_contract_is_kept(store, servers, tmp_path):
    server = servers(store)
    for keys in store.keys:

        def fill(rows, **more):
            return store.fill(store.place(tmp_path, server), rows, **more)

        report = check_oracle(fill, keys=keys, metadata=store.metadata, **store.options)
        assert {"queries", "directions", "rows", "default selection", "constraints"} <= set(report.passed)
        assert ("sharpness 1" in report.passed) == store.exact
        assert ("filters" in report.passed) == (store.metadata and ENGINES[store.engine].filters)
        assert ("mean" in report.passed) == ENGINES[store.engine].mean
        assert store.exact or ("audit" in report.passed) == ENGINES[store.engine].audits


@pytest.mark.parametrize("name", sorted(ENGINES))
def test_traits_are_those_of_the_adapter(name):
    engine = ENGINES[name]
    assert engine.open.__doc__
    assert engine.form.startswith((engine.scheme or engine.name) + ":")
