"""Random histories agree with a model; `python -m benchmarks attack --part histories` runs many more."""

from __future__ import annotations

import pytest

from tests.index.histories import run_history


@pytest.mark.parametrize("seed", range(10))
def test_a_random_history_agrees_with_the_model(tmp_path, seed):
    assert run_history(tmp_path / "my.index", seed, 25) == []
