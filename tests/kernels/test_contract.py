"""One suite for all implementations of the kernels: each promise of `breadth.kernels.contract`, against plain loops."""

from __future__ import annotations

import inspect
import os
from importlib.util import find_spec
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from breadth import kernels
from breadth.feasible import one_part
from breadth.kernels.contract import Kernels
from tests.kernels import blocks
from tests.kernels.blocks import Case
from tests.synthetic import SHAPES, clustered, duplicated

LEAST = 1e-9
without_numba = pytest.mark.skipif(find_spec("numba") is None, reason="numba is not installed (the extra `fast`)")
every = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=without_numba if name == "numba" else ()) for name in kernels.NAMES]
)


# What there is


@every
def test_it_has_every_function_of_the_contract(name):
    kernel = kernels.load(name)
    assert name == kernel.NAME
    assert kernel.STEPS_AT_ONCE >= 1
    assert kernel.SPREADS in (True, False)
    promised = {n: f for n, f in vars(Kernels).items() if inspect.isfunction(f) and not n.startswith("_")}
    assert len(promised) == 18
    assert kernel.CODED >= 0
    for function, promise in promised.items():
        found = getattr(kernel, function)
        parameters = list(inspect.signature(getattr(found, "py_func", found)).parameters)
        assert parameters == list(inspect.signature(promise).parameters)[1:], function


def test_one_of_them_is_chosen(monkeypatch):
    for name in ("numpy", kernels.choose()):
        monkeypatch.setattr(kernels, "choose", lambda name=name: name)
        assert name == kernels.current().NAME


# Sets


@every
@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 64, 257])
def test_pairs_are_multiplied(name, count, rng):
    rows = clustered(rng, count, 21).astype(np.float32)
    exact = rows.astype(np.float64)
    products = kernels.load(name).multiply_pairs(rows)
    assert products.dtype == np.float32
    assert products == pytest.approx(exact @ exact.T, abs=1e-6)
    assert (products == products.T).all()


@every
@given(case=blocks.blocks(spare=0))
def test_the_value_and_the_marginal_values_of_a_set(name, case):
    kernel, chosen = kernels.load(name), case.draw_set()
    assert kernel.set_value(*case.sums, chosen) == pytest.approx(blocks.value(case, chosen), abs=1e-9)
    before = case.linear.copy()
    np.testing.assert_allclose(kernel.marginals(*case.sums, chosen), blocks.marginals(case, chosen), atol=1e-9)
    np.testing.assert_array_equal(case.linear, before)


@every
@given(case=blocks.blocks(spare=0), data=st.data())
def test_greedy_takes_the_largest_marginal_value_and_of_equal_ones_the_first(name, case, data):
    first = data.draw(st.integers(0, len(case) - 1))
    picks = np.full(case.k, first)
    count = kernels.load(name).greedy(*case.block, picks, 1)
    assert picks[:count].tolist() == blocks.greedy(case, first, case.k)
    picks = np.full(case.k, -1)
    count = kernels.load(name).greedy(*case.block, picks, 0)
    for size in range(1, count + 1):  # every prefix is allowed, and nothing more could join in the end
        assert blocks.is_allowed(case, picks[:size], locked=False)
    rest = [i for i in range(len(case)) if i not in picks[:count]]
    assert count == case.k or not any(blocks.is_allowed(case, [*picks[:count], i], locked=False) for i in rest)


def swap_in_full(case, chosen, least):
    """The sets that steepest ascent goes through."""
    sets = [list(chosen)]
    while True:
        gains = blocks.exchanges(case, sets[-1])
        if not gains:
            return sets
        (row, place), best = max(gains.items(), key=lambda item: (item[1], -item[0][0], -item[0][1]))
        if best <= least:
            return sets
        sets.append([*sets[-1]])
        sets[-1][place] = row


@every
@given(case=blocks.blocks(), least=st.sampled_from([LEAST, 0.1]), most=st.integers(1, 3))
def test_swaps_are_the_best_ones_and_end_where_none_gains(name, case, least, most):
    kernel, start = kernels.load(name), case.draw_set()
    expected = swap_in_full(case, start, least)
    chosen = start.copy()
    assert kernel.swap(*case.block, chosen, least, 1000) == len(expected) - 1
    assert chosen.tolist() == expected[-1]
    assert max(blocks.exchanges(case, chosen).values(), default=0.0) <= least + 1e-12
    assert blocks.is_allowed(case, chosen)
    assert all(blocks.value(case, b) >= blocks.value(case, a) + least - 1e-12 for a, b in pairwise(expected))
    some = start.copy()
    assert kernel.swap(*case.block, some, least, most) == min(most, len(expected) - 1)
    assert some.tolist() == expected[min(most, len(expected) - 1)]


class Search:
    """A tabu search that is kept between calls."""

    def __init__(self, kernel, case: Case, start) -> None:
        self.kernel, self.case = kernel, case
        self.chosen, self.current = start.copy(), start.copy()
        self.merits = kernel.marginals(*case.sums, start)
        self.free_at, self.totals = np.zeros(len(case), dtype=np.int64), np.zeros(2)
        self.now = 1

    def run(self, iterations: int) -> None:
        state = (self.chosen, self.current, self.merits, self.free_at, self.totals)
        self.kernel.tabu(*self.case.block, *state, self.now, iterations, LEAST)
        self.now += iterations

    def state(self):
        arrays = (self.chosen, self.current, self.merits, self.free_at, self.totals)
        return [array.tolist() for array in arrays]


@every
@given(case=blocks.blocks())
def test_a_tabu_search_makes_the_best_exchange_that_is_free(name, case):
    """A row or a member that is held moves only if that gives the best set so far."""
    start = case.draw_set()
    search = Search(kernels.load(name), case, start)
    moved = False
    for _ in range(25):
        before, free_at, totals = search.current.copy(), search.free_at.copy(), search.totals.copy()
        gains = {
            (i, c): g
            for (i, c), g in blocks.exchanges(case, before).items()
            if (free_at[i] <= search.now and free_at[before[c]] <= search.now)
            or totals[0] + g > totals[1] + LEAST + 1e-12
        }
        search.run(1)
        changed = np.flatnonzero(search.current != before)
        assert len(changed) == (1 if gains else 0)
        if gains:
            moved = True
            (place,) = changed
            new = int(search.current[place])
            assert gains[new, place] >= max(gains.values()) - 1e-9
            assert search.free_at[new] >= search.now
            assert search.free_at[before[place]] >= search.now
        start_value = blocks.value(case, start)
        assert search.totals[0] == pytest.approx(blocks.value(case, search.current) - start_value, abs=1e-9)
        assert search.totals[1] == pytest.approx(blocks.value(case, search.chosen) - start_value, abs=1e-9)
        np.testing.assert_allclose(search.merits, blocks.marginals(case, search.current), atol=1e-9)
        assert search.totals[1] >= max(0.0, search.totals[0] - LEAST)
        assert blocks.is_allowed(case, search.current)
    assert moved or not case.rules.free
    assert len(set(search.chosen.tolist())) == case.k
    assert blocks.is_allowed(case, search.chosen)


@every
@given(case=blocks.blocks(), cuts=st.lists(st.integers(1, 20), min_size=1, max_size=5))
def test_cutting_a_tabu_search_into_calls_changes_nothing(name, case, cuts):
    start = case.draw_set()
    whole, cut = (Search(kernels.load(name), case, start) for _ in range(2))
    whole.run(sum(cuts))
    for iterations in cuts:
        cut.run(iterations)
    assert cut.state() == whole.state()


def assert_feasible(x, k):
    assert x.min() >= 0.0
    assert x.max() <= 1.0
    assert x.sum() == pytest.approx(k)


@every
@given(case=blocks.blocks(max_n=9, ruled=False), steps=st.integers(0, 100), fractional=st.booleans())
def test_the_relaxation_rises_and_its_gap_is_a_duality_gap(name, case, steps, fractional):
    kernel = kernels.load(name)
    x = np.full(len(case), case.k / len(case))
    if not fractional:
        x[:] = 0.0
        x[case.draw_set()] = 1.0
    reached = blocks.relaxed(case, x)
    for _ in range(3):
        gap, _ = kernel.relax(case.linear, case.gram, case.k, case.coupling, case.parts, x, 0.0, 0.0, 1e-12, steps)
        assert_feasible(x, case.k)
        value = blocks.relaxed(case, x)
        assert value >= reached - 1e-9
        assert gap == pytest.approx(blocks.duality_gap(case, x), abs=1e-7)
        for members in combinations(range(len(case)), case.k):
            indicator = np.zeros(len(case))
            indicator[list(members)] = 1.0
            assert blocks.relaxed(case, indicator) <= value + gap + 1e-7
        reached = value


@every
@given(case=blocks.blocks(max_n=9), steps=st.integers(0, 100))
def test_the_relaxation_within_rules_bounds_every_allowed_set(name, case, steps):
    """x stays within the parts, its value never falls, and value plus gap is at least that of every allowed set."""
    kernel, parts = kernels.load(name), case.parts
    x = np.zeros(len(case))
    x[case.draw_set()] = 1.0
    reached = blocks.relaxed(case, x)
    for _ in range(2):
        gap, _ = kernel.relax(case.linear, case.gram, case.k, case.coupling, parts, x, 0.0, 0.0, 1e-12, steps)
        assert_feasible(x, case.k)
        assert (x[parts.locked] == 1.0).all()
        assert (np.bincount(parts.part, x, minlength=len(parts.room)) <= parts.room + 1e-9).all()
        value = blocks.relaxed(case, x)
        assert value >= reached - 1e-9
        for members in combinations(range(len(case)), case.k):
            if blocks.is_allowed(case, members):
                indicator = np.zeros(len(case))
                indicator[list(members)] = 1.0
                assert blocks.relaxed(case, indicator) <= value + gap + 1e-7
        reached = value
    gap, _ = kernel.relax(case.linear, case.gram, case.k, case.coupling, parts, x, 0.0, 0.0, 1e-9, 20_000)
    assert gap <= 1e-6  # exchanges inside full parts reach the maximum


@every
@given(case=blocks.blocks(ruled=False), share=st.sampled_from([0.0, 0.1, 0.5]), least=st.sampled_from([1e-6, 1e-2]))
def test_the_relaxation_ends_when_the_gap_is_small_enough(name, case, share, least):
    kernel = kernels.load(name)
    x = np.zeros(len(case))
    x[case.draw_set()] = 1.0
    base = blocks.relaxed(case, x)
    gap, value = kernel.relax(case.linear, case.gram, case.k, case.coupling, case.parts, x, base, share, least, 20_000)
    assert gap <= max(least, share * (value - base))
    allowed = max(least, share * (blocks.relaxed(case, x) - base))
    assert blocks.duality_gap(case, x) <= allowed + 1e-7
    rests = x.copy()
    enough = 1.01 * allowed + 1e-7
    again = kernel.relax(case.linear, case.gram, case.k, case.coupling, case.parts, rests, base, share, enough, 20_000)
    assert again == pytest.approx((blocks.duality_gap(case, x), blocks.relaxed(case, x)), abs=1e-7)
    np.testing.assert_array_equal(rests, x)  # good enough already: nothing moves


@every
def test_the_value_of_a_relaxation_is_that_of_its_x(name):
    """Also where it ends between two looks, because the maximum is reached exactly."""
    linear, x = np.array([0.0, -0.5]), np.array([0.0, 1.0])
    gap, value = kernels.load(name).relax(
        linear, np.eye(2, dtype=np.float32), 1, 0.1, one_part(2, 1), x, 0.0, 0.0, 1e-9, 64
    )
    assert x.tolist() == [1.0, 0.0]
    assert (gap, value) == pytest.approx((0.0, -0.05))


@every
def test_a_relaxation_without_steps_only_looks(name):
    case = Case(np.eye(3), np.array([0.3, 0.2, 0.1]), np.eye(3, dtype=np.float32), 1, 1.0, np.random.default_rng(0))
    x = np.array([0.0, 0.0, 1.0])
    kernel = kernels.load(name)
    gap, value = kernel.relax(case.linear, case.gram, 1, 1.0, case.parts, x, 0.0, 0.0, 0.0, 0)
    assert (gap, value) == pytest.approx((blocks.duality_gap(case, x), blocks.relaxed(case, x)))
    assert x.tolist() == [0.0, 0.0, 1.0]
    gap, value = kernel.relax(case.linear, case.gram, 1, 1.0, case.parts, x, 0.0, 0.0, 1e-9, 64)
    assert x == pytest.approx([1.3 / 3, 1.0 / 3, 0.7 / 3], abs=1e-6)  # the slope is the same for all rows


@every
@given(case=blocks.blocks(), supply=st.sampled_from([-np.inf, -1.0, 0.0, 0.25]))
def test_the_largest_sum_of_slopes_and_what_a_row_costs_it(name, case, supply):
    largest, losses = kernels.load(name).judge(case.linear, case.k, case.parts, supply)
    sums = []
    for size in range(case.k + 1):  # so many from the block, the others from the supply
        for S in combinations(range(len(case)), size):
            counts = np.bincount(case.parts.part[list(S)], minlength=len(case.parts.room))
            if set(np.flatnonzero(case.parts.locked)) <= set(S) and (counts <= case.parts.room).all():
                rest = (case.k - size) * supply if size < case.k else 0.0
                sums.append((S, case.linear[list(S)].sum() + rest))
    assert largest == pytest.approx(max((total for _, total in sums), default=-np.inf), abs=1e-9)
    for row in range(len(case)):
        with_row = max((total for S, total in sums if row in S), default=-np.inf)
        assert largest - losses[row] >= with_row - 1e-9
        assert losses[row] >= 0.0
    if supply > -np.inf:
        outside = max((total for S, total in sums if len(S) < case.k), default=-np.inf)
        assert largest - losses[-1] >= outside - 1e-9


@every
@given(case=blocks.blocks(max_n=10), data=st.data())
def test_what_is_left_of_similarities_without_a_dominant_diagonal_is_positive(name, case, data):
    S = case.gram[: len(case), : len(case)].copy()
    weights = np.array(data.draw(st.lists(st.floats(0.01, 1.0), min_size=len(case), max_size=len(case))))
    diagonal = kernels.load(name).dominate(S, weights)
    left = S.astype(np.float64) - np.diag(diagonal)
    assert np.linalg.eigvalsh(left)[0] >= -1e-9 * (1.0 + np.abs(S).sum())
    even = case.gram[: len(case), : len(case)].copy()
    even[:] = 0.5
    np.fill_diagonal(even, 1.0)  # all rows alike: nothing is lost
    np.testing.assert_allclose(kernels.load(name).dominate(even, np.ones(len(case))), 0.5, atol=1e-9)


@every
@given(case=blocks.blocks(), count=st.integers(1, 4))
def test_starts_lead_to_the_best_of_their_swapped_greedy_sets(name, case, count):
    kernel, before = kernels.load(name), case.draw_set()
    given = np.flatnonzero(case.rules.locked) if not case.rules.free else np.empty(0, dtype=np.int64)
    merits, couplings = case.rng.standard_normal((count, len(case))), case.rng.uniform(0.0, 2.0, count)
    chosen = before.copy()
    swaps = kernel.try_starts(*case.block, given, merits, couplings, chosen, LEAST)
    ends = [before]
    taken = 0
    for own, coupling in zip(merits, couplings, strict=True):
        picks = np.full(case.k, -1)
        picks[: len(given)] = given
        if kernel.greedy(own, case.gram, coupling, case.rules, picks, len(given)) == case.k:
            taken += kernel.swap(*case.block, picks, LEAST, 10_000)
            ends.append(picks)
    assert swaps == taken
    assert blocks.value(case, chosen) == pytest.approx(max(blocks.value(case, S) for S in ends), abs=1e-9)
    assert blocks.is_allowed(case, chosen)


# Products


@every
@given(case=blocks.blocks(max_n=30), data=st.data())
def test_a_gram_matrix_may_be_filled_in_one_go_or_in_pieces(name, case, data):
    kernel, n, room = kernels.load(name), len(case), len(case.gram)
    whole = np.full((room, room), 7.0, dtype=np.float32)
    kernel.fill_gram(case.rows, 0, whole)
    np.testing.assert_allclose(whole[:n, :n], case.gram[:n, :n], atol=1e-6)
    np.testing.assert_array_equal(whole[:n, :n], whole[:n, :n].T)
    cuts = sorted(data.draw(st.sets(st.integers(1, n - 1), max_size=4)))
    pieces = np.full((room, room), 7.0, dtype=np.float32)
    for old, new in pairwise([0, *cuts, n]):
        kernel.fill_gram(np.ascontiguousarray(case.rows[:new]), old, pieces)
    np.testing.assert_allclose(pieces, whole, rtol=0, atol=1e-6)
    assert (pieces[n:] == 7.0).all()  # room for more rows is left alone
    assert (pieces[:, n:] == 7.0).all()


@every
@given(case=blocks.blocks(max_n=40, spare=0), zeros=st.booleans())
def test_inner_products_and_combinations(name, case, zeros):
    kernel = kernels.load(name)
    direction = case.rng.standard_normal(case.rows.shape[1])
    expected = [sum(a * b for a, b in zip(row, direction, strict=True)) for row in case.rows]
    np.testing.assert_allclose(kernel.inner(case.rows, direction), expected, atol=1e-12)
    where = case.rng.integers(len(case), size=5)
    for rows in (case.rows, case.rows.astype(np.float32)):
        exact = np.array([sum(float(a) * b for a, b in zip(rows[i], direction, strict=True)) for i in where])
        np.testing.assert_allclose(kernel.inner_at(rows, where, direction), exact, atol=1e-12)
    weights = case.rng.standard_normal(len(case)) * (case.rng.integers(2, size=len(case)) if zeros else 1)
    expected = sum((weight * row for weight, row in zip(weights, case.rows, strict=True)), np.zeros(len(direction)))
    np.testing.assert_allclose(kernel.combine(weights, case.rows), expected, atol=1e-12)


@every
@given(seed=st.integers(0, 2**32 - 1), d=st.integers(1, 70))
def test_copies_of_a_row_get_the_same_inner_product(name, seed, d):
    """Wherever they stand, and however many rows are asked about together."""
    rng = np.random.default_rng(seed)
    distinct = rng.standard_normal((5, d))
    which = rng.integers(5, size=37)
    direction = rng.standard_normal(d)
    kernel = kernels.load(name)
    alone = np.concatenate([kernel.inner(row[None], direction) for row in distinct])
    np.testing.assert_array_equal(kernel.inner(distinct[which], direction), alone[which])


@every
@settings(max_examples=40)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.sampled_from([1, 2, 3, 7, 255, 256, 257, 600]),
    d=st.integers(1, 40),
    b=st.integers(1, 9),
    dtype=st.sampled_from([np.int8, np.float32]),
)
def test_a_scan_scores_all_rows(name, seed, n, d, b, dtype):
    rng = np.random.default_rng(seed)
    whole = rng.integers(-127, 128, size=(n, d)).astype(dtype)
    rows = whole if dtype == np.int8 else whole / np.float32(64.0)
    scales = rng.uniform(0.001, 1.0, size=n).astype(np.float32)
    directions = rng.standard_normal((b, d)).astype(np.float32)
    room = np.full((b, n + 5), np.nan, dtype=np.float32)
    kernels.load(name).scan(rows, scales, directions, room[:, 3 : n + 3])  # callers hand over parts of an array
    exact = (directions.astype(np.float64) @ rows.astype(np.float64).T) * scales
    size = np.linalg.norm(directions, axis=1)[:, None] * np.linalg.norm(rows.astype(np.float64), axis=1) * scales
    assert (np.abs(room[:, 3 : n + 3] - exact) <= 1e-6 * size + 1e-12).all()
    assert np.isnan(room[:, :3]).all()
    assert np.isnan(room[:, n + 3 :]).all()


@every
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 60),
    length=st.sampled_from([0.0, 0.5, 4.0]),
    rounding=st.sampled_from([0.0, 0.25]),
    least=st.sampled_from([-np.inf, -2.0, 0.0, 0.5, 100.0]),
)
def test_sifting_keeps_what_may_reach(name, seed, n, length, rounding, least):
    """On a grid, where a sum that just reaches is exact."""
    rng = np.random.default_rng(seed)
    scores = (rng.integers(-16, 17, size=n) / 8).astype(np.float32)
    errors = (rng.integers(0, 5, size=n) / 4).astype(np.float32)
    positions, reaches = kernels.load(name).sift(scores, errors, length, rounding, least)
    expected = [i for i in range(n) if scores[i] + length * errors[i] + rounding >= least]
    assert positions.tolist() == expected
    assert reaches.tolist() == [length * errors[i] + rounding for i in expected]
    assert reaches.dtype == np.float32


def gather(kernel, seed, n, words, room, keep):
    """Gather from all rows; lists that are full are emptied. The scores of all rows, those in the lists, and the bars.

    Scales and factors are powers of two, so that a sum that just reaches is exact.
    """
    rng = np.random.default_rng(seed)
    b = int(rng.choice([kernel.CODED // 4, kernel.CODED // 2, kernel.CODED])) or 5
    codes = rng.integers(-127, 128, (n, 4 * words)).astype(np.int8)
    directions = rng.integers(-127, 128, (b, 4 * words))
    scales, factors = (2.0 ** rng.integers(-9, -6, size).astype(np.float64) for size in (n, b))
    errors, lengths = rng.integers(0, 5, n) / 4, rng.integers(0, 3, b) / 2
    scores = scales[:, None] * factors * (codes.astype(np.int64) @ directions.T)
    bars = scores[rng.integers(n, size=b), np.arange(b)]
    bars[:2] = -np.inf, np.inf
    packed = np.ascontiguousarray((directions + 128).astype(np.uint8).reshape(b, words, 4).transpose(1, 0, 2))
    scaled = [array.astype(np.float32) for array in (scales, errors)]
    directed = [array.astype(np.float32) for array in (factors, lengths, np.full(b, 0.25))]
    found, raised = [{} for _ in range(b)], bars.astype(np.float32)
    positions, kept = np.full((b, room), -1), np.empty((b, room), dtype=np.float32)
    row = 0
    while row < n:
        counts, before = np.zeros(b, dtype=np.int64), row
        row = kernel.gather(
            codes, *scaled, packed, *directed, np.full(b, keep), row, raised, positions, kept, counts
        )  # fmt: skip
        assert before < row <= n
        for j, count in enumerate(counts):
            assert (np.diff(positions[j, :count]) > 0).all()
            found[j] |= dict(zip(positions[j, :count].tolist(), kept[j, :count].tolist(), strict=True))
    return scores, lengths * errors[:, None], found, bars, raised


@every
@settings(max_examples=30)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 60), words=st.integers(1, 20), room=st.integers(8, 80))
def test_gathering_lists_what_reaches_the_bar_of_each_direction(name, seed, n, words, room):
    scores, margins, found, bars, raised = gather(kernels.load(name), seed, n, words, room, keep=room + 1)
    np.testing.assert_array_equal(raised, bars.astype(np.float32))
    for j, listed in enumerate(found):
        near = np.flatnonzero(scores[:, j] + margins[:, j] >= bars[j])
        assert listed == {int(i): scores[i, j] for i in near}


@every
@settings(max_examples=30)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 400), room=st.integers(16, 64), keep=st.integers(1, 12))
def test_gathering_leaves_out_only_what_cannot_be_among_the_best(name, seed, n, room, keep):
    scores, margins, found, bars, raised = gather(kernels.load(name), seed, n, 3, room, keep)
    assert (raised >= bars.astype(np.float32)).all()
    for j, listed in enumerate(found):
        lower, upper = scores[:, j] - margins[:, j] - 0.25, scores[:, j] + margins[:, j] + 0.25
        best = np.sort(lower)[-keep] if keep <= n else -np.inf
        near = np.flatnonzero((upper >= best) & (upper - 0.25 >= bars[j]))
        assert set(near.tolist()) <= set(listed)
        assert all(value == scores[i, j] and upper[i] - 0.25 >= bars[j] for i, value in listed.items())


@every
@pytest.mark.skipif(not hasattr(os, "preadv"), reason="this system maps files instead of reading rows")
@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int8])
@pytest.mark.parametrize("base", [0, 13])
def test_rows_of_a_file(name, rng, tmp_path, dtype, base):
    rows = (100 * rng.standard_normal((40, 6))).astype(dtype)
    path = tmp_path / "rows"
    path.write_bytes(b"x" * base + rows.tobytes())
    read = kernels.load(name).read_rows
    with path.open("rb") as file:
        for ids in (np.array([3]), np.array([39, 0, 7, 7]), np.arange(40), np.arange(0, 40, 3), np.arange(0)):
            out = np.zeros((len(ids), 6), dtype=dtype)
            assert read(file.fileno(), ids, base, out)
            np.testing.assert_array_equal(out, rows[ids])
        assert not read(file.fileno(), np.array([3, 40]), base, np.zeros((2, 6), dtype=dtype))
        assert not read(file.fileno(), np.array([39]), base + 1, np.zeros((1, 6), dtype=dtype))


# One like the other


def run_all(kernel, case: Case, start, first):
    """Everything that decides, on one block."""
    picks, chosen = np.full(case.k, first), start.copy()
    kernel.greedy(*case.block, picks, 1)
    count = kernel.swap(*case.block, chosen, LEAST, 1000)
    search = Search(kernel, case, start)
    search.run(60)
    return picks.tolist(), count, chosen.tolist(), search.state()


@without_numba
@given(case=blocks.blocks(max_n=40))
def test_all_implementations_decide_alike(case):
    """Bit by bit: sets, swap counts, and the whole state of a search."""
    start = case.draw_set()
    outcomes = [run_all(kernels.load(name), case, start, int(start[0])) for name in kernels.NAMES]
    assert outcomes[1:] == outcomes[:-1]


@without_numba
@pytest.mark.parametrize("shape", sorted(SHAPES))
@pytest.mark.parametrize("k", [2, 9, 40])
def test_all_implementations_decide_alike_on_larger_blocks(rng, shape, k):
    E = SHAPES[shape](rng, 300, 24).astype(np.float64)
    gram = (E @ E.T).astype(np.float32)
    case = Case(E, 0.5 * (k - 1) * (E @ E[0]), gram, k, 1.0, rng)
    start = case.draw_set()
    outcomes = [run_all(kernels.load(name), case, start, int(start[0])) for name in kernels.NAMES]
    assert outcomes[1:] == outcomes[:-1]


@without_numba
@pytest.mark.parametrize("make", [clustered, duplicated])
@pytest.mark.parametrize("k", [3, 30])
def test_all_implementations_compute_alike(rng, make, k):
    """Numbers agree to the precision of their type, and the relaxation takes the same steps."""
    E = make(rng, 200, 24).astype(np.float64)
    grams, points, values = [], [], []
    for name in kernels.NAMES:
        kernel = kernels.load(name)
        gram = np.empty((200, 200), dtype=np.float32)
        kernel.fill_gram(E, 0, gram)
        x = np.zeros(200)
        x[:k] = 1.0
        linear = 0.5 * (k - 1) * kernel.inner(E, E[0])
        values.append(
            kernel.relax(linear, grams[0] if grams else gram, k, 1.0, one_part(200, k), x, 0.0, 0.0, 1e-9, 256)
        )
        grams.append(gram)
        points.append(x)
    for gram, x, value in zip(grams[1:], points[1:], values[1:], strict=True):
        np.testing.assert_allclose(gram, grams[0], rtol=0, atol=2e-7)
        np.testing.assert_allclose(x, points[0], rtol=0, atol=1e-6)
        assert value == pytest.approx(values[0], abs=1e-8)
