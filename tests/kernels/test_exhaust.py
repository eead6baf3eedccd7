"""Going through all sets of a few rows, against brute force."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings

from tests.kernels import blocks

pytest.importorskip("numba", reason="numba is not installed (the extra `fast`)")

from breadth.kernels.compiled.exhaust import exhaust

EVER = 1 << 62


def find_best(case):
    """The largest value of a set."""
    return max(blocks.value(case, np.array(chosen)) for chosen in combinations(range(len(case)), case.k))


def go_through(case, value, least=0.0):
    """What `exhaust` says of a block, whose rows it sees in order of relevance; and the set, if it is a new one."""
    order = np.argsort(-case.linear, kind="stable")
    pairs = case.gram[: len(case), : len(case)].astype(np.float64)[np.ix_(order, order)]
    chosen = np.full(case.k, -1)
    found, decided = exhaust(case.linear[order], pairs, case.k, case.coupling, chosen, value, least, EVER)
    return found, decided, order[chosen] if chosen[0] >= 0 else None


several = blocks.blocks(max_n=12, ruled=False).filter(lambda case: case.k > 1)


@settings(max_examples=100, deadline=None)
@given(several)
def test_it_finds_the_best_set(case):
    best = find_best(case)
    found, decided, chosen = go_through(case, -np.inf)
    assert decided
    assert found == pytest.approx(best, abs=1e-9)
    assert len(set(chosen.tolist())) == case.k
    assert blocks.value(case, chosen) == pytest.approx(best, abs=1e-9)


@settings(max_examples=100, deadline=None)
@given(several)
def test_the_best_set_stays_and_another_one_does_not(case):
    best = find_best(case)
    assert go_through(case, best, least=1e-9)[1:] == (True, None)
    found, decided, chosen = go_through(case, best - 0.01, least=1e-9)
    assert decided
    assert blocks.value(case, chosen) == pytest.approx(found, abs=1e-9)
    assert found == pytest.approx(best, abs=1e-8)


def test_it_gives_up_after_so_many_looks(rng):
    cosines = np.triu(rng.uniform(size=(30, 30)), 1)
    linear, pairs, chosen = -np.sort(-rng.normal(size=30)), cosines + cosines.T, np.full(6, -1)
    value, decided = exhaust(linear, pairs, 6, 0.6, chosen, -np.inf, 0.0, 200)
    assert not decided
    best, decided = exhaust(linear, pairs, 6, 0.6, chosen, value, 0.0, EVER)
    assert decided
    assert best >= value
