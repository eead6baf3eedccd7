"""The contract of one store: which of the checks it must pass."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from breadth.engines.registry import ENGINES
from breadth.testing import check_oracle
from tests.engines.stores import Store


def keep_contract(store: Store, server: Any, folder: Path) -> None:
    """Check a store with each kind of id that it takes."""
    for keys in store.keys:

        def fill(rows, **more):
            return store.fill(store.place(folder, server), rows, **more)

        report = check_oracle(fill, keys=keys, metadata=store.metadata, **store.options)
        assert {"queries", "directions", "rows", "default selection", "constraints"} <= set(report.passed)
        assert ("sharpness 1" in report.passed) == store.exact
        assert ("filters" in report.passed) == (store.metadata and ENGINES[store.engine].filters)
        assert store.exact or ("audit" in report.passed) == ENGINES[store.engine].audits
        if "mean" in report.passed or "mean" in report.skipped:
            assert ("mean" in report.passed) == ENGINES[store.engine].mean
