"""What is special to arrays: blocks, ties, memory-mapped arrays, and outside scores in full precision."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import breadth.oracles.array as array_module
from breadth import ArrayOracle
from breadth.testing.promises import assert_mean, assert_rows, assert_scores, assert_top
from tests.synthetic import duplicated, isotropic


def expected_top(scores, m):
    """Largest first; ties to the lower id."""
    return np.lexsort((np.arange(len(scores)), -scores))[:m]


@given(st.integers(1, 60), st.integers(1, 7), st.integers(0, 2**32 - 1), st.integers(1, 60))
def test_ties_go_to_the_lower_id_whatever_the_blocks(n, block_rows, seed, m):
    rng = np.random.default_rng(seed)
    E = duplicated(rng, n, 4).astype(np.float64)
    oracle = ArrayOracle(E)
    oracle._block = block_rows
    # Directions along an axis make the scores of copies identical in every block size.
    w = np.eye(4)[0]
    ids, _ = oracle.top(w[None], min(m, n))
    np.testing.assert_array_equal(ids[0], expected_top(E[:, 0], min(m, n)))


@given(st.integers(1, 60), st.integers(1, 7), st.integers(0, 2**32 - 1), st.sampled_from(["f2", "f4", "f8"]))
def test_answers_do_not_depend_on_the_blocks(n, block_rows, seed, dtype):
    rng = np.random.default_rng(seed)
    E = isotropic(rng, n, 4).astype(dtype)
    W, relevance = rng.standard_normal((3, 5)), rng.standard_normal(n)
    for oracle, rows, directions in (
        (ArrayOracle(E), E, W[:, :4]),
        (ArrayOracle(E).with_scores(relevance), np.column_stack((E, relevance)), W),
    ):
        oracle._block = block_rows
        assert_top(oracle, rows, directions, (n + 1) // 2)
        assert_scores(oracle, rows, directions)
        assert_mean(oracle, rows)


def test_more_directions_than_one_pass_takes(rng, monkeypatch):
    monkeypatch.setattr(array_module, "_DIRECTIONS", 3)
    E = isotropic(rng, 50, 8)
    W = rng.standard_normal((8, 8))
    assert_top(ArrayOracle(E), E, W, 4)


def test_rows_of_another_oracle_become_one_without_a_check(rng):
    E = isotropic(rng, 30, 6)
    rows = np.column_stack((E.astype(np.float64), rng.standard_normal(30)))
    for block, expected in ((ArrayOracle.over_block(rows, 6), rows), (ArrayOracle.over_block(E, None), E)):
        assert_top(block, expected, rng.standard_normal((2, expected.shape[1])), 10)
        assert_rows(block, expected, np.array([3, 1, 1]))
        assert block.length_error == pytest.approx(0, abs=1e-6)
    assert ArrayOracle.over_block(2 * E, None).length_error == pytest.approx(3)


def test_large_outside_scores_are_ranked_as_they_are(rng):
    oracle = ArrayOracle(isotropic(rng, 4, 8)).with_scores(np.array([16777216.0, 16777217.0, 0, 99999999.0]))
    ids, scores = oracle.top(np.eye(9)[8:], 3)
    assert ids.tolist() == [[3, 1, 0]]
    assert scores[0, 1] == 16777217.0


def test_the_mean_that_is_kept_cannot_be_changed(rng):
    oracle = ArrayOracle(isotropic(rng, 4, 8))
    with pytest.raises(ValueError, match="read-only"):
        oracle.mean()[0] = 1


def test_a_memory_mapped_array_is_read_where_it_lies(rng, tmp_path):
    path = tmp_path / "rows.npy"
    E = isotropic(rng, 20_000, 128)
    np.save(path, E)
    mapped = np.load(path, mmap_mode="r")
    tracemalloc.start()
    oracle = ArrayOracle(mapped)
    ids, _ = oracle.top(E[:1], 10)
    oracle.mean()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert ids[0, 0] == 0
    assert peak < E.nbytes / 4


def test_rows_of_a_wider_array_are_taken_without_a_copy(rng):
    wide = np.zeros((10, 8), dtype=np.float32)
    wide[:, :5] = isotropic(rng, 10, 5)
    oracle = ArrayOracle(wide[:, :5])
    assert oracle._array.base is wide
    assert oracle.top(wide[3:4, :5], 1)[0][0, 0] == 3
