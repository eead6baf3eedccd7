"""Passes over many rows on several threads."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from breadth.oracles import CompactOracle, sweep
from tests.synthetic import clustered, unit


def test_every_number_is_visited_once(monkeypatch):
    monkeypatch.setenv("BREADTH_NUM_THREADS", "4")
    seen = np.zeros(100_000, dtype=np.int64)
    sweep.sweep(len(seen), 7_000, lambda start, stop: seen.__setitem__(slice(start, stop), seen[start:stop] + 1))
    assert (seen == 1).all()


def test_a_sweep_inside_another_stays_in_its_thread(monkeypatch):
    """If it waited for threads of the pool, which all may wait for one like it, nothing would ever end."""
    monkeypatch.setenv("BREADTH_NUM_THREADS", "4")
    names: dict[int, set[str]] = {}

    def visit(start: int, stop: int) -> None:
        outer = threading.current_thread().name
        inner: set[str] = set()
        sweep.sweep(50_000, 5_000, lambda *_: inner.add(threading.current_thread().name))
        assert inner == {outer}
        names[start] = inner

    sweep.sweep(64, 64, visit, least=4)
    assert len(names) == 4


@pytest.mark.parametrize("count", [1, 7, 40])
def test_many_directions_find_what_each_finds_alone(rng, count):
    rows = clustered(rng, 9_000, 32)
    oracle = CompactOracle.build(rows)
    directions = unit(rng.standard_normal((count, 32)))
    ids, scores = oracle.top(directions, 20)
    for j, direction in enumerate(directions):
        alone, alone_scores = oracle.top(direction[None], 20)
        assert ids[j].tolist() == alone[0].tolist()
        assert scores[j] == pytest.approx(alone_scores[0], abs=1e-12)
