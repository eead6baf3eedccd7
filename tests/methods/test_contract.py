"""One suite for all methods: whatever the registry lists is tested here, by its traits.

What is special to one method is tested in a file of its own.
"""

from __future__ import annotations

import asyncio
import inspect
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import breadth
from breadth import ArrayOracle, InputError, OracleError, TooLargeError, metrics
from breadth.methods import exact
from breadth.methods.registry import METHODS
from tests import dense
from tests.allowed import KINDS, Case, random_case
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


# Sharp similarity


@every
@pytest.mark.parametrize("sharpness", [2, 8, 16])
def test_it_reports_the_sharp_redundancy(asked, name, sharpness):
    found = breadth.select(asked.E, asked.q, k=4, theta=0.6, method=name, sharpness=sharpness)
    rows = asked.E[found.ids]
    pairs = [float(a @ b) ** sharpness for a, b in combinations(rows, 2)]
    assert found.sharpness == sharpness
    assert found.redundancy == pytest.approx(np.mean(pairs))
    assert found.relevance == pytest.approx(np.mean(rows @ asked.q))
    assert found.diversity == pytest.approx(metrics.ilad(rows))
    assert found.objective == pytest.approx(0.6 * found.relevance - 0.4 * found.redundancy)
    single = breadth.select(asked.E, asked.q, k=1, theta=0.6, method=name, sharpness=sharpness)
    assert (single.redundancy, single.diversity) == (0.0, 0.0)
    assert single.ids[0] == np.argmax(asked.E @ asked.q) or not METHODS[name].best_hit_alone
    assert single.objective == pytest.approx(0.6 * single.relevance)


@every
def test_the_paper_reports_one_minus_ilad(asked, name):
    found = breadth.select(asked.E, asked.q, k=4, theta=0.6, method=name)
    assert found.sharpness == (breadth.settings.DEFAULT.sharpness if name == "certified" else METHODS[name].sharpness)
    paper = breadth.select(asked.E, asked.q, k=4, theta=0.6, method=name, sharpness=1)
    assert paper.redundancy == pytest.approx(1 - paper.diversity)
    assert (list(found.ids) == list(paper.ids)) or name in ("certified", "coverage")


@parametrize(having(looks_at_f=True))
def test_methods_that_look_at_f_see_copies_with_a_sharp_similarity(name):
    """Rows at 60 degrees of each other cost nearly nothing when sharp; a copy costs as much as ever."""
    rng = np.random.default_rng(2)
    E = unit(isotropic(rng, 30, 16).astype(np.float64) * 0.5 + unit(np.ones(16)))
    E = np.concatenate((E, E[:6]))
    q = unit(np.ones(16))
    found = breadth.select(E, q, k=5, theta=0.5, method=name, sharpness=16)
    assert metrics.near_copies(E[found.ids], 0.99).sum() == 0
    assert found.redundancy <= 0.05
    ranked = breadth.select(E, q, k=5, method="topk", theta=0.5, sharpness=16)
    assert metrics.near_copies(E[ranked.ids], 0.99).sum() > 0
    assert found.objective > ranked.objective


@parametrize(having(proves=True))
@pytest.mark.parametrize("sharpness", [2, 8])
def test_no_certificate_is_below_the_sharp_optimum(name, sharpness):
    rng = np.random.default_rng(sharpness)
    for _ in range(40):
        case = random_case(rng, [], sharpness=sharpness)
        found = breadth.select(case.E, case.q, method=name, **case.arguments)
        assert found.certificate.bound >= case.optimum(case.k) - PRECISION
        assert found.objective <= case.optimum(case.k) + 1e-9


# Constraints


def assert_allowed(case, found):
    """The set is allowed, worth what it says, not above the optimum, and cannot grow unless it has k rows."""
    assert case.breaks(found.ids) == "", case
    assert found.k == len(found.ids) <= case.k
    assert ("asked" in found.stats) == (found.k < case.k)
    assert found.objective == pytest.approx(case.objective(found.ids), abs=1e-9)
    assert found.objective <= case.optimum(found.k) + 1e-9
    if found.k < case.k:
        assert case.can_grow(found.ids) == [], case
    if found.certificate is not None:
        assert found.certificate.bound >= case.optimum(found.k) - 2e-6, case


@every
@pytest.mark.parametrize("kind", KINDS)
def test_it_respects_every_constraint(name, kind):
    rng = np.random.default_rng([KINDS.index(kind), list(METHODS).index(name)])
    for number in range(30):
        case = random_case(rng, [kind])
        if case.is_clear and case.largest:
            found = breadth.select(case.E, case.q, method=name, **case.arguments)
            assert_allowed(case, found)
            if kind in ("groups", "excluded", "floor", "pinned", "keep_best"):
                assert found.k == case.largest, (number, case)


@every
def test_it_respects_all_constraints_together(name):
    rng = np.random.default_rng(list(METHODS).index(name))
    refused = 0
    for _ in range(80):
        case = random_case(rng, [kind for kind in KINDS if rng.uniform() < 0.5])
        if not case.is_clear:
            continue
        if case.largest:
            try:
                assert_allowed(case, breadth.select(case.E, case.q, method=name, **case.arguments))
            except InputError:  # a rule that never takes a pick back may not meet a minimum
                assert name not in ("certified", "exact")
                assert "at_least" in case.constraints
        else:
            refused += 1
            with pytest.raises(InputError, match=r"contradict|may be in a set|pinned|excluded|at_least"):
                breadth.select(case.E, case.q, method=name, **case.arguments)
    assert refused >= 5


CONFLICTS = {
    "distinct": ({"pinned": [0, 1], "distinct": 0.9}, "pinned and distinct contradict .*rows 0 and 1"),
    "groups": ({"pinned": [0, 2], "groups": ["a"] * 20, "per_group": 1}, "pinned and per_group contradict"),
    "budget": ({"pinned": [0, 2], "costs": [4] * 20, "budget": 7}, "pinned and budget contradict"),
    "floor": ({"floor": 1.5}, "floor=1.5 is above the relevance of every row"),
    "costs": ({"costs": [4] * 20, "budget": 3}, "no single row costs at most budget=3"),
}


@every
@pytest.mark.parametrize("conflict", sorted(CONFLICTS))
@pytest.mark.parametrize("sharpness", [1, 8])
def test_it_names_what_is_impossible(name, conflict, sharpness):
    constraints, message = CONFLICTS[conflict]
    E = np.repeat(isotropic(np.random.default_rng(0), 10, 6).astype(np.float64), 2, axis=0)
    with pytest.raises(InputError, match=message):
        breadth.select(E, E[0], k=4, method=name, sharpness=sharpness, **constraints)


@pytest.fixture
def limited(rng):
    """Forty rows, half of them near-copies, with three kinds of constraints that all matter."""
    E = clustered(rng, 20, 8).astype(np.float64)
    E = np.concatenate((E, unit(E + 0.02 * unit(rng.standard_normal((20, 8))))))
    q = query_near(rng, E)
    labels = [f"s{i % 4}" for i in range(40)]
    last = int(np.argmin(E @ q))
    limits = {"distinct": 0.99, "groups": labels, "per_group": 1, "pinned": [last], "excluded": [int(np.argmax(E @ q))]}
    return Case(E, q, 4, 0.6, 8, limits)


@every
@pytest.mark.parametrize("sharpness", [1, 8])
def test_constraints_through_every_door(name, sharpness, limited):
    """select, select_many, aselect, pool=, scores= and an engine that only searches choose the same allowed set."""
    limited.sharpness = sharpness
    E, q, asked = limited.E, limited.q, {**limited.arguments, "method": name}
    alone = breadth.select(E, q, **asked)
    assert limited.breaks(alone.ids) == ""
    assert alone.k == 4
    by_id = {**asked, "groups": dict(enumerate(asked["groups"]))}
    pool = 40 if METHODS[name].needs_scores else None
    doors = {
        "many": breadth.select_many(E, np.array([q, E[3]]), **asked)[0],
        "function": breadth.select(E, q, **{**asked, "groups": lambda ids: [f"s{i % 4}" for i in ids]}),
        "awaited": asyncio.run(breadth.aselect(ArrayOracle(E), q, **asked)),
        "asynchronous": asyncio.run(breadth.aselect(AsyncArray(E), q, pool=pool, **by_id)),
        "search only": breadth.select(SearchOnly(E), q, pool=pool, **by_id),
        "whole pool": breadth.select(E, q, pool=40, **asked),
    }
    if METHODS[name].takes_relevance:
        doors["scores"] = breadth.select(E, scores=E @ q, **asked)
        doors["many scores"] = breadth.select_many(E, scores=np.array([E @ q]), **asked)[0]
    for door, found in doors.items():
        assert sorted(found.ids) == sorted(alone.ids), door
        assert found.objective == pytest.approx(alone.objective), door
        assert (found.sharpness, found.k, found.method) == (sharpness, 4, name), door


@every
@pytest.mark.parametrize("sharpness", [1, 8])
def test_constraints_on_a_pool_are_those_of_the_collection(name, sharpness, limited):
    """Pinned rows join the pool, and labels, costs and copies go by the numbers of the collection."""
    limited.sharpness = sharpness
    found = breadth.select(limited.E, limited.q, method=name, pool=25, **limited.arguments)
    assert limited.breaks(found.ids) == ""
    assert found.k == 4
    assert found.certificate is None
    for member, copies in zip(found.ids, found.copies, strict=bool(found.copies)):
        assert (limited.cosines[member, [copy.id for copy in copies]] > 0.99).all()


@every
@pytest.mark.parametrize("sharpness", [1, 8])
def test_without_time_constraints_still_hold(name, sharpness, limited):
    limited.sharpness = sharpness
    found = breadth.select(limited.E, limited.q, method=name, time_limit=0.0, **limited.arguments)
    assert limited.breaks(found.ids) == ""
    if found.certificate is not None:
        assert not found.certificate.swap_optimal or name in ("certified", "exact")
    late = breadth.select(limited.E, limited.q, method=name, time_limit=1e6, **limited.arguments)
    assert sorted(late.ids) == sorted(breadth.select(limited.E, limited.q, method=name, **limited.arguments).ids)


@every
@pytest.mark.parametrize("sharpness", [1, 8])
def test_every_near_copy_is_listed_with_its_nearest_member(name, sharpness, limited):
    """With `distinct` a selection says what each of its rows stands for, whatever the method."""
    E, q = limited.E, limited.q
    found = breadth.select(E, q, k=5, theta=0.6, method=name, sharpness=sharpness, distinct=0.99)
    cosines = limited.cosines[:, found.ids].copy()
    close = (cosines > 0.99).any(axis=1)
    close[found.ids] = False
    wanted = [[i for i in np.flatnonzero(close) if np.argmax(cosines[i]) == place] for place in range(5)]
    assert [sorted(copy.id for copy in copies) for copies in found.copies] == wanted
    assert sum(map(len, wanted)) >= 3
    assert breadth.select(E, q, k=5, theta=0.6, method=name, sharpness=sharpness).copies == ()


@every
def test_a_row_without_a_label_is_in_no_group(asked, name):
    labels = [None] * 40
    found = breadth.select(asked.E, asked.q, k=4, theta=0.6, method=name, groups=labels, per_group=1, sharpness=8)
    assert found.k == 4
    one = breadth.select(asked.E, asked.q, k=4, theta=0.6, method=name, groups=["a"] * 40, per_group=1, sharpness=8)
    assert list(one.ids) == [np.argmax(asked.E @ asked.q)]
    assert one.stats["asked"] == 4


@every
def test_pinned_rows_come_with_any_floor_and_count_in_their_group(asked, name):
    low = int(np.argmin(asked.E @ asked.q))
    labels = ["theirs" if i == low or i % 2 else "ours" for i in range(40)]
    limits = {"pinned": [low], "floor": 0.0, "groups": labels, "per_group": 1}
    for sharpness in (1, 8):
        found = breadth.select(asked.E, asked.q, k=4, theta=0.6, method=name, sharpness=sharpness, **limits)
        assert low in found.ids
        assert found.k == 2  # one of each group
        other = next(int(i) for i in found.ids if i != low)
        assert labels[other] == "ours"
        assert asked.E[other] @ asked.q >= 0.0


@parametrize(having(needs_scores=True))
def test_constraints_leave_no_method_short_in_a_larger_collection(rng, name):
    """The most relevant 600 rows are one source's: the others have to be found beyond them."""
    E = clustered(rng, 3000, 16)
    q = query_near(rng, E)
    labels = np.array([f"s{i % 7}" for i in range(3000)], dtype=object)
    labels[np.argsort(-(E @ q))[:600]] = "first"
    found = breadth.select(E, q, k=5, theta=0.6, method=name, groups=labels.tolist(), per_group=1)
    assert found.k == 5
    assert len({labels[i] for i in found.ids}) == 5
