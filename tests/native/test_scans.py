"""One suite for the compiled core and for NumPy instead: what `_core.pyi` promises of scans and products."""

from __future__ import annotations

import os
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from breadth import native
from tests import cores
from tests.synthetic import clustered

every = pytest.mark.parametrize("name", cores.NAMES)
needs_codes = pytest.mark.skipif(
    native.core.CODED == 0, reason="this processor has no instruction for products of bytes, or the core was not built"
)


@every
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 30), d=st.integers(1, 40), data=st.data())
def test_a_gram_matrix_may_be_filled_in_one_go_or_in_pieces(name, seed, n, d, data):
    core, rng = cores.load(name), np.random.default_rng(seed)
    rows = clustered(rng, max(n, 2), d).astype(np.float32)[:n]
    whole = np.full((n + 2, n + 2), 7.0, dtype=np.float32)
    core.fill_gram(rows, 0, whole)
    np.testing.assert_allclose(whole[:n, :n], rows.astype(np.float64) @ rows.astype(np.float64).T, atol=1e-6)
    np.testing.assert_array_equal(whole[:n, :n], whole[:n, :n].T)
    cuts = sorted(data.draw(st.sets(st.integers(1, n), max_size=4)) - {n})
    pieces = np.full((n + 2, n + 2), 7.0, dtype=np.float32)
    for old, new in pairwise([0, *cuts, n]):
        core.fill_gram(np.ascontiguousarray(rows[:new]), old, pieces)
    np.testing.assert_allclose(pieces, whole, rtol=0, atol=1e-6)
    assert (pieces[n:] == 7.0).all()  # room for more rows is left alone
    assert (pieces[:, n:] == 7.0).all()


@every
@given(seed=st.integers(0, 2**32 - 1), d=st.integers(1, 70))
def test_copies_of_a_row_get_the_same_inner_product(name, seed, d):
    """Wherever they stand, and however many rows are asked about together."""
    core, rng = cores.load(name), np.random.default_rng(seed)
    distinct = rng.standard_normal((5, d)).astype(np.float32)
    which = rng.integers(5, size=37)
    direction = rng.standard_normal(d)
    alone = np.concatenate([core.inner_at(distinct, np.array([row]), direction) for row in range(5)])
    np.testing.assert_allclose(alone, distinct.astype(np.float64) @ direction, atol=1e-12)
    found = core.inner_at(np.ascontiguousarray(distinct[which]), np.arange(37), direction)
    np.testing.assert_array_equal(found, alone[which])


@every
@settings(max_examples=40)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.sampled_from([1, 2, 3, 7, 255, 256, 257, 600]),
    d=st.integers(1, 40),
    b=st.integers(1, 9),
    dtype=st.sampled_from([np.int8, np.float16, np.float32]),
)
def test_a_scan_scores_all_rows(name, seed, n, d, b, dtype):
    rng = np.random.default_rng(seed)
    whole = rng.integers(-127, 128, size=(n, d)).astype(dtype)
    rows = whole if dtype == np.int8 else (whole / 64.0).astype(dtype)
    scales = rng.uniform(0.001, 1.0, size=n).astype(np.float32) if seed % 2 else None
    directions = rng.standard_normal((b, d)).astype(np.float32)
    room = np.full((b, n + 5), np.nan, dtype=np.float32)
    core = cores.load(name)
    scan, seen = (core.scan_halves, rows.view(np.uint16)) if dtype == np.float16 else (core.scan, rows)
    scan(seen, scales, directions, room[:, 3 : n + 3])  # callers hand over parts of an array
    factors = 1.0 if scales is None else scales
    exact = (directions.astype(np.float64) @ rows.astype(np.float64).T) * factors
    size = np.linalg.norm(directions, axis=1)[:, None] * np.linalg.norm(rows.astype(np.float64), axis=1) * factors
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
    positions, reaches = cores.load(name).sift(scores, errors, length, rounding, least)
    expected = [i for i in range(n) if scores[i] + length * errors[i] + rounding >= least]
    assert positions.tolist() == expected
    assert reaches.tolist() == [length * errors[i] + rounding for i in expected]
    assert reaches.dtype == np.float32


def gather(core, seed, n, words, room, keep):
    """Gather from all rows; lists that are full are emptied. The scores of all rows, those in the lists, and the bars.

    Scales and factors are powers of two, so that a sum that just reaches is exact.
    """
    rng = np.random.default_rng(seed)
    b = int(rng.choice([core.CODED // 4, core.CODED // 2, core.CODED]))
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
        row = core.gather(
            codes, *scaled, packed, *directed, np.full(b, keep), row, raised, positions, kept, counts
        )  # fmt: skip
        assert before < row <= n
        for j, count in enumerate(counts):
            assert (np.diff(positions[j, :count]) > 0).all()
            found[j] |= dict(zip(positions[j, :count].tolist(), kept[j, :count].tolist(), strict=True))
    return scores, lengths * errors[:, None], found, bars, raised


@needs_codes
@settings(max_examples=30)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 60), words=st.integers(1, 20), room=st.integers(8, 80))
def test_gathering_lists_what_reaches_the_bar_of_each_direction(seed, n, words, room):
    scores, margins, found, bars, raised = gather(native.core, seed, n, words, room, keep=room + 1)
    np.testing.assert_array_equal(raised, bars.astype(np.float32))
    for j, listed in enumerate(found):
        near = np.flatnonzero(scores[:, j] + margins[:, j] >= bars[j])
        assert listed == {int(i): scores[i, j] for i in near}


@needs_codes
@settings(max_examples=30)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 400), room=st.integers(16, 64), keep=st.integers(1, 12))
def test_gathering_leaves_out_only_what_cannot_be_among_the_best(seed, n, room, keep):
    scores, margins, found, bars, raised = gather(native.core, seed, n, 3, room, keep)
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
    read = cores.load(name).read_rows
    with path.open("rb") as file:
        for ids in (np.array([3]), np.array([39, 0, 7, 7]), np.arange(40), np.arange(0, 40, 3), np.arange(0)):
            out = np.zeros((len(ids), 6), dtype=dtype)
            assert read(file.fileno(), ids, base, out)
            np.testing.assert_array_equal(out, rows[ids])
        assert not read(file.fileno(), np.array([3, 40]), base, np.zeros((2, 6), dtype=dtype))
        assert not read(file.fileno(), np.array([39]), base + 1, np.zeros((1, 6), dtype=dtype))
