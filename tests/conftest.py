from __future__ import annotations

import numpy as np
import pytest
from hypothesis import settings

from breadth import kernels

settings.register_profile("breadth", deadline=None, max_examples=60, derandomize=True)
settings.load_profile("breadth")

pytest_plugins = ["tests.engines.exercised"]


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(7)


@pytest.fixture(params=kernels.NAMES)
def kernel(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The test runs once with each implementation of the kernels."""
    if request.param == "numba":
        pytest.importorskip("numba", reason="numba is not installed (the extra `fast`)")
    monkeypatch.setattr(kernels, "choose", lambda: request.param)
    return str(request.param)
