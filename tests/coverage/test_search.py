"""Greedy and exchanges against searches that look at everything."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from breadth.clock import Clock
from breadth.coverage.search import exchange, pick_greedily, rate_exchanges, search
from breadth.coverage.worth import measure, state_worth, weigh_targets
from tests.coverage.cases import CLOSE, cases, optimum
from tests.synthetic import clustered, query_near


@given(cases(max_n=14))
def test_greedy_takes_the_largest_gain_each_time(case):
    """A plain greedy that looks at everything; gains may tie, so they are compared, not the picks."""
    picks = pick_greedily(case.worth, case.k)
    assert len(set(picks.tolist())) == len(picks) == case.k
    for size, pick in enumerate(picks):
        value = measure(case.worth, picks[:size])
        gains = [measure(case.worth, np.append(picks[:size], i)) - value for i in range(len(case.S))]
        assert gains[pick] >= max(gains) - CLOSE


@given(cases(max_n=14))
def test_greedy_is_nested_and_close_to_the_optimum(case):
    picks = pick_greedily(case.worth, len(case.S))
    for k in range(1, len(case.S) + 1):
        assert pick_greedily(case.worth, k).tolist() == picks[:k].tolist()
    k = min(case.k, 4)
    assert measure(case.worth, picks[:k]) >= (1 - 1 / np.e) * optimum(case, k) - CLOSE


def test_greedy_on_many_rows_is_the_plain_one(rng):
    """More rows than greedy looks at together."""
    E = clustered(rng, 300, 16, clusters=30).astype(np.float64)
    worth = state_worth(E, E, weigh_targets(E @ query_near(rng, E)), 8)
    plain: list[int] = []
    reached = np.zeros(300)
    for _ in range(40):
        gains = np.maximum(worth - reached, 0).sum(axis=1)
        gains[plain] = -1
        plain.append(int(gains.argmax()))
        reached = np.maximum(reached, worth[plain[-1]])
    assert pick_greedily(worth, 40).tolist() == plain


def test_of_equal_rows_the_first_is_picked():
    worth = np.array([[0.2, 0.0], [0.5, 0.0], [0.5, 0.0], [0.0, 0.3], [0.0, 0.3]])
    assert pick_greedily(worth, 5).tolist() == [1, 3, 0, 2, 4]


@given(cases())
def test_the_gain_of_every_exchange_is_right(case):
    members = case.rng.permutation(len(case.S))[: case.k]
    value = measure(case.worth, members)
    gains = rate_exchanges(case.worth, members)
    for i in range(len(case.S)):
        for place in range(case.k):
            if i in members:
                assert gains[i, place] == -np.inf
            else:
                swapped = members.copy()
                swapped[place] = i
                assert gains[i, place] == pytest.approx(measure(case.worth, swapped) - value, abs=1e-12)


@given(cases())
def test_after_the_exchanges_no_exchange_gains(case):
    start = case.rng.permutation(len(case.S))[: case.k]
    before = start.copy()
    members = exchange(case.worth, start)
    assert start.tolist() == before.tolist()
    assert len(set(members.tolist())) == case.k
    value = measure(case.worth, members)
    assert value >= measure(case.worth, start) - CLOSE
    for place in range(case.k):
        for i in set(range(len(case.S))) - set(members.tolist()):
            swapped = members.copy()
            swapped[place] = i
            assert measure(case.worth, swapped) <= value + CLOSE


def test_without_time_the_first_rows_fill_the_set():
    worth = np.array([[0.1, 0.0], [0.2, 0.0], [0.0, 0.7]])
    assert search(worth, 2, Clock(0.0)).tolist() == [2, 0]
