"""What is held in memory: rows, the block of those that matter, and the set and dual vector found on them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from breadth import Problem
from breadth.certified.bench import Bench
from breadth.certified.block import Block, Target
from breadth.certified.effort import Effort
from breadth.certified.held import Held
from breadth.certified.settle import settle
from breadth.clock import NO_LIMIT, Clock
from tests.certified.promises import best_swap
from tests.synthetic import SHAPES, clustered, isotropic, query_near, unit

SMALL = Effort(block=8, watched=16, entering=4)
"""So few rows begin the block that others have to enter."""


@st.composite
def collections(draw, max_n=80):
    """Rows of some precision, with copies and with relevance from outside; ids that are not their positions."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d = draw(st.integers(4, max_n)), draw(st.integers(2, 12))
    rows = SHAPES[draw(st.sampled_from(sorted(SHAPES)))](rng, n, d)
    k = draw(st.integers(2, max(2, n // 4)))
    theta = draw(st.floats(0.0, 0.95))
    if draw(st.booleans()):
        rows = np.column_stack((rows, rng.uniform(-1, 1, size=n))).astype(np.float64)
        problem = Problem.from_scores(d, k, theta)
    else:
        rows = rows.astype(draw(st.sampled_from([np.float32, np.float64])))
        problem = Problem(unit(rng.standard_normal(d)), k, theta)
    ids = rng.permutation(10 * n)[:n].astype(np.int64)
    return problem, ids, rows, rng


def brute_force(rows, w):
    return rows.astype(np.float64) @ w


# Held rows


@given(collections(), st.sampled_from([0.0, 0.5, 0.9, 1.0]), st.data())
def test_held_rows_above_a_threshold_are_found_exactly(collection, quantile, data):
    problem, ids, rows, rng = collection
    held = Held(problem, ids, rows)
    w = 5 * rng.standard_normal(rows.shape[1])
    exact = brute_force(rows, w)
    threshold = float(np.quantile(exact, quantile)) + data.draw(st.sampled_from([0.0, 1e-9, -1e-9]))
    among = rng.integers(2, size=len(rows)).astype(bool) if data.draw(st.booleans()) else None
    where, scores = held.above(w, threshold, among)
    np.testing.assert_allclose(scores, exact[where], atol=1e-12)
    assert (np.diff(scores) <= 0).all()
    there = np.ones(len(rows), dtype=bool) if among is None else among
    clear = np.abs(exact - threshold) > 1e-12  # the last bit of a sum is nobody's promise
    assert set(where[clear[where]].tolist()) == set(np.flatnonzero(there & clear & (exact > threshold)).tolist())


@given(collections(), st.integers(1, 10))
def test_the_most_that_are_wanted_above_a_threshold_are_the_best(collection, most):
    problem, ids, rows, rng = collection
    w = 5 * rng.standard_normal(rows.shape[1])
    exact = brute_force(rows, w)
    threshold = float(np.median(exact)) + 1e-9  # not between copies
    where, scores = Held(problem, ids, rows).above(w, threshold, most=most)
    expected = np.sort(exact[exact > threshold])[::-1][:most]
    assert len(set(where.tolist())) == len(expected)
    np.testing.assert_allclose(scores, expected, atol=1e-5)


@given(collections(), st.data())
def test_the_best_held_rows_are_found_exactly(collection, data):
    problem, ids, rows, rng = collection
    w = 5 * rng.standard_normal(rows.shape[1])
    count = data.draw(st.integers(1, len(rows) + 2))
    where = Held(problem, ids, rows).best(w, count)
    exact = brute_force(rows, w)
    assert len(set(where.tolist())) == len(where) == min(count, len(rows))
    np.testing.assert_allclose(exact[where], np.sort(exact)[::-1][:count], atol=1e-12)
    for a, b in pairwise(where):
        assert (rows[a] != rows[b]).any() or a < b  # of copies the one that was held earlier


@given(collections())
def test_rough_scores_are_within_the_slack(collection):
    problem, ids, rows, rng = collection
    held = Held(problem, ids, rows)
    w = 5 * rng.standard_normal(rows.shape[1])
    exact = brute_force(rows, w)
    assert np.abs(held.scores(w) - exact).max() <= held.slack(w) + 1e-6 * np.abs(w[-1])
    np.testing.assert_allclose(held.exact_scores(np.arange(len(rows)), w), exact, atol=1e-12)


@given(collections())
def test_further_rows_are_held_once(collection):
    problem, ids, rows, rng = collection
    half = len(ids) // 2
    held = Held(problem, ids[:half], rows[:half])
    again = np.concatenate((ids[half - 1 :], ids[half:]))  # one that is held, and every new one twice
    assert held.take(again, np.concatenate((rows[half - 1 :], rows[half:]))) == len(ids) - half
    assert held.take(ids, rows) == 0
    assert len(held) == len(ids)
    assert list(held.ids[:half]) == list(ids[:half])  # positions stay what they were
    order = rng.permutation(len(ids))
    np.testing.assert_array_equal(held.ids[held.find(ids[order])], ids[order])
    np.testing.assert_array_equal(held.exact_rows(held.find(ids[order])), rows[order].astype(np.float64))
    w = rng.standard_normal(rows.shape[1])
    np.testing.assert_allclose(held.scores(w)[held.find(ids)], brute_force(rows, w), atol=1e-5)


# The block


@given(collections(max_n=40), st.lists(st.integers(1, 20), max_size=4))
def test_a_block_grows_and_keeps_what_it_has(collection, cuts):
    problem, _, rows, _ = collection
    block = Block(problem)
    parts = np.split(rows, np.unique(np.minimum(np.cumsum(cuts), len(rows)))) if cuts else [rows]
    for part in parts:
        block.add(part)
    assert len(block) == len(rows)
    similar = problem.similar(rows.astype(np.float64))
    np.testing.assert_array_equal(block.rows, rows)
    np.testing.assert_allclose(block.gram, similar @ similar.T, atol=1e-6)
    expected = problem.linear(rows.astype(np.float64) @ problem.query)
    np.testing.assert_allclose(block.linear, expected, atol=1e-9 * problem.k)
    chosen = np.arange(problem.k)
    exact = problem.value(rows[chosen])
    assert block.value(chosen) == pytest.approx(exact, abs=1e-6 * problem.k**2)


@given(collections(max_n=40))
def test_searching_a_block_never_loses_and_swaps_end_swap_optimal(collection):
    problem, _, rows, rng = collection
    block = Block(problem)
    block.add(rows)
    chosen = rng.permutation(len(rows))[: problem.k].astype(np.int64)
    values = [block.value(chosen)]
    assert block.swap(chosen, NO_LIMIT) >= 0
    values.append(block.value(chosen))
    assert block.swap(chosen.copy(), NO_LIMIT) == 0
    block.search(chosen, 50, NO_LIMIT)
    values.append(block.value(chosen))
    assert values == pytest.approx(sorted(values), abs=1e-12)
    assert len(set(chosen.tolist())) == problem.k
    before = chosen.copy()
    block.search(chosen, 50, Clock(0.0))
    np.testing.assert_array_equal(chosen, before)


@given(collections(max_n=40))
def test_relaxing_a_block_bounds_every_set_of_it(collection):
    problem, _, rows, rng = collection
    block = Block(problem)
    block.add(rows)
    x = np.zeros(len(rows))
    x[: problem.k] = 1.0
    value = block.value(np.arange(problem.k))
    least = 1e-6 * problem.scale
    relaxed = block.relax(x, Target(value, 0.0, least, 20_000), NO_LIMIT)
    assert relaxed >= value - 1e-6 * problem.k**2
    for _ in range(20):
        chosen = rng.permutation(len(rows))[: problem.k].astype(np.int64)
        block.swap(chosen, NO_LIMIT)
        assert block.value(chosen) <= relaxed + 1e-6 * problem.k**2


# The bench


@settings(max_examples=100)
@given(collections())
def test_replacements_are_found_if_and_only_if_there_are_any(collection):
    """Against all exchanges in float64: of rows outside the block, those that gain more than `least_gain`."""
    problem, ids, rows, _ = collection
    bench = Bench(problem, ids, rows, float(problem.own_similarities(rows).max()) + 1e-6, effort=SMALL)
    exact = rows.astype(np.float64)
    members = bench.held.find(bench.chosen_ids)
    value = problem.value(exact[members])
    gains = np.full(len(rows), -np.inf)
    outside = np.setdiff1d(np.arange(len(rows)), bench._positions)
    for i in outside:
        gains[i] = max(
            problem.value(exact[np.where(np.arange(problem.k) == place, i, members)]) - value
            for place in range(problem.k)
        )
    found = bench.find_replacements(len(rows))
    least, blur = bench.block.least_gain, 1e-9 * problem.scale
    assert set(np.flatnonzero(gains > least + blur).tolist()) <= set(found.tolist())
    assert (gains[found] > least - blur).all()
    assert (np.diff(gains[found]) <= blur).all()  # those that gain most first
    np.testing.assert_array_equal(bench.find_replacements(2), found[:2])


@given(collections(), st.booleans())
def test_a_settled_bench_is_swap_optimal_on_what_it_holds(collection, lightly):
    problem, ids, rows, _ = collection
    bench = Bench(problem, ids, rows, float(problem.own_similarities(rows).max()) + 1e-6, effort=SMALL)
    first = bench.value
    settle(bench, lightly=lightly)
    assert bench.value >= first
    assert not bench.enter_for_swaps()
    assert len(set(bench.chosen_ids.tolist())) == problem.k
    assert bench.value == pytest.approx(problem.value(bench.chosen_rows), abs=1e-6 * problem.k**2)
    np.testing.assert_array_equal(bench.chosen_rows, rows[bench.held.find(bench.chosen_ids)])
    np.testing.assert_allclose(bench.u, bench.x @ bench.block.rows, atol=1e-9)
    assert bench.x.sum() == pytest.approx(problem.k)
    if problem.similarity_dim is None:
        where = bench.held.find(bench.chosen_ids)
        assert best_swap(rows, problem.query, where, problem.theta) * problem.scale <= 2e-6 * problem.k


@given(collections())
def test_dual_scores_hold_the_best_of_all_held_rows(collection):
    problem, ids, rows, _ = collection
    bench = Bench(problem, ids, rows, 1.0 + 1e-6, effort=SMALL)
    for _ in range(2):
        expected = np.sort(brute_force(rows, bench.w_dual))[::-1][: problem.k].sum()
        assert problem.allowed.best_sum(bench.dual_scores()) == pytest.approx(expected, abs=1e-9)
        settle(bench)


def test_starts_are_taken_from_held_rows_outside_the_block(rng):
    E = clustered(rng, 400, 16)
    problem = Problem(query_near(rng, E).astype(np.float64), 5, 0.4)
    bench = Bench(problem, np.arange(400), E, 1.0 + 1e-6, effort=SMALL)
    size = len(bench.block)
    other = Bench(problem, np.arange(400), E, 1.0 + 1e-6)
    settle(other)
    bench.improve_from(bench.held.find(other.chosen_ids)[None])
    assert bench.value >= other.value - 1e-6
    assert len(bench.block) >= size
    bench.enter(np.arange(0))
    bench.enter_best(50)
    assert len(bench.block) >= 50
    assert not bench.holds_block_only()


def test_a_bench_whose_time_is_up_still_has_a_set(rng):
    E = isotropic(rng, 500, 16)
    problem = Problem(query_near(rng, E).astype(np.float64), 12, 0.3)
    bench = Bench(problem, np.arange(500), E, 1.0 + 1e-6, Clock(0.0))
    before = bench.value
    settle(bench)
    assert bench.value >= before
    assert len(set(bench.chosen_ids.tolist())) == 12
