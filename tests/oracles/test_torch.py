"""What is special to torch: tensors of every precision, chunks of any size, and the methods on top of it."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import breadth
from breadth import ArrayOracle, InputError
from breadth.oracles import TorchOracle
from breadth.testing.promises import assert_mean, assert_rows, assert_scores, assert_top
from tests.synthetic import clustered, isotropic, query_near


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.float64])
@pytest.mark.parametrize("chunk", [1, 7, 500, None])
def test_answers_do_not_depend_on_the_chunks(rng, dtype, chunk):
    stored = torch.from_numpy(clustered(rng, 300, 24)).to(dtype)
    oracle = TorchOracle(stored, device="cpu", chunk=chunk)
    E = stored.to(torch.float32).numpy()
    W = 3 * rng.standard_normal((5, 24))
    assert_top(oracle, E, W, 40)
    assert_scores(oracle, E, W)
    assert_mean(oracle, E)
    assert_rows(oracle, E, np.array([9, 2]))


@pytest.mark.parametrize("method", breadth.methods())
def test_every_method_runs_on_it_as_on_an_array(rng, method):
    E = isotropic(rng, 14 if method == "exact" else 400, 16)
    q = query_near(rng, E)
    ours = breadth.select(TorchOracle(E, chunk=100), q, k=4, method=method, sharpness=1)
    array = breadth.select(ArrayOracle(E), q, k=4, method=method, sharpness=1)
    assert ours.objective == pytest.approx(array.objective, abs=1e-5)


def test_relevance_from_outside(rng):
    E = clustered(rng, 500, 16)
    scores = rng.random(500)
    ours = breadth.select(TorchOracle(E, chunk=90), scores=scores, k=6, theta=0.6, sharpness=1)
    assert ours.objective == pytest.approx(
        breadth.select(E, scores=scores, k=6, theta=0.6, sharpness=1).objective, abs=1e-6
    )


def test_wrong_tensors_and_options_are_refused(rng):
    E = isotropic(rng, 10, 4)
    with pytest.raises(InputError, match="row 3 has length 2"):
        TorchOracle(torch.from_numpy(np.where(np.arange(10)[:, None] == 3, 2 * E, E)))
    with pytest.raises(InputError, match="2-D tensor"):
        TorchOracle(torch.zeros(3))
    with pytest.raises(InputError, match=r"vectors must be float32.*int64"):
        TorchOracle(torch.ones((2, 2), dtype=torch.int64))
    with pytest.raises(InputError, match=r"dtype must be float32.*int8"):
        TorchOracle(E, dtype=torch.int8)
    with pytest.raises(InputError, match="chunk must be at least 1"):
        TorchOracle(E, chunk=0)


def test_a_memory_mapped_array_is_accepted(rng, tmp_path):
    E = isotropic(rng, 50, 8)
    np.save(tmp_path / "rows.npy", E)
    oracle = TorchOracle(np.load(tmp_path / "rows.npy", mmap_mode="r"), dtype=torch.float16)
    np.testing.assert_allclose(oracle.rows(np.arange(50)), E, atol=1e-3)
