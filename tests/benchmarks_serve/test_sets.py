"""Measures of chosen sets, budgets of words, and the files that keep the sets."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.serve.measures import LADDER, MEASURES, find_fit, measure_set
from benchmarks.serve.sets import BUDGETS, KS, measure_setting
from benchmarks.serve.settings import SETTINGS, Asker, is_nested


def measure(collection, rows, k):
    relevance = Asker(collection, 0).relevance
    return dict(zip(MEASURES, measure_set(collection, 0, relevance, rows, k), strict=True))


def test_a_set_is_measured_as_defined(collection):
    relevance = Asker(collection, 0).relevance
    order = np.argsort(-relevance, kind="stable")
    best, worst = int(order[0]), int(order[-1])
    found = measure(collection, [best, worst, 40], 3)
    assert found["recall"] == pytest.approx(len({0, 3, 40, 80, 81, 82} & {best, worst, 40}) / 3)
    assert found["off_topic"] == 1.0  # the last row of all is far away
    assert found["best_dropped"] == 0.0
    assert found["words"] == best % 7 + worst % 7 + 40 % 7 + 3
    assert found["size"] == 3
    assert measure(collection, [int(i) for i in order[:3]], 3)["off_topic"] == 0.0


def test_a_copy_of_the_best_hit_stands_for_it_and_pairs_of_copies_are_counted(collection):
    best = int(Asker(collection, 0).relevance.argmax()) // 3 * 3
    assert measure(collection, [best + 2], 1)["best_dropped"] == 0.0
    assert measure(collection, [best, best + 1, best + 2], 3)["copies"] == 3.0
    other = next(i for i in range(0, len(collection.rows), 3) if collection.rows[i] @ collection.rows[best] < 0.9)
    assert measure(collection, [other], 1)["best_dropped"] == 1.0
    assert measure(collection, [best, other], 2)["copies"] == 0.0


def test_no_rows_hold_nothing(collection):
    assert measure(collection, [], 0) == dict(zip(MEASURES, [0, 0, 1, 0, 0, 0, 0, 0], strict=True))


@given(st.lists(st.integers(1, 60), min_size=LADDER[-1], max_size=LADDER[-1]), st.integers(0, 4000))
def test_the_largest_size_that_fits_is_found(lengths, budget):
    words = np.cumsum(lengths)
    fitting = [k for k in LADDER if words[k - 1] <= budget]
    assert find_fit(lambda k: int(words[k - 1]), budget) == max(fitting, default=0)


@pytest.mark.parametrize("name", [name for name, setting in SETTINGS.items() if is_nested(setting)])
def test_nested_settings_begin_with_their_smaller_sets(collection, name):
    asker = Asker(collection, 0)
    longest = asker.choose(SETTINGS[name], 20)
    assert all(asker.choose(SETTINGS[name], k) == longest[:k] for k in (1, 3, 5, 10))


def test_the_paper_and_adagres_have_a_set_for_each_k():
    assert not is_nested(SETTINGS["paper 0.7"])
    assert not is_nested(SETTINGS["AdaGReS"])
    assert not is_nested({"theta": 0.7})


@pytest.mark.parametrize("name", ["cosine < 0.9", "paper 0.7"])
def test_sets_are_chosen_once(collection, name, tmp_path, monkeypatch):
    path = tmp_path / "sets.jsonl"
    setting = SETTINGS[name]
    first = measure_setting(collection, setting, path)
    assert first.shape == (2, len(KS) + len(BUDGETS), len(MEASURES))
    with monkeypatch.context() as patched:
        patched.setattr(Asker, "choose", lambda *_: pytest.fail("chose again"))
        assert np.array_equal(measure_setting(collection, setting, path), first)
    other = {"by": "filter", "threshold": 0.1}
    assert np.array_equal(
        measure_setting(collection, other, path), measure_setting(collection, other, tmp_path / "new.jsonl")
    )
    assert not np.array_equal(measure_setting(collection, other, path), first)
