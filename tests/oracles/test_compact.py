"""What is special to the compact oracle: its kernels, its blocks, its file, and processes that share it."""

from __future__ import annotations

import multiprocessing
import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import breadth
from breadth import ArrayOracle, InputError
from breadth.oracles import CompactOracle, reach
from breadth.oracles.compact import oracle as module
from breadth.testing.promises import assert_above, assert_mean, assert_rows, assert_top, brute_force
from tests.synthetic import SHAPES, clustered, isotropic, query_near


@pytest.mark.parametrize("shape", sorted(SHAPES))
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_every_kernel_gives_the_answers_of_a_full_scan(rng, core, shape, dtype):
    E = SHAPES[shape](rng, 900, 40).astype(dtype)
    W = 4 * rng.standard_normal((11, 40))
    compact = CompactOracle.build(E)
    assert_top(compact, E, W, 30)
    assert_mean(compact, E)
    thresholds = np.quantile(brute_force(E, W), 0.7, axis=1)
    for most in (20, 300, 1800):
        assert_above(compact, E, W, thresholds, np.full(11, most))
        assert_above(compact, E, W, thresholds, np.full(11, most), within=np.arange(0, 900, 2))


@settings(max_examples=60)
@given(st.integers(1, 200), st.integers(1, 12), st.integers(0, 2**32 - 1), st.data())
def test_answers_do_not_depend_on_the_blocks(n, d, seed, data):
    rng = np.random.default_rng(seed)
    E = isotropic(rng, n, d)
    W = rng.standard_normal((3, d)) * data.draw(st.sampled_from([0.01, 1.0, 50.0]))
    thresholds = [data.draw(st.sampled_from([*np.quantile(line, [0, 0.5, 1]), -np.inf])) for line in brute_force(E, W)]
    most = [data.draw(st.integers(1, 2 * n)) for _ in W]
    within = np.sort(rng.choice(n, data.draw(st.integers(1, n)), replace=False)) if data.draw(st.booleans()) else None
    block = data.draw(st.integers(1, 64))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_BLOCK", block)
        patch.setattr(module, "_QUANTISE", block)
        compact = CompactOracle.build(E)
        assert_top(compact, E, W, data.draw(st.integers(1, n)))
        assert_above(compact, E, W, np.array(thresholds), np.array(most), within)
        assert_mean(compact, E)
        assert_mean(compact.restricted(np.arange(0, n, 2)), E[::2])


@pytest.mark.parametrize(("n", "d"), [(1, 4), (3, 8), (4, 6), (9, 64), (3000, 12), (20_000, 32)])
@pytest.mark.parametrize("count", [8, 33, 64, 130])
def test_many_directions_at_once(rng, n, d, count):
    """Copies and near-copies, directions of all lengths, one that is 0, and several passes."""
    E = clustered(rng, n, d)
    E[n // 2 :] = E[: n - n // 2]
    W = rng.standard_normal((count, d)) * 10.0 ** rng.uniform(-3, 3, (count, 1))
    W[3], W[4] = 0.0, E[0]
    compact = CompactOracle.build(E)
    for m in (1, 25, 5000):
        assert_top(compact, E, W, m)
    thresholds = np.quantile(brute_force(E, W), 0.9, axis=1)
    for most in (1, max(40, n // 10), 2 * n):
        assert_above(compact, E, W, thresholds, np.full(count, most))


def test_a_sample_that_misleads_costs_a_second_pass_and_nothing_else(rng, core, monkeypatch):
    n, m = 20_000, 200
    E = isotropic(rng, n, 32).astype(np.float32)
    W = isotropic(rng, 12, 32)
    step = n // (reach._WITNESSES * n // (reach._SLACK * m))
    for number, w in enumerate(W[:6]):  # the sample sees near-copies of these directions; hardly any other row is near
        E[step * 12 * number : step * 12 * (number + 1) : step] = w
    passes = []
    sweep = reach._sweep_for_top
    monkeypatch.setattr(reach, "_sweep_for_top", lambda *a: (passes.append(len(a[1])), sweep(*a)))
    assert_top(CompactOracle.build(E), E, W, m)
    assert passes == [12, 6]


def test_the_residual_bounds_every_error(rng):
    E = clustered(rng, 500, 32)
    arrays = CompactOracle.build(E)._arrays
    restored = arrays.scales[:, None] * arrays.codes
    w = rng.standard_normal(32)
    assert (np.abs(E @ w - restored @ w) <= arrays.errors * np.linalg.norm(w) + 1e-6).all()


def test_few_rows_are_touched(rng):
    E = clustered(rng, 20_000, 64)
    compact, touched = CompactOracle.build(E), []
    fetch = compact.rows
    compact.rows = lambda ids: touched.extend(ids) or fetch(ids)
    compact.top(query_near(rng, E)[None], 100)
    assert 100 <= len(touched) < 2000


@pytest.mark.parametrize("theta", [0.5, 0.8])
def test_selections_are_those_of_the_array(rng, core, theta):
    E = clustered(rng, 8000, 48)
    q = query_near(rng, E)
    compact = breadth.select(CompactOracle.build(E), q, k=12, theta=theta, sharpness=1)
    array = breadth.select(ArrayOracle(E), q, k=12, theta=theta, sharpness=1)
    assert compact.certificate.exact
    assert compact.objective == pytest.approx(array.objective, abs=1e-6)
    scores = E.astype(np.float64) @ q
    by_scores = breadth.select(CompactOracle.build(E), scores=scores, k=12, theta=theta, sharpness=1)
    assert by_scores.objective == pytest.approx(array.objective, abs=1e-6)


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_saving_and_opening(rng, core, tmp_path, dtype):
    E = clustered(rng, 3000, 24).astype(dtype)
    built = CompactOracle.build(E)
    steps = []
    built.save(tmp_path / "my.index", progress=lambda done, total: steps.append((done, total)))
    assert steps[-1] == (3000, 3000)
    W = rng.standard_normal((3, 24))
    for opened in (CompactOracle.open(tmp_path / "my.index"), CompactOracle.open(tmp_path / "my.index", verify=True)):
        for ours, theirs in zip(opened.top(W, 9), built.top(W, 9), strict=True):
            np.testing.assert_array_equal(ours, theirs)
        np.testing.assert_array_equal(opened.mean(), built.mean())
        assert opened.length_error == built.length_error
        assert_rows(opened, E, np.array([2999, 0, 7, 0]))
    assert [p.name for p in tmp_path.iterdir()] == ["my.index"]


def test_a_memory_mapped_array_is_built_with_progress(rng, tmp_path):
    E = isotropic(rng, 40_000, 16)
    np.save(tmp_path / "rows.npy", E)
    seen = []
    compact = CompactOracle.build(
        np.load(tmp_path / "rows.npy", mmap_mode="r"), progress=lambda done, total: seen.append((done, total))
    )
    assert seen[-1] == (40_000, 40_000)
    assert len(seen) > 1
    assert_top(compact, E, E[:2], 5)


def test_an_interrupted_save_leaves_what_was_there(rng, tmp_path):
    path = tmp_path / "my.index"
    CompactOracle.build(isotropic(rng, 50, 8)).save(path)

    def interrupt(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        CompactOracle.build(isotropic(rng, 70, 8)).save(path, progress=interrupt)
    assert CompactOracle.open(path, verify=True).size == 50
    assert [p.name for p in tmp_path.iterdir()] == ["my.index"]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_a_stream_of_chunks_becomes_the_same_oracle(rng, tmp_path, dtype):
    E = clustered(rng, 900, 24).astype(dtype)
    seen = []
    chunks = (E[start : start + 250] for start in range(0, 900, 250))
    streamed = CompactOracle.stream(chunks, tmp_path / "my.index", progress=seen.append)
    assert seen == [250, 500, 750, 900]
    kept = E if dtype == np.float16 else E.astype(np.float32)
    assert_top(streamed, kept, rng.standard_normal((3, 24)), 20)
    built = CompactOracle.build(kept)
    np.testing.assert_array_equal(streamed.rows(np.arange(900)), built.rows(np.arange(900)))
    np.testing.assert_allclose(streamed.mean(), built.mean(), atol=1e-12)
    assert streamed.length_error == built.length_error
    assert [p.name for p in tmp_path.iterdir()] == ["my.index"]
    CompactOracle.open(tmp_path / "my.index", verify=True)


def test_a_stream_that_breaks_leaves_no_file(rng, tmp_path):
    def breaking():
        yield isotropic(rng, 10, 4)
        raise KeyboardInterrupt

    for chunks, error in (
        (breaking(), KeyboardInterrupt),
        ([], InputError),
        ([isotropic(rng, 5, 4), isotropic(rng, 5, 3)], InputError),
        ([isotropic(rng, 5, 4), 2 * isotropic(rng, 5, 4)], InputError),
    ):
        with pytest.raises(error):
            CompactOracle.stream(chunks, tmp_path / "my.index")
        assert list(tmp_path.iterdir()) == []
    with pytest.raises(InputError, match="row 5 has length 2"):
        CompactOracle.stream([isotropic(rng, 5, 4), 2 * isotropic(rng, 5, 4)], tmp_path / "my.index")
    with pytest.raises(InputError, match="there is no folder"):
        CompactOracle.stream([isotropic(rng, 5, 4)], tmp_path / "nowhere" / "my.index")


def test_threads_and_forked_processes_can_search(rng, tmp_path):
    E = clustered(rng, 20_000, 32)
    CompactOracle.build(E).save(tmp_path / "my.index")
    oracle = CompactOracle.open(tmp_path / "my.index")
    queries = [query_near(rng, E) for _ in range(6)]
    alone = [breadth.select(oracle, q, k=5, sharpness=1).ids.tolist() for q in queries]
    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(lambda q: breadth.select(oracle, q, k=5, sharpness=1).ids.tolist(), queries)) == alone
    if hasattr(os, "fork"):
        with multiprocessing.get_context("fork").Pool(2) as workers:
            found = workers.starmap(_chosen, [(tmp_path / "my.index", q) for q in queries])
        assert found == alone


def _chosen(path, q):
    return breadth.select(CompactOracle.open(path), q, k=5, sharpness=1).ids.tolist()
