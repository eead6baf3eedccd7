from __future__ import annotations

import numpy as np
import pytest
from hypothesis import settings

from tests import cores

settings.register_profile("breadth", deadline=None, max_examples=60, derandomize=True)
settings.load_profile("breadth")

pytest_plugins = ["tests.engines.exercised"]

SLOW = (
    "tests/benchmarks_serve/test_summary.py::test_the_shipped_collection",
    "tests/solve/test_certified.py::test_it_never_loses",
    "tests/solve/test_constraints.py::test_all_paths_agree",
    "tests/solve/test_time_limits.py",
    "tests/cli/test_cli.py::test_a_diagnosis",
    "tests/cli/test_hostile_files.py",
    "tests/experiments/test_commands.py",
    "tests/index/test_index.py::test_killed",
    "tests/release/test_deployment.py::test_the_service_runs",
    "tests/release/test_distributions.py::test_the_wheel_works",
    "tests/test_docs.py::test_the_experiments_page_runs",
    "tests/test_docs.py::test_the_tutorial_runs",
    "tests/test_without_core.py",
)
"""Tests, by the beginning of their names, that take half the time of all: `make test-fast` leaves them out."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.nodeid.startswith(SLOW):
            item.add_marker("slow")


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(7)


@pytest.fixture(params=cores.NAMES)
def core(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The test runs once with the compiled core and once with NumPy instead of it."""
    cores.use(request.param, monkeypatch)
    return str(request.param)
