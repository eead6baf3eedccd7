"""The peers that are written from their publications, against the formulas written out naively."""

from __future__ import annotations

import math

import numpy as np
import pytest

from benchmarks.serve.peers import choose_by_adagres, choose_by_dartboard, choose_by_filter
from tests.synthetic import clustered, query_near


@pytest.fixture(scope="module", params=[0, 1, 2])
def pool(request):
    """Rows, most relevant first, and a query."""
    rng = np.random.default_rng(request.param)
    rows = clustered(rng, 40, 12, clusters=5, spread=0.5)
    query = query_near(rng, rows)
    return rows[np.argsort(-(rows @ query))].astype(np.float64), query.astype(np.float64)


@pytest.mark.parametrize("threshold", [0.6, 0.8, 0.95])
def test_the_filter_skips_exactly_the_rows_that_are_too_close_to_a_chosen_one(pool, threshold):
    E, q = pool
    chosen = list(choose_by_filter(E, E @ q, len(E), threshold))
    for place in range(len(E)):
        earlier = [one for one in chosen if one < place]
        assert (place in chosen) == all(E[one] @ E[place] < threshold for one in earlier)
    assert list(choose_by_filter(E, E @ q, 3, threshold)) == chosen[:3]


def test_dartboard_adds_the_row_with_the_largest_gain(pool):
    E, q = pool
    sigma = 0.2

    def density(a, b):
        return math.exp(-(((1 - float(a @ b)) / 2) ** 2) / (2 * sigma**2)) / (sigma * math.sqrt(2 * math.pi))

    def gain(rows):
        return sum(density(q, t) * max(density(E[i], t) for i in rows) for t in E)

    chosen = list(choose_by_dartboard(E, E @ q, 5, sigma))
    assert chosen[0] == 0
    for size in range(1, 5):
        gains = {i: gain([*chosen[:size], i]) for i in range(len(E)) if i not in chosen[:size]}
        assert gains[chosen[size]] == pytest.approx(max(gains.values()), rel=1e-9)


@pytest.mark.parametrize("k", [1, 2, 6])
def test_adagres_adds_the_row_with_the_largest_value(pool, k):
    E, q = pool
    n = len(E)
    similar = np.mean([E[i] @ E[j] for i in range(n) for j in range(i)])
    beta = np.mean(E @ q) / ((k - 1) / 2 * similar) if k > 1 else 0.0

    def value(rows):
        return sum(E[i] @ q for i in rows) - beta * sum(E[i] @ E[j] for i in rows for j in rows if i < j)

    chosen = list(choose_by_adagres(E, E @ q, k))
    assert len(set(chosen)) == k
    for size in range(k):
        values = {i: value([*chosen[:size], i]) for i in range(n) if i not in chosen[:size]}
        assert values[chosen[size]] == pytest.approx(max(values.values()), abs=1e-9)
