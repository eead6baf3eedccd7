"""What is special to wrappers: counts, what is cached and what is dropped."""

from __future__ import annotations

import pickle
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from breadth import ArrayOracle, CachingOracle, CountingOracle, InputError
from breadth.oracles import describe
from tests.synthetic import isotropic


class SearchOnly:
    """An engine with the bare protocol: none of the optional abilities."""

    exact = False

    def __init__(self, E):
        self._inner = ArrayOracle(E)
        self.size, self.dim = self._inner.size, self._inner.dim
        self.top, self.rows, self.mean = self._inner.top, self._inner.rows, self._inner.mean


@pytest.fixture
def E(rng):
    return isotropic(rng, 50, 6)


@pytest.mark.parametrize("wrap", [CountingOracle, CachingOracle])
def test_asking_again_gives_the_same_answer(E, rng, wrap):
    plain, wrapped = ArrayOracle(E), wrap(ArrayOracle(E))
    W = rng.standard_normal((2, 6))
    for _ in range(2):
        for m in (9, 4):
            for ours, theirs in zip(wrapped.top(W, m), plain.top(W, m), strict=True):
                np.testing.assert_array_equal(ours, theirs)
                ours[:] = 0  # an answer belongs to the caller
        ids = np.array([4, 4, 49, 0])
        np.testing.assert_array_equal(wrapped.rows(ids), plain.rows(ids))
        wrapped.rows(ids)[:] = 0
        np.testing.assert_array_equal(wrapped.mean(), plain.mean())


@pytest.mark.parametrize("wrap", [CountingOracle, CachingOracle])
def test_rows_of_unknown_length_stay_so(E, wrap):
    assert describe(wrap(SearchOnly(E))) == describe(SearchOnly(E))
    assert describe(SearchOnly(E)).max_squared_norm == pytest.approx(1.002, abs=1e-4)


@pytest.mark.parametrize("wrap", [CountingOracle, CachingOracle])
@pytest.mark.parametrize("engine", [SearchOnly, ArrayOracle])
def test_a_wrapper_can_be_pickled(E, rng, wrap, engine):
    wrapped = wrap(engine(E))
    wrapped.top(E[:1], 3)
    again = pickle.loads(pickle.dumps(wrapped))
    assert describe(again) == describe(wrapped)
    for ours, theirs in zip(again.top(E[:2], 5), wrapped.top(E[:2], 5), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_counting(E):
    counting = CountingOracle(ArrayOracle(E))
    counting.top(E[:3], 5)
    counting.scores(E[:1])
    counting.rows(np.arange(7))
    counting.mean()
    assert (counting.searches, counting.directions, counting.rows_fetched, counting.means) == (2, 4, 7, 1)


def test_caching_asks_only_once(E):
    counting = CountingOracle(ArrayOracle(E))
    caching = CachingOracle(counting, max_rows=3, max_searches=1)
    for m in (5, 3, 5):
        caching.top(E[:2], m)
    assert counting.searches == 1
    caching.top(E[:2], 6)
    caching.top(E[1:2], 6)
    caching.top(E[:2], 6)
    assert counting.searches == 4  # a larger m, another direction, and the first again: only one search is kept
    caching.rows(np.array([1, 2, 1]))
    caching.rows(np.array([2, 1]))
    assert counting.rows_fetched == 2
    caching.rows(np.array([3, 4, 5, 1]))
    assert counting.rows_fetched == 5
    caching.mean()
    caching.mean()
    assert counting.means == 1
    caching.clear()
    caching.mean()
    assert counting.means == 2


def test_caching_limits_are_checked(E):
    with pytest.raises(InputError, match="max_rows must be at least 1, got 0"):
        CachingOracle(ArrayOracle(E), max_rows=0)


def test_limits_hold_for_outside_scores_too(E):
    counting = CountingOracle(ArrayOracle(E).with_scores(np.ones(50)))

    class Scored(SearchOnly):
        def with_scores(self, scores):
            return counting

    scored = CachingOracle(Scored(E), max_rows=2, max_searches=1).with_scores(np.ones(50))
    for _ in range(2):
        scored.rows(np.arange(4))
    assert counting.rows_fetched == 8 - 2


def test_threads_share_a_small_cache_and_a_count(E, rng):
    """With room for little, one thread drops what another one is about to read."""
    counting = CountingOracle(ArrayOracle(E))
    caching = CachingOracle(counting, max_rows=2, max_searches=2)
    plain = ArrayOracle(E)
    asked = [(rng.integers(50, size=4), E[[int(rng.integers(4))]]) for _ in range(2000)]

    def ask(question):
        ids, direction = question
        counting.mean()
        return np.array_equal(caching.rows(ids), plain.rows(ids)) and np.array_equal(
            caching.top(direction, 3)[0], plain.top(direction, 3)[0]
        )

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as threads:
            assert all(threads.map(ask, asked))
    finally:
        sys.setswitchinterval(interval)
    assert counting.means == 2000
    assert len(caching._kept_rows) <= 2
