"""Algorithm 1 by searches alone, against the dense transcription of the pseudo-code."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import breadth
from breadth import ArrayOracle, CountingOracle, InputError
from tests import dense
from tests.strategies import instances
from tests.synthetic import SHAPES, query_near


def dense_set(E, c, k, theta, start=None, lam=2.0, T=200):
    x, steps = dense.algorithm1(E, c, k, theta, lam=lam, start=start, T=T, zero=1e-7 * k * (k - 1))
    return set(np.lexsort((np.arange(len(x)), -x))[:k].tolist()), x, steps


@pytest.mark.parametrize("shape", sorted(SHAPES))
@pytest.mark.parametrize("init", ["uniform", "topk"])
@pytest.mark.parametrize("theta", [0.0, 0.3, 0.5, 0.7, 0.9, 1.0])
@pytest.mark.parametrize("k", [2, 10, 40])
def test_same_sets_as_the_dense_form(rng, shape, init, theta, k):
    E = SHAPES[shape](rng, 800, 24).astype(np.float64)
    q = query_near(rng, E)
    c = E @ q
    start = None
    if init == "topk":
        start = np.zeros(len(E))
        start[np.lexsort((np.arange(len(E)), -c))[:k]] = 1
    expected, x, steps = dense_set(E, c, k, theta, start)
    found = breadth.select(E, q, k=k, theta=theta, method="frank_wolfe", init=init)
    if set(found.ids.tolist()) != expected:  # exact ties: other copies, the same value
        assert found.objective == pytest.approx(dense.reported(E, c, expected, theta), abs=1e-5)
    else:
        assert found.stats["iterations"] == steps
        assert found.stats["integral"] == bool(np.isin(x, (0.0, 1.0)).all())


def test_float32_agrees_with_float64(rng):
    E = SHAPES["clustered"](rng, 5000, 64)
    q = query_near(rng, E)
    for theta in (0.3, 0.5, 0.7, 0.9):
        single = breadth.select(E, q, k=20, theta=theta, method="frank_wolfe")
        double = breadth.select(E.astype(np.float64), q, k=20, theta=theta, method="frank_wolfe")
        assert single.objective == pytest.approx(double.objective, abs=1e-5)


@given(instances(thetas=st.floats(0, 0.99)), st.sampled_from(["uniform", "topk"]))
def test_it_ends_at_a_stationary_set(case, init):
    found = breadth.select(case.E, case.q, k=case.k, theta=case.theta, method="frank_wolfe", init=init)
    if not (found.stats["converged"] and found.stats["integral"]):
        return
    w = case.problem().direction(case.E[found.ids].sum(axis=0))
    inner = case.E @ w
    outside = np.setdiff1d(np.arange(len(case.E)), found.ids)
    assert inner[outside].max() <= inner[found.ids].min() + 4 * (1 - case.theta) + 1e-9


def test_every_iteration_is_one_search(rng):
    oracle = CountingOracle(ArrayOracle(SHAPES["clustered"](rng, 2000, 16)))
    q = query_near(rng, oracle._oracle._array)
    found = breadth.select(oracle, q, k=10, theta=0.5, method="frank_wolfe")
    assert oracle.searches == found.stats["scans"] == found.stats["iterations"] + 1
    assert oracle.means == 1
    assert oracle.rows_fetched == found.stats["rows"] <= 10 * (found.stats["iterations"] + 1)


@pytest.mark.parametrize("step", ["exact", "lipschitz", "open_loop"])
def test_step_rules_stop_at_the_limit_and_say_so(rng, step):
    E = SHAPES["narrow_cone"](rng, 500, 16)
    q = query_near(rng, E)
    found = breadth.select(E, q, k=5, theta=0.5, method="frank_wolfe", step=step, max_iterations=3)
    assert found.stats["iterations"] <= 3
    assert found.stats["scans"] <= 3 + 1
    if not found.stats["converged"]:
        assert found.stats["iterations"] == 3


def test_the_lipschitz_step_is_slow_on_a_narrow_cone(rng):
    """The paper's reason for exact line search: the largest eigenvalue grows with n."""
    E = SHAPES["narrow_cone"](rng, 3000, 16).astype(np.float64)
    q = query_near(rng, E)
    largest = float(np.linalg.eigvalsh(E.T @ E)[-1])
    assert largest > 0.5 * len(E)
    exact = breadth.select(E, q, k=10, theta=0.5, method="frank_wolfe")
    slow = breadth.select(E, q, k=10, theta=0.5, method="frank_wolfe", step="lipschitz", lipschitz=largest)
    assert exact.stats["converged"]
    assert not slow.stats["converged"]
    assert slow.stats["iterations"] == 200


def test_the_penalty_is_a_parameter(rng):
    E = SHAPES["clustered"](rng, 400, 16).astype(np.float64)
    q = query_near(rng, E)
    for penalty in (0.0, 1.0, 2.0, 4.0):
        expected, _, _ = dense_set(E, E @ q, 8, 0.5, lam=penalty)
        found = breadth.select(E, q, k=8, theta=0.5, method="frank_wolfe", penalty=penalty)
        assert found.objective == pytest.approx(dense.reported(E, E @ q, expected, 0.5), abs=1e-5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"init": "random"}, "init must be one of 'uniform', 'topk', got 'random'"),
        ({"step": "wolfe"}, "step must be one of 'exact', 'lipschitz', 'open_loop', got 'wolfe'"),
        ({"max_iterations": 0}, "max_iterations must be at least 1, got 0"),
        ({"penalty": -1}, "penalty must be at least 0, got -1"),
        ({"lipschitz": float("nan")}, "lipschitz must be at least 0, got nan"),
    ],
)
def test_wrong_options_are_named(rng, options, message):
    E = SHAPES["isotropic"](rng, 10, 4)
    with pytest.raises(InputError, match=message):
        breadth.select(E, E[0], k=3, method="frank_wolfe", **options)
