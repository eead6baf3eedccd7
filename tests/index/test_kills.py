"""kill -9 at any moment loses nothing that was reported; `python -m benchmarks attack --part kills` does it often."""

from __future__ import annotations

import pytest

from tests.index.kills import create, kill_while


@pytest.mark.parametrize("what", ["add", "update", "delete", "optimize"])
def test_nothing_that_was_reported_is_lost(tmp_path, rng, what):
    path = tmp_path / "my.index"
    create(path)
    for round_ in range(2):
        assert kill_while(path, what, round_ + 1, float(rng.uniform(0.0, 0.15))) == []
