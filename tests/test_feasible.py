"""Which sets are allowed: k different rows."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from breadth.feasible import AnyRows

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
