"""Greedy over the rows of a pool, against the definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from breadth import Problem
from breadth.clock import NO_LIMIT, Clock
from breadth.solve.block import Block
from breadth.solve.pool import Pool
from breadth.solve.starts import pick_one, pick_sets, spread_firsts
from tests import dense
from tests.strategies import instances
from tests.synthetic import isotropic, query_near


def make_block(problem, rows):
    """A block of one row of a pool of these rows."""
    pool = Pool(problem, np.arange(len(rows)), rows, rows.astype(np.float64) @ problem.query, 0, -np.inf)
    return Block(pool, np.array([0]))


@pytest.mark.usefixtures("core")
@pytest.mark.parametrize("theta", [0.0, 0.3, 0.7, 1.0])
def test_several_starts_are_greedy_and_dispersion(rng, theta):
    """One call: greedy on F and max-sum dispersion from the most relevant row, and both from other rows."""
    E = isotropic(rng, 40, 12)
    exact = E.astype(np.float64)
    q = query_near(rng, exact)
    problem = Problem(q, 9, theta)
    top = int(np.argmax(exact @ q))
    shares = np.array([1.0, 0.5, 1.0, 0.0])
    sets = pick_sets(make_block(problem, E), np.array([top, top, 3, 17]), shares, NO_LIMIT)
    assert list(sets[0]) == dense.greedy(exact, exact @ q, 9, theta)
    assert list(sets[1]) == dense.msd(exact, exact @ q, 9, theta)
    for first, share, picks in zip((3, 17), shares[2:], sets[2:], strict=True):
        assert list(picks) == greedy_from(exact, exact @ q, problem, first, share)


def greedy_from(E, c, problem, first, share):
    picks = [first]
    while len(picks) < problem.k:
        rest = [i for i in range(len(E)) if i not in picks]
        linear = share * problem.theta * (problem.k - 1) * c
        picks.append(max(rest, key=lambda i: linear[i] - 2 * (1 - problem.theta) * float(E[i] @ E[picks].sum(axis=0))))
    return picks


@given(instances(), st.data())
def test_each_pick_has_the_largest_marginal_value(case, data):
    """Also with copies, and with relevance from outside."""
    outside = data.draw(st.booleans())
    rows = np.column_stack((case.E, case.c)) if outside else case.E
    problem = Problem.from_scores(case.E.shape[1], case.k, case.theta) if outside else case.problem()
    first = data.draw(st.integers(0, len(rows) - 1))
    count = data.draw(st.integers(1, case.k))
    (picks,) = pick_sets(make_block(problem, rows), np.array([first]), np.ones(1), NO_LIMIT, count)
    assert picks[0] == first
    assert len(set(picks.tolist())) == len(picks) == count
    for size in range(1, count):
        merits = rows @ problem.direction(rows[picks[:size]].sum(axis=0))
        merits[picks[:size]] = -np.inf
        assert merits[picks[size]] >= merits.max() - 1e-5


def test_there_are_no_sets_when_the_time_is_up(rng):
    E = isotropic(rng, 30, 8).astype(np.float64)
    block = make_block(Problem(query_near(rng, E), 7, 0.3), E)
    assert pick_sets(block, np.array([4]), np.ones(1), Clock(0.0)) == []
    assert len(pick_one(block, Clock(0.0))) == 0


@given(st.integers(1, 40), st.integers(1, 40))
def test_firsts_are_different_rows_half_of_them_the_most_relevant(size, count):
    relevance = np.random.default_rng(size).permutation(size) / 7.0
    firsts = spread_firsts(relevance, count)
    assert len(set(firsts.tolist())) == len(firsts) == min(count, size)
    near = (len(firsts) + 1) // 2
    assert list(relevance[firsts[:near]]) == sorted(relevance, reverse=True)[:near]
    if len(firsts) - near > 1:  # the others are spread as far as the least relevant row
        assert relevance[firsts[-1]] == relevance.min()
