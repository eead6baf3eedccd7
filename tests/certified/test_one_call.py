"""The kernels that do the work in one call take the steps that `certified.shortlist.search` takes one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import breadth
from breadth import api, kernels
from breadth.certified.shortlist import search
from breadth.certified.shortlist.at_once import Work
from tests.synthetic import clustered, isotropic, query_near

WISHES = (
    {},
    {"sharpness": 4, "theta": 0.5},
    {"theta": 0.2, "on_topic": 0.0},
    {"sharpness": 16, "theta": 0.3, "distinct": 0.9},
    {"pinned": [3, 7], "on_topic": 0.0, "distinct": 1.0},
    {"per_group": 2, "on_topic": 0.0},
)

pytestmark = pytest.mark.skipif(
    kernels.current().settle is None, reason="NumPy's kernels have no such call: the steps are taken one by one"
)


@settings(max_examples=80, deadline=None)
@given(
    st.integers(12, 300), st.sampled_from([6, 24, 64]), st.integers(0, 2**32 - 1), st.sampled_from(WISHES), st.data()
)
def test_one_call_finds_what_the_steps_find(n, d, seed, wishes, data):
    rng = np.random.default_rng(seed)
    k = data.draw(st.integers(2, min(n - 1, 30)))
    rows = clustered(rng, n, d) if seed % 2 else isotropic(rng, n, d)
    if seed % 3 == 0:
        rows[n // 2 :: 2] = rows[0]  # copies: rows that conflict, and parts that are full
    rows = np.ascontiguousarray(rows, dtype=np.float32)
    asked = {"groups": (np.arange(n) % 7).tolist(), **wishes} if "per_group" in wishes else wishes
    query = query_near(rng, rows).astype(np.float32)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(api, "is_possible", lambda: False)  # tests/test_direct.py is about that
        at_once = breadth.select(rows, query, k=k, **asked)
        patch.setattr(Work, "is_possible", lambda problem, clock: False)
        patch.setattr(search, "_takes_one_call", lambda table, clock: False)
        by_steps = breadth.select(rows, query, k=k, **asked)
    assert at_once.ids.tolist() == by_steps.ids.tolist()
    assert at_once.stats["swaps"] == by_steps.stats["swaps"]
    assert at_once.certificate.bound == pytest.approx(by_steps.certificate.bound, abs=1e-9)
    assert at_once.certificate.swap_optimal == by_steps.certificate.swap_optimal


def test_what_has_to_stop_in_time_or_knows_a_budget_is_done_in_steps(rng, monkeypatch):
    calls = []
    once = search._settle_in_one_call
    monkeypatch.setattr(search, "_settle_in_one_call", lambda *a: (calls.append(a), once(*a))[1])
    rows = clustered(rng, 100, 24).astype(np.float32)
    query = query_near(rng, rows).astype(np.float32)
    breadth.select(rows, query, k=5, pinned=[3])
    assert len(calls) == 1
    breadth.select(rows, query, k=5, time_limit=10)
    breadth.select(rows, query, k=5, costs=[1.0] * 100, budget=3.0)
    assert len(calls) == 1
