from __future__ import annotations

import numpy as np
import pytest
from hypothesis import settings

settings.register_profile("breadth", deadline=None, max_examples=60, derandomize=True)
settings.load_profile("breadth")


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(7)
