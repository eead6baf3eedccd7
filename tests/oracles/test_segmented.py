"""What is special to segments: any number of them, of any size, whole or in part, answer like one array."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import breadth
from breadth import ArrayOracle, CompactOracle, InputError
from breadth.oracles.segmented import SegmentedOracle
from breadth.testing.promises import assert_above, assert_mean, assert_rows, assert_top, brute_force
from tests.synthetic import clustered, isotropic, query_near


@settings(max_examples=30)
@given(st.lists(st.integers(1, 40), min_size=1, max_size=4), st.integers(2, 8), st.integers(0, 2**32 - 1), st.data())
def test_the_answers_of_one_array(sizes, d, seed, data):
    rng = np.random.default_rng(seed)
    blocks = [isotropic(rng, n, d) for n in sizes]
    kept = [np.flatnonzero(rng.random(n) < data.draw(st.sampled_from([0.5, 1.0]))) for n in sizes]
    if sum(map(len, kept)) == 0:
        kept[0] = np.arange(sizes[0])
    parts = [CompactOracle.build(block).restricted(ids) for block, ids in zip(blocks, kept, strict=True)]
    E = np.concatenate([block[ids] for block, ids in zip(blocks, kept, strict=True)])
    oracle = SegmentedOracle(parts, np.arange(len(E)))
    W = rng.standard_normal((3, d))
    m = data.draw(st.integers(1, len(E)))
    some = rng.permutation(len(E))[:m]
    exact = brute_force(E, W)
    assert_top(oracle, E, W, m)
    assert_rows(oracle, E, some)
    assert_mean(oracle, E)
    np.testing.assert_allclose(oracle.exact_scores(W[0]), exact[0], atol=1e-5)
    within = np.sort(some) if data.draw(st.booleans()) else None
    most = np.full(3, data.draw(st.sampled_from([1, len(E), 2 * len(E)])))
    assert_above(oracle, E, W, np.quantile(exact, 0.6, axis=1), most, within)


@pytest.mark.parametrize("theta", [0.5, 0.7, 0.9])
def test_selections_are_those_of_one_array(rng, theta):
    E = clustered(rng, 3000, 24)
    oracle = SegmentedOracle(
        [CompactOracle.build(E[a:b]) for a, b in ((0, 900), (900, 1000), (1000, 3000))], np.arange(3000)
    )
    q = query_near(rng, E)
    ours, array = (breadth.select(o, q, k=7, theta=theta, sharpness=1) for o in (oracle, ArrayOracle(E)))
    assert ours.objective == pytest.approx(array.objective, abs=1e-3)
    assert ours.certificate.exact
    scored = breadth.select(oracle, scores=E @ q, k=7, theta=theta, sharpness=1)
    assert scored.objective == pytest.approx(ours.objective, abs=1e-3)


def test_only_increasing_ids_restrict(rng):
    oracle = CompactOracle.build(isotropic(rng, 10, 4))
    twice = oracle.restricted(np.array([1, 3, 5, 7])).restricted(np.array([0, 2]))
    np.testing.assert_array_equal(twice.rows(np.array([0, 1])), oracle.rows(np.array([1, 5])))
    for ids in ([3, 1], [0, 10], [-1, 2], [2, 2]):
        with pytest.raises(InputError, match="ids must increase"):
            oracle.restricted(np.array(ids))


def test_a_restricted_oracle_can_be_saved(rng, tmp_path):
    E = isotropic(rng, 60, 6)
    part = CompactOracle.build(E).restricted(np.arange(0, 60, 3))
    part.save(tmp_path / "part.compact")
    again = CompactOracle.open(tmp_path / "part.compact", verify=True)
    np.testing.assert_array_equal(again.rows(np.arange(20)), E[::3])
    np.testing.assert_allclose(again.mean(), E[::3].astype(np.float64).mean(axis=0), atol=1e-6)
