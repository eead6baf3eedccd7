"""Which sets are allowed: k different rows, and what rules say, against every set there is."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from breadth.feasible import NO_RULES, AnyRows, addable, allows, may_exchange
from tests import cores
from tests.native.blocks import draw_rules

every = pytest.mark.parametrize("name", cores.NAMES)

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
def rules(draw):
    """Rules over a few rows: conflicts, groups with the most and the least rows, a locked row, costs. Also k."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(2, 8))
    k = draw(st.integers(1, n))
    return draw_rules(rng, n, k), n, k


def is_allowed(given, S, whole=True):
    """The meaning of the rules, word by word; unless `whole`, without what must be in a set."""
    S = list(S)
    if given.apart is not None and any(given.apart[i, j] for i, j in combinations(S, 2)):
        return False
    if given.cost is not None and sum(given.cost[i] for i in S) > given.budget:
        return False
    counts = [] if given.group is None else [sum(given.group[i] == g for i in S) for g in range(len(given.most))]
    if any(count > most for count, most in zip(counts, given.most if counts else (), strict=True)):
        return False
    if not whole:
        return True
    if given.least is not None and any(c < least for c, least in zip(counts, given.least, strict=True)):
        return False
    return given.locked is None or set(np.flatnonzero(given.locked).tolist()) <= set(S)


@given(rules())
def test_allows_is_what_the_rules_say(made):
    given_rules, n, k = made
    sets = np.array(list(combinations(range(n), k)))
    assert allows(given_rules, sets).tolist() == [is_allowed(given_rules, S) for S in sets.tolist()]
    assert allows(NO_RULES, sets).all()
    assert NO_RULES.is_free


@given(rules(), st.data())
def test_a_row_may_be_added_where_the_longer_set_is_allowed(made, data):
    """And where the places that are left suffice for the rows that groups still need."""
    given_rules, n, k = made
    S = data.draw(st.lists(st.integers(0, n - 1), unique=True, max_size=k - 1))
    if not is_allowed(given_rules, S, whole=False):
        return
    may = addable(given_rules, np.array(S, dtype=np.int64), n, k)
    for i in range(n):
        longer = [*S, i]
        wanted = i not in S and is_allowed(given_rules, longer, whole=False)
        if wanted and given_rules.least is not None:
            counts = np.bincount(given_rules.group[longer], minlength=len(given_rules.least))
            before = np.bincount(given_rules.group[S], minlength=len(given_rules.least)) if S else 0 * counts
            left, missed = k - len(longer), np.maximum(given_rules.least - counts, 0).sum()
            wanted = missed <= left or bool((np.maximum(given_rules.least - before, 0) > 0)[given_rules.group[i]])
        assert bool(may[i]) == wanted


@given(rules())
def test_a_row_may_take_a_place_where_the_changed_set_is_allowed(made):
    given_rules, n, k = made
    allowed = [S for S in combinations(range(n), k) if is_allowed(given_rules, S)]
    for S in map(list, allowed[:20]):
        clash = None if given_rules.apart is None else given_rules.apart[S]
        may = may_exchange(given_rules, np.array(S), clash, n)
        for place, out in enumerate(S):
            for i in range(n):
                changed = [*(j for j in S if j != out), i]
                assert bool(may[place, i]) == (i not in S and is_allowed(given_rules, changed))


@every
@given(rules(), scores_with_ties)
def test_the_largest_sum_of_the_relaxed_rules_is_no_smaller_than_that_of_any_allowed_set(name, made, some):
    """The bound without pair costs is that sum; without conflicts and costs it is exact."""
    given_rules, n, k = made
    scores = np.resize(some, n)
    sums = [scores[list(S)].sum() for S in combinations(range(n), k) if is_allowed(given_rules, S)]
    block = cores.load(name).Block.make(scores, np.eye(n, dtype=np.float32), k, 0.0, *given_rules)
    reached = block.bound_at(np.zeros(n), np.empty(0), -np.inf)
    assert reached >= max(sums, default=-np.inf) - 1e-12
    if given_rules.apart is None and given_rules.cost is None and sums:
        assert reached == pytest.approx(max(sums))


@every
@given(scores_with_ties, st.sampled_from([-1.0, 0.0, 0.3, 2.0]), st.data())
def test_a_supply_is_as_many_rows_of_that_score_as_one_likes(name, scores, supply, data):
    n = len(scores)
    k = data.draw(st.integers(1, n))
    block = cores.load(name).Block.make(scores, np.eye(n, dtype=np.float32), k, 0.0)
    longer = np.append(scores, np.full(k, supply))
    assert block.bound_at(np.zeros(n), np.empty(0), supply) == pytest.approx(AnyRows(k).best_sum(longer))
    assert block.bound_at(np.zeros(n), np.full(k, supply), -np.inf) == pytest.approx(AnyRows(k).best_sum(longer))


@every
def test_of_copies_that_may_not_be_together_one_counts(name):
    apart = np.kron(np.eye(3, dtype=np.uint8), np.ones((4, 4), dtype=np.uint8))
    np.fill_diagonal(apart, 0)
    for k, largest in ((3, 3.0), (4, -np.inf)):  # no four rows of three copies
        block = cores.load(name).Block.make(np.ones(12), np.eye(12, dtype=np.float32), k, 0.0, apart)
        reached = block.bound_at(np.zeros(12), np.empty(0), -np.inf)
        assert reached == largest or (largest == -np.inf and reached < -1e200)
