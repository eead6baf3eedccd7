"""A clock on the wall for tests of time limits."""

from __future__ import annotations

import time

import pytest


class Wall:
    """Takes the place of `time.perf_counter`. Every look at it takes `tick` seconds, 0 unless set."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, tick: float = 0.0) -> None:
        self.now, self.tick, self.looks = 0.0, tick, 0
        monkeypatch.setattr(time, "perf_counter", self._look)

    def pass_time(self, seconds: float) -> None:
        """Let some time pass."""
        self.now += seconds

    def _look(self) -> float:
        self.looks += 1
        self.now += self.tick
        return self.now
