"""One suite for all methods: whatever the registry lists is tested here, by its traits.

What is special to one method is tested in a file of its own.
"""

from __future__ import annotations

import asyncio
import inspect
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import breadth
from breadth import ArrayOracle, InputError, OracleError, TooLargeError, metrics
from breadth.methods import exact
from breadth.methods.registry import METHODS
from tests import dense
from tests.oracles.test_wrappers import SearchOnly
from tests.strategies import instances
from tests.synthetic import SHAPES, clustered, isotropic, query_near, unit
from tests.test_drivers import AsyncArray

PRECISION = 1e-6
"""Certificates are computed to the resolution of float32 scores."""
thetas = st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0])


def parametrize(names):
    return pytest.mark.parametrize("name", list(names))


def having(**traits):
    """The names of the methods with these traits."""
    return [n for n, method in METHODS.items() if all(getattr(method, t) == v for t, v in traits.items())]


every = parametrize(METHODS)


@dataclass
class Asked:
    E: np.ndarray
    q: np.ndarray


@pytest.fixture
def asked(rng):
    """Few enough rows for `exact`, which looks at every set."""
    E = isotropic(rng, 40, 8).astype(np.float64)
    return Asked(E, query_near(rng, E))


def assert_is_a_set_of(E, q, found, k, theta, method):
    """k different rows, worth what the selection says."""
    assert (found.k, found.theta, found.method) == (k, theta, method)
    assert found.ids.dtype == np.int64
    assert len(set(found.ids.tolist())) == len(found.ids) == k
    rows = E[found.ids].astype(np.float64)
    np.testing.assert_allclose(found.scores, rows @ q, atol=1e-9)
    assert found.relevance == pytest.approx(metrics.mean_relevance(rows, q))
    assert found.diversity == pytest.approx(metrics.ilad(rows))
    assert found.objective == pytest.approx(theta * found.relevance + (1 - theta) * (found.diversity - 1))


# The registry


def test_the_registry_is_what_the_api_offers():
    assert breadth.methods() == tuple(METHODS)
    assert next(iter(METHODS)) == inspect.signature(breadth.select).parameters["method"].default


@every
def test_a_method_is_documented_and_takes_a_clock(name):
    method = METHODS[name]
    assert method.summary
    assert inspect.isgeneratorfunction(method.solve)
    assert inspect.getdoc(method.solve)
    parameters = inspect.signature(method.solve).parameters
    assert list(parameters)[:2] == ["problem", "facts"]
    assert parameters["clock"].kind is inspect.Parameter.KEYWORD_ONLY
    assert all(p.kind is p.KEYWORD_ONLY and p.default is not p.empty for p in list(parameters.values())[2:])


# What is returned


@every
@given(case=instances(max_n=9, thetas=thetas))
def test_it_returns_k_different_rows_worth_what_it_says(name, case):
    found = breadth.select(case.E, case.q, k=case.k, theta=case.theta, method=name, sharpness=1)
    assert_is_a_set_of(case.E, case.q, found, case.k, case.theta, name)
    assert found.objective == pytest.approx(dense.reported(case.E, case.c, found.ids, case.theta))
    if not METHODS[name].in_order:
        assert list(found.scores) == sorted(found.scores, reverse=True)


@every
@given(case=instances(max_n=8, thetas=thetas))
def test_no_set_is_above_the_optimum_and_no_certificate_below_it(name, case):
    found = breadth.select(case.E, case.q, k=case.k, theta=case.theta, method=name, sharpness=1)
    best = dense.optimum(case.E, case.c, case.k, case.theta) / (case.k * (case.k - 1))
    assert found.objective <= best + 1e-9
    if METHODS[name].proves:
        assert found.certificate is not None
    elif case.theta < 1.0:
        assert found.certificate is None
    if found.certificate is not None:
        assert found.certificate.exact
        assert found.certificate.bound >= best - PRECISION
        assert found.certificate.gap >= 0.0
        assert found.certificate.gap == pytest.approx(found.certificate.bound - found.objective)


@every
@pytest.mark.parametrize("shape", sorted(SHAPES))
def test_rows_in_float32_and_copies(rng, name, shape):
    E = SHAPES[shape](rng, 20, 6)
    q = query_near(rng, E).astype(np.float64)
    for theta in (0.0, 0.5, 0.9):
        found = breadth.select(E, q, k=5, theta=theta, method=name, sharpness=1)
        assert len(set(found.ids.tolist())) == 5
        np.testing.assert_allclose(found.scores, E[found.ids] @ q, atol=1e-6)


@parametrize(having(in_order=True))
def test_a_sequential_method_keeps_the_order_of_its_picks(asked, name):
    found = [breadth.select(asked.E, asked.q, k=k, theta=0.2, method=name, sharpness=1) for k in (4, 8)]
    for each in found:
        assert each.ids[0] == np.argmax(asked.E @ asked.q)  # the most relevant row is the first
    assert any(list(each.scores) != sorted(each.scores, reverse=True) for each in found)


@parametrize(having(best_hit_alone=True))
@pytest.mark.parametrize("theta", [0.0, 0.1, 0.5, 1.0])
def test_a_single_row_is_the_most_relevant_one(rng, name, theta):
    E = isotropic(rng, 29, 8).astype(np.float64)
    q = unit(rng.standard_normal(8))
    found = breadth.select(E, q, k=1, theta=theta, method=name, sharpness=1)
    assert found.ids[0] == np.argmax(E @ q)
    assert found.diversity == 0.0


@every
def test_all_rows(rng, name):
    E = isotropic(rng, 6, 4)
    found = breadth.select(E, query_near(rng, E), k=6, theta=0.5, method=name, sharpness=1)
    assert sorted(found.ids) == list(range(6))


# θ


@parametrize([*having(has_theta=True), "topk"])
@given(case=instances(max_n=9))
def test_at_theta_one_it_is_top_k(name, case):
    found = breadth.select(case.E, case.q, k=case.k, theta=1.0, method=name, sharpness=1)
    assert found.relevance == pytest.approx(np.sort(case.c)[::-1][: case.k].mean(), abs=1e-6)


@every
def test_theta_changes_the_set_if_the_method_has_one(asked, name):
    sets = [
        frozenset(breadth.select(asked.E, asked.q, k=4, theta=theta, method=name, sharpness=1).ids.tolist())
        for theta in (0.0, 0.3, 0.6, 0.8, 1.0)
    ]
    assert (len(set(sets)) > 1) is METHODS[name].has_theta


# Collections


@parametrize(having(needs_scores=True))
def test_it_says_what_to_do_where_it_cannot_have_all_scores(asked, name):
    with pytest.raises(OracleError, match=r"needs the scores of all rows, which SearchOnly does not give; pass pool="):
        breadth.select(SearchOnly(asked.E), asked.q, k=4, theta=0.6, method=name, sharpness=1)
    found = breadth.select(SearchOnly(asked.E), asked.q, k=4, theta=0.6, method=name, pool=40, sharpness=1)
    assert list(found.ids) == list(breadth.select(asked.E, asked.q, k=4, theta=0.6, method=name, sharpness=1).ids)


@parametrize(having(needs_scores=False))
def test_searches_alone_are_enough(asked, name):
    found = breadth.select(SearchOnly(asked.E), asked.q, k=4, theta=0.6, method=name, sharpness=1)
    plain = breadth.select(asked.E, asked.q, k=4, theta=0.6, method=name, sharpness=1)
    assert found.objective == pytest.approx(plain.objective, abs=1e-9)
    if METHODS[name].proves:
        assert not found.certificate.exact  # its engine does not call itself exact
        assert plain.certificate.exact
        assert found.certificate.bound >= plain.objective - PRECISION


@parametrize(having(takes_relevance=True))
def test_scores_and_query_give_the_same_set(rng, name):
    E = isotropic(rng, 16, 8).astype(np.float64)
    q = query_near(rng, E)
    by_query = breadth.select(E, q, k=4, theta=0.6, method=name, sharpness=1)
    by_scores = breadth.select(E, scores=E @ q, k=4, theta=0.6, method=name, sharpness=1)
    assert list(by_query.ids) == list(by_scores.ids)
    assert by_scores.objective == pytest.approx(by_query.objective)
    assert by_scores.diversity == pytest.approx(by_query.diversity)


@parametrize(having(takes_relevance=False))
def test_it_says_that_it_needs_a_query(asked, name):
    with pytest.raises(InputError, match=f"method '{name}' .*; pass query, not scores"):
        breadth.select(asked.E, scores=asked.E @ asked.q, k=3, method=name, sharpness=1)


@every
def test_only_small_methods_refuse_large_collections(rng, name):
    E = isotropic(rng, 5000, 8)
    if METHODS[name].small:
        with pytest.raises(TooLargeError, match=f"method '{name}' .* pool="):
            breadth.select(E, E[0], k=2, theta=0.6, method=name, sharpness=1)
    else:
        assert len(breadth.select(E, E[0], k=2, theta=0.6, method=name, sharpness=1).ids) == 2


# Options


@every
def test_options_are_the_keyword_arguments(asked, name):
    method = METHODS[name]
    parameters = inspect.signature(method.solve).parameters
    assert method.options == tuple(list(parameters)[3:])
    assert "clock" not in method.options
    plain = breadth.select(asked.E, asked.q, k=4, theta=0.6, method=name, sharpness=1)
    defaults = {option: parameters[option].default for option in method.options}
    same = breadth.select(asked.E, asked.q, k=4, theta=0.6, method=name, **defaults, sharpness=1)
    assert list(same.ids) == list(plain.ids)


@every
@pytest.mark.parametrize("option", ["steep", "clock"])
def test_an_unknown_option_is_an_error_that_lists_the_known_ones(asked, name, option):
    known = METHODS[name].options
    has = f"its options are {', '.join(known)}" if known else "it has no options"
    with pytest.raises(InputError, match=f"method '{name}' has no option '{option}'; {has}$"):
        breadth.select(asked.E, asked.q, k=4, method=name, **{option: None}, sharpness=1)


@every
def test_a_pool_is_the_same_as_a_smaller_array(rng, name):
    E = isotropic(rng, 60, 8)
    q = query_near(rng, E)
    best = np.sort(np.argsort(-(E @ q), kind="stable")[:20])
    found = breadth.select(E, q, k=5, theta=0.5, method=name, pool=20, sharpness=1)
    smaller = breadth.select(E[best], q, k=5, theta=0.5, method=name, sharpness=1)
    assert list(found.ids) == list(best[smaller.ids])
    assert found.stats["pool"] == 20
    assert found.certificate is None  # it would hold for the pool alone
    if METHODS[name].takes_relevance:
        scored = breadth.select(E, scores=E @ q, k=5, theta=0.5, method=name, pool=20, sharpness=1)
        assert list(scored.ids) == list(found.ids)


@every
def test_a_pool_of_all_rows_changes_nothing(asked, name):
    plain = breadth.select(asked.E, asked.q, k=4, theta=0.6, method=name, sharpness=1)
    found = breadth.select(asked.E, asked.q, k=4, theta=0.6, method=name, pool=40, sharpness=1)
    assert list(found.ids) == list(plain.ids)
    assert (found.certificate is None) is (plain.certificate is None)


@every
@pytest.mark.parametrize("pool", [3, 41, 0, 2.5])
def test_a_pool_must_fit(asked, name, pool):
    with pytest.raises(InputError, match="pool must be"):
        breadth.select(asked.E, asked.q, k=4, method=name, pool=pool, sharpness=1)


# Time


@every
@pytest.mark.parametrize("pool", [None, 30])
def test_without_time_there_are_still_k_different_rows(asked, name, pool, monkeypatch):
    monkeypatch.setattr(exact, "_NUMBERS", 1 << 12)  # so that `exact` takes many steps here
    found = breadth.select(asked.E, asked.q, k=4, theta=0.3, method=name, time_limit=0.0, pool=pool, sharpness=1)
    assert_is_a_set_of(asked.E, asked.q, found, 4, 0.3, name)
    if name == "topk":  # one search is all it does
        assert "stopped" not in found.stats
    else:
        assert found.stats["stopped"] == "time_limit"
    if found.certificate is not None:
        best = breadth.select(asked.E, asked.q, k=4, theta=0.3, method="exact")
        assert found.certificate.bound >= best.objective - PRECISION
        assert not found.certificate.swap_optimal


@every
def test_with_time_enough_a_limit_changes_nothing(asked, name):
    plain = breadth.select(asked.E, asked.q, k=4, theta=0.6, method=name, sharpness=1)
    found = breadth.select(asked.E, asked.q, k=4, theta=0.6, method=name, time_limit=1e6, sharpness=1)
    assert list(found.ids) == list(plain.ids)
    assert found.stats.get("stopped") == plain.stats.get("stopped") != "time_limit"


@every
@pytest.mark.parametrize("limit", [-1.0, "soon", float("nan")])
def test_a_time_limit_is_a_number_of_seconds(asked, name, limit):
    with pytest.raises(InputError, match="time_limit must be"):
        breadth.select(asked.E, asked.q, k=4, method=name, time_limit=limit, sharpness=1)


# Drivers


@every
@settings(max_examples=10)
@given(case=instances(max_n=9, thetas=thetas))
def test_many_at_once_and_asynchronously_it_is_the_same(name, case):
    queries = np.array([case.q, *case.E[:3]])
    options = {"k": case.k, "theta": case.theta, "method": name}
    alone = [breadth.select(case.E, q, **options, sharpness=1) for q in queries]
    together = breadth.select_many(case.E, queries, **options, sharpness=1)
    awaited = [asyncio.run(breadth.aselect(ArrayOracle(case.E), q, **options, sharpness=1)) for q in queries]
    for a, b, c in zip(alone, together, awaited, strict=True):
        # Between copies the last bit of a score decides, and a batch may round it differently.
        np.testing.assert_array_equal(sorted(case.E[a.ids].tolist()), sorted(case.E[b.ids].tolist()))
        np.testing.assert_array_equal(sorted(case.E[a.ids].tolist()), sorted(case.E[c.ids].tolist()))
        assert a.objective == pytest.approx(b.objective) == pytest.approx(c.objective)
        assert a.stats["scans"] == b.stats["scans"] == c.stats["scans"]


@every
def test_an_asynchronous_engine(rng, name):
    E = clustered(rng, 40, 8).astype(np.float64)
    q = query_near(rng, E)
    pool = 40 if METHODS[name].needs_scores else None  # the engine has searches alone
    found = asyncio.run(breadth.aselect(AsyncArray(E), q, k=4, theta=0.5, method=name, pool=pool, sharpness=1))
    assert found.objective == pytest.approx(
        breadth.select(E, q, k=4, theta=0.5, method=name, sharpness=1).objective, abs=1e-6
    )
