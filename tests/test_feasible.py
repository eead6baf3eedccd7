"""Which sets are allowed: k different rows, and what rules, parts and constraints say, against every set there is."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from breadth.feasible import (
    AnyRows,
    Parts,
    Rules,
    allows,
    best_sum,
    find_parts,
    free_rules,
    may_add,
    may_exchange,
    one_part,
)

scores_with_ties = st.lists(st.integers(-3, 3), min_size=1, max_size=9).map(lambda s: np.array(s) / 4)


@given(scores_with_ties, st.data())
def test_the_best_set_has_the_largest_sum(scores, data):
    k = data.draw(st.integers(1, len(scores)))
    allowed = AnyRows(k)
    best = allowed.best(scores)
    largest = max(scores[list(S)].sum() for S in combinations(range(len(scores)), k))
    assert len(set(best.tolist())) == k
    assert scores[best].sum() == pytest.approx(largest)
    assert allowed.best_sum(scores) == pytest.approx(largest)
    assert list(best) == sorted(best, key=lambda i: (-scores[i], i))
    out = np.setdiff1d(np.arange(len(scores)), best)
    assert all(scores[i] < scores[best[-1]] or i > best[-1] for i in out)  # of equal scores the earlier row


@given(scores_with_ties, st.sampled_from([-0.01, 0.0, 0.01]), st.data())
def test_one_more_row_changes_the_best_sum_only_above_the_threshold(scores, over, data):
    allowed = AnyRows(data.draw(st.integers(1, len(scores))))
    one_more = allowed.threshold(scores) + over
    raised = allowed.best_sum(np.append(scores, one_more)) > allowed.best_sum(scores) + 1e-12
    assert raised == (over > 0)


def test_sums_of_float32_scores_are_taken_in_float64():
    scores = np.full(100_000, 0.1, dtype=np.float32)
    assert AnyRows(100_000).best_sum(scores) == pytest.approx(100_000 * float(np.float32(0.1)), rel=1e-12)


@given(st.lists(st.integers(0, 20), min_size=1, max_size=8, unique=True), st.data())
def test_members_may_neither_enter_nor_replace(ids, data):
    ids = np.array(ids)
    chosen = np.array(data.draw(st.lists(st.integers(0, 20), min_size=1, max_size=5, unique=True)))
    allowed = AnyRows(5)
    outside = [i not in chosen for i in ids]
    assert allowed.may_enter(ids, chosen).tolist() == outside
    assert all(allowed.may_replace(ids, chosen, int(j)).tolist() == outside for j in chosen)
    assert allowed.may_enter(ids, chosen[:0]).all()
    merits = np.zeros(21)
    allowed.bar(merits, chosen)
    assert np.flatnonzero(merits == -np.inf).tolist() == sorted(chosen.tolist())
    assert np.count_nonzero(merits) == len(chosen)


# Rules


@st.composite
def rules(draw, pure_caps=False):
    """Rules over a few rows: conflicts, groups, locked rows and a budget; with `pure_caps` groups and locks alone."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(2, 8))
    apart = np.zeros((n, n), dtype=np.uint8)
    if not pure_caps:
        apart = np.triu(rng.uniform(size=(n, n)) < draw(st.sampled_from([0.0, 0.2, 0.5, 0.9])), 1).astype(np.uint8)
        apart |= apart.T
    groups = draw(st.integers(1, 4))
    group = rng.integers(groups, size=n)
    room = rng.integers(1, 4, size=groups)
    locked = np.zeros(n, dtype=bool)
    cost = rng.integers(0, 5, size=n).astype(float)
    budget = np.inf if pure_caps else float(draw(st.sampled_from([3.0, 8.0, np.inf])))
    made = Rules(False, apart, group, room, locked, cost, budget)
    for row in rng.permutation(n)[: draw(st.integers(0, 2))]:  # lock rows that may be together
        locked[row] = True
        locked[row] = is_allowed(made, np.flatnonzero(locked).tolist(), with_locks=False)
    return made, n


def is_allowed(given, S, with_locks=True):
    """The meaning of the rules, word by word."""
    S = list(S)
    together = not any(given.apart[i, j] for i, j in combinations(S, 2))
    grouped = all(sum(given.group[j] == given.group[i] for j in S) <= given.room[given.group[i]] for i in S)
    paid = sum(given.cost[i] for i in S) <= given.budget
    locked = not with_locks or set(np.flatnonzero(given.locked).tolist()) <= set(S)
    return bool(together and grouped and paid and locked)


@given(rules(), st.data())
def test_allows_is_what_the_rules_say(made, data):
    given_rules, n = made
    k = data.draw(st.integers(1, n))
    sets = np.array(list(combinations(range(n), k)))
    assert allows(given_rules, sets).tolist() == [is_allowed(given_rules, S) for S in sets.tolist()]
    assert allows(free_rules(), sets).all()


@given(rules(), st.data())
def test_a_row_may_be_added_where_the_longer_set_is_allowed(made, data):
    given_rules, n = made
    S = data.draw(st.lists(st.integers(0, n - 1), unique=True, max_size=n - 1))
    S = [i for place, i in enumerate(S) if is_allowed(given_rules, S[: place + 1], with_locks=False)]
    if not is_allowed(given_rules, S, with_locks=False):
        return
    outside = np.array([i for i in range(n) if i not in S])
    clashes = given_rules.apart[np.ix_(outside, S)].sum(axis=1)
    count = np.array([sum(given_rules.group[j] == given_rules.group[i] for j in S) for i in outside])
    spent = given_rules.cost[S].sum() + given_rules.cost[outside]
    may = may_add(clashes, count, given_rules.room[given_rules.group[outside]], spent, given_rules.budget)
    wanted = [is_allowed(given_rules, [*S, int(i)], with_locks=False) for i in outside]
    assert np.asarray(may).tolist() == wanted
    one_by_one = [
        bool(may_add(clashes[at], count[at], given_rules.room[given_rules.group[i]], spent[at], given_rules.budget))
        for at, i in enumerate(outside)
    ]
    assert one_by_one == wanted  # numbers and arrays alike


@given(rules(), st.data())
def test_a_row_may_take_a_place_where_the_changed_set_is_allowed(made, data):
    given_rules, n = made
    k = data.draw(st.integers(1, n - 1))
    allowed = [S for S in combinations(range(n), k) if is_allowed(given_rules, S)]
    for S in map(list, allowed[:20]):
        for out in S:
            for i in set(range(n)) - set(S):
                may = may_exchange(
                    given_rules.locked[out],
                    given_rules.apart[i, S].sum(),
                    given_rules.apart[i, out],
                    given_rules.group[i] == given_rules.group[out],
                    sum(given_rules.group[j] == given_rules.group[i] for j in S),
                    given_rules.room[given_rules.group[i]],
                    given_rules.cost[S].sum() - given_rules.cost[out] + given_rules.cost[i],
                    given_rules.budget,
                )
                assert bool(may) == is_allowed(given_rules, [*(j for j in S if j != out), i])


# Parts: the relaxation that bounds use


@given(rules(), st.data())
def test_the_parts_relax_the_rules(made, data):
    """Every allowed set respects the parts, and cliques are cliques: their rows conflict, each with each."""
    given_rules, n = made
    k = data.draw(st.integers(1, n))
    parts = find_parts(given_rules, n, k)
    for S in combinations(range(n), k):
        if is_allowed(given_rules, S):
            assert (np.bincount(parts.part[list(S)], minlength=len(parts.room)) <= parts.room).all()
    assert parts.locked.tolist() == given_rules.locked.tolist()
    for number in np.unique(parts.part):
        members = np.flatnonzero(parts.part == number)
        in_conflict = all(given_rules.apart[i, j] for i, j in combinations(members, 2))
        same_group = len(set(given_rules.group[members].tolist())) == 1
        assert (in_conflict and parts.room[number] == 1) or same_group
        if same_group and not in_conflict:
            assert parts.room[number] == min(given_rules.room[given_rules.group[members[0]]], k + 1)


@given(rules(), scores_with_ties, st.data())
def test_the_best_sum_of_the_parts_is_no_smaller_than_that_of_any_allowed_set(made, some, data):
    given_rules, n = made
    k = data.draw(st.integers(1, n))
    scores = np.resize(some, n) + np.linspace(0, 0.01, n)
    sums = [scores[list(S)].sum() for S in combinations(range(n), k) if is_allowed(given_rules, S)]
    reached = best_sum(scores, k, find_parts(given_rules, n, k))
    assert reached >= max(sums, default=-np.inf) - 1e-12


@given(rules(pure_caps=True), scores_with_ties, st.data())
def test_for_caps_and_locks_the_best_sum_is_exact(made, some, data):
    given_rules, n = made
    k = data.draw(st.integers(max(1, int(given_rules.locked.sum())), n))
    scores = np.resize(some, n)
    sums = [scores[list(S)].sum() for S in combinations(range(n), k) if is_allowed(given_rules, S)]
    reached = best_sum(scores, k, find_parts(given_rules, n, k))
    assert reached == pytest.approx(max(sums)) if sums else reached == -np.inf


@given(rules(pure_caps=True), scores_with_ties, st.sampled_from([-1.0, 0.0, 0.3, 2.0]), st.data())
def test_a_supply_is_as_many_rows_of_that_score_as_one_likes(made, some, supply, data):
    given_rules, n = made
    k = data.draw(st.integers(max(1, int(given_rules.locked.sum())), n))
    scores, parts = np.resize(some, n), find_parts(given_rules, n, k)
    extra = np.full(k, len(parts.room))
    longer = Parts(np.append(parts.part, extra), np.append(parts.room, k), np.append(parts.locked, np.zeros(k, bool)))
    with_rows = best_sum(np.append(scores, np.full(k, supply)), k, longer)
    assert best_sum(scores, k, parts, supply) == pytest.approx(with_rows)
    assert best_sum(scores, k, parts, -np.inf) == best_sum(scores, k, parts)


@given(scores_with_ties, st.data())
def test_without_rules_the_best_sum_is_that_of_any_rows(scores, data):
    k = data.draw(st.integers(1, len(scores)))
    for parts in (one_part(len(scores), k), find_parts(free_rules(), len(scores), k)):
        assert best_sum(scores, k, parts) == pytest.approx(AnyRows(k).best_sum(scores))


def test_copies_of_one_row_are_one_clique():
    apart = np.kron(np.eye(3, dtype=np.uint8), np.ones((4, 4), dtype=np.uint8))
    np.fill_diagonal(apart, 0)
    nothing = np.zeros(12)
    given_rules = Rules(False, apart, np.zeros(12, int), np.array([13]), nothing.astype(bool), nothing, np.inf)
    parts = find_parts(given_rules, 12, 5)
    assert len(set(parts.part.tolist())) == 3
    assert best_sum(np.ones(12), 3, parts) == 3.0
    assert best_sum(np.ones(12), 4, parts) == -np.inf  # no four rows of three copies
