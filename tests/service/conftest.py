"""An index of medical passages, and a server for it."""

from __future__ import annotations

import pytest

from breadth.index import Index
from breadth.service.settings import Settings
from tests.service.passages import documents
from tests.service.running import serving


@pytest.fixture(scope="package")
def index_path(tmp_path_factory):
    path = tmp_path_factory.mktemp("service") / "medical.index"
    with Index.create(path) as index:
        index.add(documents())
    return path


@pytest.fixture(scope="package")
def running(index_path):
    with serving(Settings(str(index_path), name="medical", port=0)) as started:
        yield started
