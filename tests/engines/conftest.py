"""Servers that several tests share, and what says which engine a test has exercised."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.engines.servers.enclosure import is_inside
from tests.engines.stores import STORES

collect_ignore = [] if is_inside() else ["enclosed"]
"""What must run in an enclosure is collected there alone; `test_ray.py` runs it."""


def pytest_collection_modifyitems(items):
    """Everything in this folder needs an engine."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker("engine")


@pytest.fixture(scope="session")
def servers(tmp_path_factory):
    """`servers(store)` starts the server of a store, once for all tests, and returns what reaches it."""
    running: dict[object, object] = {}
    with ExitStack() as stack:

        def start(store):
            if store.serve not in running:
                running[store.serve] = stack.enter_context(store.started(tmp_path_factory.mktemp(store.engine)))
            return running[store.serve]

        yield start


@pytest.fixture
def store(request, record_property):
    """The store of this name; the run then says that its engine was exercised."""
    found = STORES[request.param]
    record_property("engine", found.engine)
    return found
