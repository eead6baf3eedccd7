"""Timing on a noisy machine: run what is compared in turn, round after round, and report ratios."""

from __future__ import annotations

import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

_PAUSE = 0.02
LONG_PAUSE = 0.25
"""Seconds to wait before each measurement. The threads of a BLAS keep spinning for a while after a large product, and
would slow down whatever comes next."""

LOOP = 0.01
"""Seconds for which a call on a small pool is repeated."""


@dataclass(frozen=True)
class Measured:
    """The ratio to the baseline of the same round: the median, with the quartiles `low` and `high`."""

    ratio: float
    low: float
    high: float
    milliseconds: float

    def as_dict(self) -> dict[str, float]:
        return {"ratio": self.ratio, "low": self.low, "high": self.high, "ms": self.milliseconds}

    def __str__(self) -> str:
        return f"{self.ratio:.2f} ({self.low:.2f}–{self.high:.2f})"


def in_turn(
    baseline: Callable[[], Any],
    others: dict[str, Callable[[], Any]],
    rounds: int,
    warm: bool = True,
    pause: float = _PAUSE,
    least: float = 0.0,
) -> dict[str, Measured]:
    """Time every callable once per round, after a warm-up, and return ratios to the baseline of the same round.

    The baseline is short, so its time in a round is the median of several runs between the others. `least`: run it
    again and again until so many seconds have passed, and take the time of a run; else the run after the pause counts,
    which finds caches and clocks cold.
    """
    for work in (baseline, *others.values()) if warm else (baseline,):
        work()
    ratios: dict[str, list[float]] = {name: [] for name in others}
    times: dict[str, list[float]] = {name: [] for name in others}
    bases: list[float] = []
    for _ in range(rounds):
        base = [_seconds(baseline, pause, least) for _ in range(3)]
        round_times = {}
        for name, work in others.items():
            round_times[name] = _seconds(work, pause, least)
            base.append(_seconds(baseline, pause, least))
        one = statistics.median(base)
        bases.append(one)
        for name, seconds in round_times.items():
            ratios[name].append(seconds / one)
            times[name].append(seconds)
    out = {name: _measured(ratios[name], times[name]) for name in others}
    out["plain top-k"] = _measured([b / statistics.median(bases) for b in bases], bases)
    return out


def _measured(ratios: list[float], seconds: list[float]) -> Measured:
    low, middle, high = np.quantile(ratios, [0.25, 0.5, 0.75])
    return Measured(float(middle), float(low), float(high), 1000 * statistics.median(seconds))


def _seconds(work: Callable[[], Any], pause: float, least: float) -> float:
    time.sleep(pause)
    if least > 0.0:
        work()
    start, runs = time.perf_counter(), 0
    while True:
        work()
        runs += 1
        spent = time.perf_counter() - start
        if spent >= least:
            return spent / runs


def machine() -> dict[str, Any]:
    """Describe the machine that the figures come from."""
    return {
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "numpy": np.__version__,
    }


def _cpu() -> str:
    try:
        with Path("/proc/cpuinfo").open(encoding="utf-8") as lines:
            return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or "unknown"


def progress(items: list[Any], label: str) -> Iterator[Any]:
    """Yield the items, and print a line to the error stream before each."""
    start = time.perf_counter()
    for number, item in enumerate(items, start=1):
        print(
            f"[{time.perf_counter() - start:6.0f} s] {label} {number}/{len(items)}: {item}", file=sys.stderr, flush=True
        )
        yield item
