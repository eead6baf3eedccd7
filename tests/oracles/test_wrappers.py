from __future__ import annotations

import numpy as np
import pytest

from breadth import ArrayOracle, CachingOracle, CountingOracle, InputError
from breadth.oracles import ScoringOracle, describe
from tests.synthetic import isotropic


class SearchOnly:
    """An engine with the bare protocol."""

    exact = False

    def __init__(self, E):
        self._inner = ArrayOracle(E)
        self.size, self.dim = self._inner.size, self._inner.dim
        self.top, self.rows, self.mean = self._inner.top, self._inner.rows, self._inner.mean


@pytest.fixture
def E(rng):
    return isotropic(rng, 50, 6)


@pytest.mark.parametrize("wrap", [CountingOracle, CachingOracle])
def test_a_wrapper_answers_like_what_it_wraps(E, rng, wrap):
    plain, wrapped = ArrayOracle(E), wrap(ArrayOracle(E))
    W = rng.standard_normal((2, 6))
    for _ in range(2):
        for m in (9, 4):
            for ours, theirs in zip(wrapped.top(W, m), plain.top(W, m), strict=True):
                np.testing.assert_array_equal(ours, theirs)
        ids = np.array([4, 4, 49, 0])
        np.testing.assert_array_equal(wrapped.rows(ids), plain.rows(ids))
        np.testing.assert_array_equal(wrapped.rows(ids[:0]), plain.rows(ids[:0]))
        np.testing.assert_array_equal(wrapped.mean(), plain.mean())
        np.testing.assert_array_equal(wrapped.scores(W), plain.scores(W))
    assert describe(wrapped) == describe(plain)


@pytest.mark.parametrize("wrap", [CountingOracle, CachingOracle])
def test_a_wrapper_claims_no_ability_it_does_not_have(E, wrap):
    wrapped = wrap(SearchOnly(E))
    assert not isinstance(wrapped, ScoringOracle)
    assert wrapped.exact is False
    assert describe(wrapped).max_squared_norm == pytest.approx(1.002, abs=1e-4)


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
