from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import breadth.oracles.array as array_module
from breadth import ArrayOracle, InputError
from breadth.oracles import Oracle, ScoringOracle, describe
from breadth.oracles.protocol import RelevanceOracle
from tests.synthetic import duplicated, isotropic


def expected_top(scores, m):
    """Largest first; ties to the lower id."""
    return np.lexsort((np.arange(len(scores)), -scores))[:m]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("directions", [1, 2, 5])
def test_top_rows_mean_and_scores(rng, dtype, directions):
    E = isotropic(rng, 300, 16).astype(dtype)
    oracle = ArrayOracle(E)
    W = 3 * rng.standard_normal((directions, 16))
    wide = E.astype(np.float64)
    ids, scores = oracle.top(W, 20)
    assert ids.dtype == np.int64
    for row_ids, row_scores, w in zip(ids, scores, W, strict=True):
        np.testing.assert_allclose(row_scores, wide[row_ids] @ w, atol=1e-5)
        np.testing.assert_allclose(row_scores, np.sort(wide @ w)[::-1][:20], atol=1e-5)
    np.testing.assert_allclose(oracle.scores(W), W @ wide.T, atol=1e-5)
    np.testing.assert_array_equal(oracle.rows(np.array([5, 1, 5])), wide[[5, 1, 5]])
    np.testing.assert_allclose(oracle.mean(), wide.mean(axis=0), atol=1e-6)
    assert (oracle.size, oracle.dim, oracle.exact) == (300, 16, True)


def test_it_has_all_optional_abilities(rng):
    oracle = ArrayOracle(isotropic(rng, 5, 3))
    assert isinstance(oracle, Oracle)
    assert isinstance(oracle, ScoringOracle)
    assert isinstance(oracle, RelevanceOracle)
    assert describe(oracle).max_squared_norm == pytest.approx(1, abs=1e-6)
    assert describe(ArrayOracle(oracle._array.astype(np.float16))).length_error > 1e-5


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


def test_more_directions_than_one_pass_takes(rng, monkeypatch):
    monkeypatch.setattr(array_module, "_DIRECTIONS", 3)
    E = isotropic(rng, 50, 8)
    W = rng.standard_normal((8, 8))
    ids, _ = ArrayOracle(E).top(W, 4)
    for found, w in zip(ids, W, strict=True):
        assert set(found) == set(expected_top(E @ w, 4))


def test_relevance_is_one_more_coordinate(rng):
    E = isotropic(rng, 40, 6)
    relevance = rng.standard_normal(40)
    plain = ArrayOracle(E)
    oracle = plain.with_scores(relevance)
    assert oracle.dim == 7
    wide = np.column_stack((E, relevance))
    W = rng.standard_normal((3, 7))
    for directions in (W, W[:1]):
        _, scores = oracle.top(directions, 5)
        np.testing.assert_allclose(scores, np.sort(directions @ wide.T)[:, ::-1][:, :5], atol=1e-5)
    np.testing.assert_allclose(oracle.scores(W), W @ wide.T, atol=1e-5)
    np.testing.assert_allclose(oracle.rows(np.arange(40)), wide, atol=1e-6)
    np.testing.assert_allclose(oracle.mean(), wide.mean(axis=0), atol=1e-6)
    assert plain.dim == 6
    # Outside scores keep their precision, whatever the rows' is.
    np.testing.assert_array_equal(oracle.rows(np.arange(40))[:, 6], relevance)


def test_large_outside_scores_are_ranked_as_they_are(rng):
    oracle = ArrayOracle(isotropic(rng, 4, 8)).with_scores(np.array([16777216.0, 16777217.0, 0, 1e39]))
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


def test_an_oracle_checks_its_rows_when_it_is_made(rng):
    E = isotropic(rng, 30, 4)
    for value, message in ((np.nan, "row 7 holds NaN"), (np.inf, "row 7 holds NaN"), (0.0, "row 7 is all zeros")):
        broken = E.copy()
        broken[7] = value
        with pytest.raises(InputError, match=message):
            ArrayOracle(broken)
    with pytest.raises(InputError, match=r"row 0 has length 3, not 1; divide every row"):
        ArrayOracle(3 * E)
