"""The smallest set that reaches a share, against brute force; and what is claimed where the search is not perfect."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from breadth import InputError
from breadth.clock import Clock
from breadth.coverage.dual import solve
from breadth.coverage.search import pick_greedily
from breadth.coverage.smallest import find_smallest
from breadth.coverage.worth import measure, measure_prefixes, state_worth, weigh_targets
from tests.coverage.cases import CLOSE, cases, optimum
from tests.synthetic import clustered, query_near


@given(cases(max_n=8), st.floats(0, 1), st.integers(1, 8))
def test_the_smallest_set_against_brute_force(case, share, max_k):
    max_k = min(max_k, len(case.S))
    found = find_smallest(case.worth, share, max_k)
    best = [optimum(case, k) for k in range(1, max_k + 1)]
    enough = [k for k, value in enumerate(best, start=1) if value >= share - 1e-12]
    assert found.coverage == pytest.approx(measure(case.worth, found.chosen))
    assert len(set(found.chosen.tolist())) == found.k <= max_k
    assert found.bound >= best[found.k - 1] - CLOSE
    if found.reached:
        assert found.coverage >= share - 1e-11
        assert found.k >= enough[0]
        if found.minimal:
            assert found.k == enough[0]
    else:
        assert found.k == max_k
        assert found.coverage < share
        if found.minimal:
            assert not enough


@pytest.mark.parametrize("share", [0.3, 0.6, 0.9, 1.0])
def test_the_smallest_set_on_topics_is_proved_minimal(rng, share):
    E = clustered(rng, 60, 16, clusters=12, spread=0.3).astype(np.float64)
    worth = state_worth(E, E, weigh_targets(E @ query_near(rng, E)), 8)
    found = find_smallest(worth, share, 60)
    assert found.reached
    assert found.minimal
    assert solve(worth, found.k - 1).bound < share if found.k > 1 else True
    assert f"{found.k} passages stand for {found.coverage:.1%}" in found.describe()
    assert "no fewer could reach" in found.describe()


def test_exchanges_take_the_smallest_set_below_greedys():
    """Greedy takes the row in the middle first and then needs both others as well."""
    worth = np.array([[0.25, 0.25, 0.0, 0.0], [0.0, 0.0, 0.25, 0.25], [0.2, 0.2, 0.2, 0.2]])
    assert pick_greedily(worth, 3).tolist() == [2, 0, 1]
    assert measure_prefixes(worth, pick_greedily(worth, 3))[1] < 1
    found = find_smallest(worth, 1.0, 3)
    assert sorted(found.chosen.tolist()) == [0, 1]
    assert (found.k, found.reached, found.minimal) == (2, True, True)


def test_too_few_rows_are_said_to_be_too_few():
    worth = np.diag([0.4, 0.3, 0.2, 0.1])
    found = find_smallest(worth, 0.95, 2)
    assert (found.k, found.reached, found.minimal) == (2, False, True)
    assert found.coverage == pytest.approx(0.7)
    assert found.describe() == (
        "2 passages stand for 70.0% of the relevant material, which does not reach 95.0%, and no more are allowed; "
        "no other set would reach it"
    )
    assert find_smallest(worth, 0.7, 2).reached
    assert find_smallest(worth, 0.0, 2).k == 1


@pytest.mark.parametrize(
    ("share", "max_k", "message"),
    [
        (1.1, 2, r"share must be in \[0, 1\], got 1.1"),
        (-0.1, 2, r"share must be in \[0, 1\]"),
        (0.5, 0, "max_k must be at least 1, got 0"),
        (0.5, 5, r"max_k must be at most the number of candidates \(4\), got 5"),
    ],
)
def test_wrong_shares_and_sizes(share, max_k, message):
    with pytest.raises(InputError, match=message):
        find_smallest(np.eye(4) / 4, share, max_k)


@given(cases(max_n=12))
def test_without_time_the_bound_still_holds(case):
    found = solve(case.worth, case.k, Clock(0.0))
    assert found.stopped
    assert len(set(found.chosen.tolist())) == case.k
    assert found.bound >= optimum(case, case.k) - CLOSE
    few = find_smallest(case.worth, 0.8, case.k, Clock(0.0))
    assert few.stopped
    assert few.k <= case.k
    if few.minimal:
        unreachable = few.k - 1 if few.reached else case.k
        assert unreachable == 0 or optimum(case, unreachable) < 0.8


def yes_or_no(seed):
    """A candidate stands for a target or does not. The search misses the optimum for these seeds."""
    rng = np.random.default_rng(seed)
    rng.integers(3, 6)
    return (rng.random((12, 10)) < 0.3) / 10


@pytest.mark.parametrize(("seed", "missed"), [(333, 0.7), (2102, 0.9), (2850, 1.0)])
def test_where_the_search_misses_the_optimum_nothing_wrong_is_claimed(seed, missed):
    worth = yes_or_no(seed)
    best = max(measure(worth, np.array(some)) for some in combinations(range(12), 3))
    assert best == pytest.approx(missed)
    found = solve(worth, 3)
    assert found.coverage < best - 0.05
    assert best - CLOSE <= found.bound <= best + 1e-4
    few = find_smallest(worth, missed, 12)
    assert (few.k, few.reached, few.minimal) == (4, True, False)
    assert "perhaps fewer could reach" in few.describe()
    at_most = find_smallest(worth, missed, 3)
    assert (at_most.k, at_most.reached, at_most.minimal) == (3, False, False)
    assert at_most.describe().endswith("and no more are allowed")
